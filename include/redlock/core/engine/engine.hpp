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

#include "redlock/core/engine/line_nodes.hpp"
#include "redlock/core/engine/nodes.hpp"
#include "redlock/core/engine/operation_list.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/lease/key_watcher.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lease/renewals.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/watch/holder_watches.hpp"
#include "redlock/core/watch/listeners.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// The index of one of the client's connections: see `Engine::connections`.
using ConnectionIndex = std::size_t;

/// Passes commands from the operations to the sessions, replies to the operations, and the time to both. The client
/// decides all in here; the shell moves bytes and runs one timer. An operation waits for connections that are being made
/// for the first time (`Readiness`); its validity counts from then. Call everything under the client's mutex.
class Engine final : public Outbox {
 public:
  /// `observer`: receives events during the calls below; may be null. `member`: the client's name in lines (`Lines`).
  Engine(std::vector<Session::Settings> nodes, Span connect_timeout, std::uint64_t seed,
         const std::optional<RestartGuard::Settings>& guard = std::nullopt, Observer* observer = nullptr,
         std::string member = "0000000000000000.", const LineTimes& line_times = {})
      : nodes_{nodes, connect_timeout, guard, observer},
        listeners_{std::move(nodes)},
        line_nodes_{nodes_, listeners_, std::move(member), line_times, ~seed},
        renewals_{seed},
        key_watcher_{listeners_, seed},
        holder_watches_{listeners_, seed},
        operations_{observer} {}

  // ── from callers ─────────────────────────────────────────────────────────────────────────────────────────

  void submit(const Ref<Operation>& operation, Time now) {
    nodes_.begin_event(now);
    submit(operation);
    advance_lines(now);
  }
  void abandon(const Ref<Operation>& operation, Errc why, Time now) {
    nodes_.begin_event(now);
    abandon(operation, why);
    advance_lines(now);
  }

  /// Starts renewing the lease. This ends when the lease is over or its release is submitted.
  void keep(const std::shared_ptr<LeaseState>& lease, Time now) { renewals_.add(lease, now); }
  /// Starts watching the lease's key, after `delay`. The lease is then lost as soon as a majority of the nodes has lost it.
  void watch(const std::shared_ptr<LeaseState>& lease, Time now, Span delay = std::chrono::milliseconds{5}) {
    key_watcher_.add(lease, now, now + delay);
  }
  /// Stops renewing and watching the lease; the lock stays on the nodes. Returns true if the lease was in force.
  static bool let_go(const std::shared_ptr<LeaseState>& lease, Time now) noexcept {
    return core::let_go(lease, now);
  }
  /// Starts telling who has a lock, and makes the connections for that.
  void watch_holder(const Ref<HolderWatch>& watch, Time now) {
    nodes_.begin_event(now);
    nodes_.prepare_for(*watch);
    holder_watches_.add(watch);
  }
  void stop_watching(const HolderWatch* watch) { holder_watches_.remove(watch); }
  /// Logs in at the node with these credentials from now on, on the connections that there are as well.
  void log_in(NodeIndex node, const Credentials& credentials, Time now) {
    nodes_.begin_event(now);
    nodes_.session(node).log_in(credentials, now);
    tell_listener_of_login(node, now);
  }
  /// Marks these leases as lost. Cancels all acquisitions, also those submitted later.
  void shut_down(const std::vector<std::shared_ptr<LeaseState>>& leases, Time now) {
    is_shut_down_ = true;
    for (const std::shared_ptr<LeaseState>& lease : leases) lease->lose(Loss::shut_down, now);
    nodes_.begin_event(now);
    for (const Ref<Operation>& operation : operations_.all())
      if (operation->wants_grants()) abandon(operation, Errc::cancelled);
    advance_lines(now);
  }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }
  /// The number of connections: first one for commands to each node, then one listener to each node.
  [[nodiscard]] std::size_t connections() const noexcept { return 2 * nodes(); }
  /// For its state, its unsent bytes and its errands. Report events through the calls below.
  [[nodiscard]] Session& session(ConnectionIndex connection) noexcept {
    return is_listener(connection) ? listeners_.session(connection - nodes()) : nodes_.session(connection);
  }
  [[nodiscard]] const Session& session(ConnectionIndex connection) const noexcept {
    return is_listener(connection) ? listeners_.session(connection - nodes()) : nodes_.session(connection);
  }

  void connected(ConnectionIndex connection) { session(connection).connected(); }
  void answered(ConnectionIndex connection, const Reply& reply, Time now) {
    nodes_.begin_event(now);
    if (is_listener(connection))
      listeners_.received(connection - nodes(), reply, now);
    else
      node_answered(connection, reply, now);
    advance_lines(now);
  }
  void disconnected(ConnectionIndex connection, Trouble trouble, Time now) {
    nodes_.begin_event(now);
    if (is_listener(connection)) {
      listeners_.disconnected(connection - nodes(), std::move(trouble), now);
    } else {
      nodes_.session(connection).disconnected(std::move(trouble), now);
      changed(connection, now);
    }
    advance_lines(now);
  }
  /// Call only after reading every readable connection.
  void on_time(Time now) {
    if (now < timer()) return;
    nodes_.begin_event(now);
    for (NodeIndex node = 0; node < nodes(); ++node)
      if (nodes_.session(node).on_time(now)) changed(node, now);
    if (nodes_.on_guard_time()) start_waiting(now);
    if (now >= operations_.timer())
      operations_.on_time(now, *this, [&](const auto& operation) { advance(operation, now); });
    renewals_.extend_due(now, [&](Time due, const std::shared_ptr<LeaseState>& lease) {
      submit(Ref<Operation>{new Extension{lease, nodes(), due}});
    });
    listeners_.on_time(now);
    key_watcher_.on_time(now, *this);
    holder_watches_.on_time(now, *this);
    advance_lines(now);
  }
  /// When `on_time` may have something to do.
  [[nodiscard]] Time timer() const noexcept {
    return std::min({operations_.timer(), renewals_.timer(), listeners_.timer(), key_watcher_.timer(),
                     holder_watches_.timer(), nodes_.timer(), line_nodes_.lines().timer()});
  }
  /// Operations that are done: the shell wakes their callers, if they have any, and clears the list.
  std::vector<Ref<Operation>>& finished() noexcept { return operations_.finished(); }
  /// A warning for the user; in a client's life at most one about listening and one that lines are not used.
  std::optional<std::string> take_warning() noexcept {
    std::optional<std::string> warning = nodes_.take_warning();
    if (!warning) warning = listeners_.take_warning();
    return warning ? warning : line_nodes_.lines().take_warning();
  }

  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return active() > 0 || listeners_.needs_attention() || nodes_.needs_attention();
  }
  /// When something must be done even if no caller waits: redialling, renewing, watching, guarding.
  [[nodiscard]] Time background_timer() const noexcept {
    return std::min({renewals_.timer(), listeners_.timer(), key_watcher_.timer(), holder_watches_.timer(),
                     nodes_.background_timer(), line_nodes_.lines().timer()});
  }
  /// Listeners may stay unread until `background_timer`, in a few ms: a watch of a holder is about to read the nodes anyway.
  [[nodiscard]] bool may_ignore_listeners() const noexcept {
    return holder_watches_.let_settle() && watched() == 0 && line_nodes_.lines().empty();
  }
  /// While these are in force, the end of a connection must be noticed soon, to mark the node. Null without a guard.
  [[nodiscard]] HeldLeases* held_leases() noexcept { return nodes_.held_leases(); }
  /// Releases wait for connections that are being replaced.
  [[nodiscard]] bool expects_to_release() const noexcept { return nodes_.expect_to_release(); }
  /// No flag of a line is left that this client may have to take down.
  [[nodiscard]] bool has_left_lines() const noexcept { return line_nodes_.lines().all_left(); }
  /// The number of operations that send commands and are not done.
  [[nodiscard]] std::size_t active() const noexcept { return operations_.senders(); }
  /// The number of leases whose keys are watched.
  [[nodiscard]] std::size_t watched() const noexcept { return key_watcher_.size(); }
  /// How many replies arrived after their operation was done.
  [[nodiscard]] std::size_t late_replies() const noexcept { return late_replies_; }

  // ── from operations ──────────────────────────────────────────────────────────────────────────────────────

  const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                      SendOptions options) override {
    const Trouble* const refused = nodes_.send(node, command, sender, options);
    if (!line_nodes_.lines().empty()) line_nodes_.lines().written(node, sender.written_key());
    holder_watches_.written(node, sender.written_key());
    return refused;
  }
  void submit(const Ref<Operation>& submitted) override {
    const Ref<Operation> operation{submitted.get()};  // it may end at once, and its parent may drop it then
    if (operation->sends()) nodes_.prepare_for(*operation);
    operations_.add(operation, nodes_.now());
    if (is_shut_down_ && operation->wants_grants()) return abandon(operation, Errc::cancelled);
    advance(operation, nodes_.now());
  }
  void abandon(const Ref<Operation>& operation, Errc why) override {
    if (!operation->done()) operation->abandon(why, nodes_.now(), *this);
    operations_.settle(*operation, nodes_.now(), *this);
  }
  [[nodiscard]] Lines* lines() noexcept override { return &line_nodes_.lines(); }
  [[nodiscard]] Observer* observer() noexcept override { return operations_.observer(); }
  void released(std::string_view key, bool is_seat) override { line_nodes_.lines().released(key, is_seat); }
  void touched(NodeIndex node, std::string_view key) override { key_watcher_.touched(node, key); }
  void granted(Time deadline) noexcept override { nodes_.granted(deadline); }
  void taken_back() noexcept override { nodes_.taken_back(); }
  [[nodiscard]] const MarkerKeys* marker_keys() const noexcept override { return nodes_.marker_keys(); }
  [[nodiscard]] RequiredMarker required_marker(NodeIndex node) const noexcept override {
    return nodes_.required_marker(node);
  }
  [[nodiscard]] std::string_view run_id(NodeIndex node) const noexcept override {
    return nodes_.run_id(node);
  }
  void give_up(NodeIndex node, const Trouble& why) override { nodes_.give_up(node, why); }
  [[nodiscard]] const Trouble* caveat(NodeIndex node) override { return nodes_.caveat(node); }
  void look_again(NodeIndex node) override { nodes_.look_again(node); }

 private:
  [[nodiscard]] bool is_listener(ConnectionIndex connection) const noexcept { return connection >= nodes(); }

  void node_answered(NodeIndex node, const Reply& reply, Time now) {
    Session& session = nodes_.session(node);
    const Session::State before = session.state();
    if (const auto slot = session.answered(reply, now)) return deliver(node, *slot, reply, now);
    if (session.state() != before) changed(node, now);
  }
  void advance_lines(Time now) {
    if (now >= line_nodes_.lines().timer()) line_nodes_.lines().advance(now, *this);
  }

  void deliver(NodeIndex node, const Session::Slot& slot, const Reply& reply, Time now) {
    if (!slot.operation) {
      if (slot.is_login) nodes_.login_answered(node, reply);
      return tell_listener_of_login(node, now);
    }
    late_replies_ += slot.operation->done() ? 1 : 0;
    slot.operation->answered(node, slot.step, reply, now, *this);
    operations_.settle(*slot.operation, now, *this);
    operations_.wake_by(slot.operation->deadline());
    if (nodes_.answered(node, *slot.operation, reply)) start_waiting(now);
    if (!nodes_.session(node).ready()) changed(node, now);
  }

  /// The listener follows only when the server has accepted the new login, because its connection has to be replaced.
  void tell_listener_of_login(NodeIndex node, Time now) {
    Session& session = nodes_.session(node);
    if (!session.ready() || !session.login().is_accepted()) return;
    listeners_.log_in(node, session.login().credentials(), now);
  }

  void changed(NodeIndex node, Time now) {
    const Session& session = nodes_.session(node);
    if (const NodeIndex second = nodes_.refuse_second_name(node); second != node) failed(second, now);
    if (session.ready())
      for (const Session::Slot& dropped : nodes_.open(node))
        operations_.settle(*dropped.operation, now, *this);
    if (!session.ready()) failed(node, now);
    tell_listener_of_login(node, now);
    if (session.ready()) listeners_.node_connected(node, true, now);
    start_waiting(now);
  }
  void failed(NodeIndex node, Time now) {
    nodes_.failed(node);
    listeners_.node_connected(node, false, now);
    operations_.disconnected(node, nodes_.session(node).trouble(), now, *this);
    line_nodes_.lines().disconnected(node, nodes_.session(node).trouble(), now, *this);
  }

  /// A node may vote now: starts the operations that waited for it.
  void start_waiting(Time now) {
    nodes_.report();
    line_nodes_.lines().node_changed();
    for (const Ref<Operation>& operation : operations_.all()) advance(operation, now);
  }

  void advance(const Ref<Operation>& operation, Time now) {
    if (!OperationList::was_started(*operation) && !operation->done()) {
      const Time start_at = nodes_.start_time(*operation, OperationList::submitted_at(*operation));
      if (now < start_at) return operations_.wake_by(start_at);
      operations_.start(*operation, now, *this);
    }
    operations_.settle(*operation, now, *this);
  }

  Nodes nodes_;
  Listeners listeners_;
  LineNodes line_nodes_;
  Renewals renewals_;
  KeyWatcher key_watcher_;
  HolderWatches holder_watches_;
  OperationList operations_;
  std::size_t late_replies_ = 0;
  bool is_shut_down_ = false;
};

}  // namespace redlock::inline v1::core
