// The engine: connects the operations of one client with the sessions of its nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/listeners.hpp"
#include "redlock/core/engine/node_changes.hpp"
#include "redlock/core/engine/operation_list.hpp"
#include "redlock/core/engine/readiness.hpp"
#include "redlock/core/engine/same_server.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/lease/key_watcher.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lease/renewals.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// The index of one of the client's connections: see `Engine::connections`.
using ConnectionIndex = std::size_t;

/// Passes commands from the operations to the sessions, replies to the operations, and the time to both. The client's
/// decisions are all made in here; the shell moves bytes and runs one timer. Not thread safe: call everything under
/// the client's mutex.
///
/// An operation that is submitted while connections are being made for the first time waits for them (`Readiness`). Its
/// validity counts from the end of that wait, when its first byte is written.
class Engine final : public Outbox {
 public:
  /// `guard`: none disables the restart guard. `observer`: receives events during the calls below; may be null.
  Engine(std::vector<Session::Settings> nodes, Span connect_timeout, std::uint64_t seed,
         const std::optional<RestartGuard::Settings>& guard = std::nullopt, Observer* observer = nullptr)
      : connect_timeout_{connect_timeout},
        renewals_{seed},
        key_watcher_{listeners_of(nodes), seed},
        observer_{observer},
        node_changes_{observer, nodes.size()},
        operations_{observer} {
    if (guard) guard_ = Ref<RestartGuard>{new RestartGuard{*guard}};
    sessions_.reserve(nodes.size());
    for (Session::Settings& settings : nodes) {
      if (guard) settings.look = look_command(guard->keys);
      sessions_.emplace_back(std::move(settings));
    }
  }

  // ── from callers ─────────────────────────────────────────────────────────────────────────────────────────

  void submit(const Ref<Operation>& operation, Time now) {
    now_ = now;
    for (Session& session : sessions_) session.wake(now);
    if (guard_ && operation->wants_grants()) guard_->want_grants(now, *this, operation->wanted_ttl());
    report_nodes();
    operations_.add(operation, now);
    if (is_shut_down_ && operation->wants_grants()) return abandon(operation, Errc::cancelled, now);
    advance(operation);
  }
  void abandon(const Ref<Operation>& operation, Errc why, Time now) {
    now_ = now;
    if (operation->done()) return;
    operation->abandon(why, now, *this);
    operations_.settle(operation, now_);
  }

  /// Starts renewing the lease. This ends when the lease is over or its release is submitted.
  void keep(const std::shared_ptr<LeaseState>& lease, Time now) { renewals_.add(lease, now); }
  /// Starts watching the lease's key, after `delay`. The lease is then lost as soon as a majority of the nodes has lost it.
  void watch(const std::shared_ptr<LeaseState>& lease, Time now, Span delay = std::chrono::milliseconds{5}) {
    key_watcher_.add(lease, now, now + delay);
  }
  /// Marks these leases as lost. Cancels all acquisitions, also those submitted later.
  void shut_down(const std::vector<std::shared_ptr<LeaseState>>& leases, Time now) {
    is_shut_down_ = true;
    for (const std::shared_ptr<LeaseState>& lease : leases) lease->lose(Loss::shut_down, now);
    for (const Ref<Operation>& operation : operations_.all())
      if (operation->wants_grants()) abandon(operation, Errc::cancelled, now);
  }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] std::size_t nodes() const noexcept { return sessions_.size(); }
  /// The number of connections: first one for commands to each node, then one listener to each node.
  [[nodiscard]] std::size_t connections() const noexcept { return 2 * nodes(); }
  /// For its state, its unsent bytes and its errands. Report events through the calls below.
  [[nodiscard]] Session& session(ConnectionIndex connection) noexcept {
    return is_listener(connection) ? key_watcher_.listener(connection - nodes()) : sessions_[connection];
  }
  [[nodiscard]] const Session& session(ConnectionIndex connection) const noexcept {
    return is_listener(connection) ? key_watcher_.listener(connection - nodes()) : sessions_[connection];
  }

  void connected(ConnectionIndex connection) { session(connection).connected(); }
  void answered(ConnectionIndex connection, const Reply& reply, Time now) {
    if (is_listener(connection)) return key_watcher_.received(connection - nodes(), reply, now);
    now_ = now;
    Session& session = sessions_[connection];
    const Session::State before = session.state();
    if (const auto slot = session.answered(reply, now)) return deliver(connection, *slot, reply);
    if (session.state() != before) changed(connection);
  }
  void disconnected(ConnectionIndex connection, Trouble trouble, Time now) {
    if (is_listener(connection))
      return key_watcher_.listener_disconnected(connection - nodes(), std::move(trouble), now);
    now_ = now;
    sessions_[connection].disconnected(std::move(trouble), now);
    changed(connection);
  }
  /// Call only after reading every readable connection.
  void on_time(Time now) {
    now_ = now;
    for (NodeIndex node = 0; node < nodes(); ++node)
      if (sessions_[node].on_time(now)) changed(node);
    if (guard_ && now >= guard_->deadline()) {
      guard_->timed_out(now, *this);
      start_waiting();
    }
    if (now >= operations_.timer())
      operations_.on_time(now, *this, [this](const Ref<Operation>& operation) { advance(operation); });
    for (const auto& [due, lease] : renewals_.take_due(now))
      submit(Ref<Operation>{new Extension{lease, nodes(), due}}, now);
    key_watcher_.on_time(now, *this);
  }
  /// When `on_time` may have something to do.
  [[nodiscard]] Time timer() const noexcept {
    Time first = std::min({operations_.timer(), renewals_.timer(), key_watcher_.timer(), guard_timer()});
    for (const Session& session : sessions_) first = std::min(first, session.timer());
    return first;
  }
  /// Operations that are done: the shell wakes their callers, if they have any, and clears the list.
  std::vector<Ref<Operation>>& finished() noexcept { return operations_.finished(); }
  /// A warning for the user; at most one in a client's life.
  std::optional<std::string> take_warning() noexcept { return key_watcher_.take_warning(); }

  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return operations_.size() > 0 || key_watcher_.needs_attention() ||
           std::any_of(sessions_.begin(), sessions_.end(), [](const Session& each) {
             return each.has_errand() || each.is_dialling() || each.must_read() || !each.unsent().empty();
           });
  }
  /// When something must be done even if no caller waits: redialling, renewing, watching, guarding.
  [[nodiscard]] Time background_timer() const noexcept {
    Time first = std::min({renewals_.timer(), key_watcher_.timer(), guard_timer()});
    for (const Session& session : sessions_)
      if (session.state() == Session::State::down) first = std::min(first, session.timer());
    return first;
  }
  /// While these are in force, the end of a connection must be noticed soon, to mark the node. Null without a guard.
  [[nodiscard]] HeldLeases* held_leases() noexcept { return guard_ ? &held_leases_ : nullptr; }
  /// The number of operations that are not done.
  [[nodiscard]] std::size_t active() const noexcept { return operations_.size(); }
  /// The number of leases whose keys are watched.
  [[nodiscard]] std::size_t watched() const noexcept { return key_watcher_.size(); }
  /// How many replies arrived after their operation was done.
  [[nodiscard]] std::size_t late_replies() const noexcept { return late_replies_; }

  // ── from operations ──────────────────────────────────────────────────────────────────────────────────────

  const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                      SendOptions options) override {
    const Trouble* const objection = options.grants ? grant_objection(node, sender.wanted_ttl()) : nullptr;
    if (objection) return objection;
    return sessions_[node].send(command,
                                {Ref<Operation>{&sender}, options.step, options.is_release,
                                 options.always_read, options.grants, options.lacks_marker},
                                options.send_by, now_, rest_of(node, options.lacks_marker));
  }
  void granted(Time deadline) noexcept override { held_leases_.granted(deadline); }
  [[nodiscard]] const MarkerKeys* marker_keys() const noexcept override {
    return guard_ ? &guard_->keys() : nullptr;
  }
  [[nodiscard]] RequiredMarker required_marker(NodeIndex node) const noexcept override {
    return guard_ ? guard_->required_marker(node) : RequiredMarker{};
  }
  [[nodiscard]] std::string_view run_id(NodeIndex node) const noexcept override {
    return sessions_[node].run_id();
  }
  void give_up(NodeIndex node, const Trouble& why) override { sessions_[node].disconnected(why, now_); }
  [[nodiscard]] const Trouble* caveat(NodeIndex node) override {
    return guard_ ? guard_->caveat(node, now_) : nullptr;
  }

 private:
  [[nodiscard]] bool is_listener(ConnectionIndex connection) const noexcept { return connection >= nodes(); }

  void deliver(NodeIndex node, const Session::Slot& slot, const Reply& reply) {
    if (!slot.operation) return;
    late_replies_ += slot.operation->done() ? 1 : 0;
    slot.operation->answered(node, slot.step, reply, now_, *this);
    operations_.settle(slot.operation, now_);
    operations_.wake_by(slot.operation->deadline());
    if (!key_watcher_.lost().empty()) release_lost();
    if (guard_ && is_unmarked(reply)) guard_->grant_refused(node, now_, *this);
    if (guard_ && slot.operation.get() == guard_.get()) start_waiting();
    if (!sessions_[node].ready()) changed(node);
  }

  /// Releases the remaining copies of leases that were found lost, on all nodes.
  void release_lost() {
    for (const std::shared_ptr<LeaseState>& lease : std::exchange(key_watcher_.lost(), {}))
      submit(Ref<Operation>{new ReleaseOperation{lease, nodes()}}, now_);
  }

  /// A session has become ready or has failed.
  void changed(NodeIndex node) {
    const Session& session = sessions_[node];
    if (const NodeIndex second = refuse_second_name(node, sessions_, guard_.get(), now_); second != node)
      failed(second);
    if (session.ready()) open(node);
    if (!session.ready()) failed(node);
    if (session.ready()) key_watcher_.connected(node, true, now_);
    start_waiting();
  }
  void failed(NodeIndex node) {
    if (guard_) guard_->disconnected(node, sessions_[node].trouble(), now_, *this);
    key_watcher_.connected(node, false, now_);
    operations_.disconnected(node, sessions_[node].trouble(), now_, *this);
  }

  /// Sends what was waiting for the connection.
  void open(NodeIndex node) {
    Session& session = sessions_[node];
    if (guard_) guard_->connected(node, session.marker(), now_, *this);
    if (!session.ready()) return;
    const auto rest = [&](const Session::Slot& slot) -> std::optional<std::string> {
      if (slot.grants && grant_objection(node, slot.operation->wanted_ttl())) return std::nullopt;
      return rest_of(node, slot.lacks_marker);
    };
    for (const Session::Slot& refused : session.send_waiting(rest, now_)) {
      const Trouble* const objection = grant_objection(node, refused.operation->wanted_ttl());
      refused.operation->disconnected(node, objection ? Trouble{*objection} : Trouble{}, now_, *this);
      operations_.settle(refused.operation, now_);
    }
  }
  /// The end of a command for a grant.
  [[nodiscard]] std::string rest_of(NodeIndex node, bool lacks_marker) const {
    return lacks_marker ? required_marker(node).arguments() : std::string{};
  }
  /// Why the node must not be asked to grant a lock with this ttl. Null if there is no known reason.
  [[nodiscard]] const Trouble* grant_objection(NodeIndex node, std::chrono::milliseconds ttl) {
    return guard_ && sessions_[node].ready() ? guard_->objection(node, now_, ttl) : nullptr;
  }
  [[nodiscard]] Time guard_timer() const noexcept { return guard_ ? guard_->deadline() : never; }

  void report_nodes() {
    if (!observer_) return;
    for (NodeIndex node = 0; node < nodes(); ++node) {
      if (!guard_ || !guard_->is_deciding(node)) node_changes_.check(node, sessions_[node], caveat(node));
    }
  }

  /// A node may vote now: starts the operations that waited for it.
  void start_waiting() {
    report_nodes();
    for (const Ref<Operation>& operation : operations_.all()) advance(operation);
  }

  /// Starts the operation if enough nodes are ready.
  void advance(const Ref<Operation>& operation) {
    if (!OperationList::was_started(*operation) && !operation->done()) {
      const Time start_at = start_time(*operation);
      if (now_ < start_at) return operations_.wake_by(start_at);
      operations_.start(*operation, now_, *this);
    }
    operations_.settle(operation, now_);
  }

  [[nodiscard]] Time start_time(const Operation& operation) const {
    const Readiness readiness{sessions_, operation.wants_grants() ? guard_.get() : nullptr,
                              operation.wanted_ttl()};
    return readiness.start_time(operation.connections_wanted(nodes()), OperationList::submitted_at(operation),
                                connect_timeout_, now_);
  }

  std::vector<Session> sessions_;
  Span connect_timeout_;
  Renewals renewals_;
  HeldLeases held_leases_;
  KeyWatcher key_watcher_;
  Observer* const observer_;
  NodeChanges node_changes_;
  Ref<RestartGuard> guard_;  // null: restarts are not guarded
  OperationList operations_;
  Time now_{};  // of the event being handled
  std::size_t late_replies_ = 0;
  bool is_shut_down_ = false;
};

}  // namespace redlock::inline v1::core
