// The nodes of one client: their connections for commands, and which of them may be asked to grant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/engine/node_changes.hpp"
#include "redlock/core/engine/readiness.hpp"
#include "redlock/core/engine/same_server.hpp"
#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// The nodes as operations see them: passes each command to the session of its node, unless it asks for a grant and the
/// restart guard does not admit the node. Reports changes of the nodes' states to the observer.
///
/// Every call belongs to an event. The engine says first what time it is then (`begin_event`).
class Nodes final : public Outbox {
 public:
  /// `guard`: none disables the restart guard. `observer`: may be null.
  Nodes(std::vector<Session::Settings> nodes, Span connect_timeout,
        const std::optional<RestartGuard::Settings>& guard, Observer* observer)
      : connect_timeout_{connect_timeout},
        changes_{observer, nodes.size()},
        scripts_due_(nodes.size(), Time::min()) {
    if (guard) guard_ = Ref<RestartGuard>{new RestartGuard{*guard}};
    sessions_.reserve(nodes.size());
    for (Session::Settings& settings : nodes) {
      if (guard) settings.look = look_command(guard->keys);
      sessions_.emplace_back(std::move(settings));
    }
  }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  void begin_event(Time now) noexcept { now_ = now; }
  /// When the event is that is being handled.
  [[nodiscard]] Time now() const noexcept { return now_; }

  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
  [[nodiscard]] Session& session(NodeIndex node) noexcept { return sessions_[node]; }
  [[nodiscard]] const Session& session(NodeIndex node) const noexcept { return sessions_[node]; }

  [[nodiscard]] bool expect_to_release() const noexcept {
    return std::ranges::any_of(sessions_, &Session::expects_to_release);
  }

  /// An operation is about to use the nodes: starts whatever is missing for it.
  void prepare_for(const Operation& operation) {
    for (Session& session : sessions_) session.wake(now_);
    if (guard_ && operation.wants_grants()) guard_->want_grants(now_, *this, operation.wanted_ttl());
    report();
  }
  /// When an operation may start: see `Readiness`.
  [[nodiscard]] Time start_time(const Operation& operation, Time submitted_at) const {
    const Readiness readiness{sessions_, operation.wants_grants() ? guard_.get() : nullptr,
                              operation.wanted_ttl()};
    return readiness.start_time(operation.connections_wanted(size()), submitted_at, connect_timeout_, now_);
  }

  /// The node is ready, and the restart guard admits it for this ttl.
  [[nodiscard]] bool may_grant(NodeIndex node, std::chrono::milliseconds ttl) {
    return sessions_[node].ready() && (!guard_ || !guard_->objection(node, now_, ttl));
  }

  /// A session has become ready or has failed. If its server is connected under another name as well, refuses one of the
  /// two, and returns the node that was refused; otherwise returns this one.
  NodeIndex refuse_second_name(NodeIndex node) {
    return core::refuse_second_name(node, sessions_, guard_.get(), now_);
  }
  /// A session is ready: sends what was waiting for it. Returns the commands that were dropped; their operations have been
  /// told why.
  [[nodiscard]] std::vector<Session::Slot> open(NodeIndex node) {
    Session& session = sessions_[node];
    if (guard_) guard_->connected(node, session.marker(), now_, *this);
    if (!session.ready()) return {};
    std::vector<Session::Slot> dropped = session.send_waiting(
        [&](const Session::Slot& slot) -> std::optional<std::string> {
          if (slot.grants && grant_objection(node, *slot.operation)) return std::nullopt;
          return std::string{rest_of(node, slot.lacks_marker)};
        },
        now_);
    for (const Session::Slot& slot : dropped) {
      const Trouble* const objection = grant_objection(node, *slot.operation);
      slot.operation->disconnected(node, objection ? Trouble{*objection} : Trouble{}, now_, *this);
    }
    return dropped;
  }
  /// The node has answered a login with new credentials on a connection that was open.
  void login_answered(NodeIndex node, const Reply& reply) {
    Session& session = sessions_[node];
    if (session.login().answered(reply))
      login_warning_ = session.name() +
                       " refuses the new login, so open connections go on with the old one: " +
                       printable(trouble_of_login(reply.text).message);
  }
  /// A warning for the user, for new credentials at least one if a node refuses them.
  std::optional<std::string> take_warning() noexcept { return std::exchange(login_warning_, std::nullopt); }
  /// A session has failed.
  void failed(NodeIndex node) {
    if (guard_) guard_->disconnected(node, sessions_[node].trouble(), now_, *this);
  }
  /// An operation has received a reply. Returns true if it was the restart guard, which may have admitted nodes.
  bool answered(NodeIndex node, const Operation& operation, const Reply& reply) {
    if (is_noscript(reply) && operation.done()) load_scripts(node);
    if (!guard_) return false;
    if (is_unmarked(reply)) guard_->grant_refused(node, now_, *this);
    return &operation == guard_.get();
  }
  /// Returns true if the restart guard's timer was due, so that it may have admitted nodes.
  bool on_guard_time() {
    if (now_ < guard_timer()) return false;
    guard_->timed_out(now_, *this);
    return true;
  }
  /// Reports the states that have changed to the observer.
  void report() {
    if (!changes_.are_observed()) return;
    for (NodeIndex node = 0; node < size(); ++node)
      if (!guard_ || !guard_->is_deciding(node)) changes_.check(node, sessions_[node], caveat(node));
  }

  [[nodiscard]] Time timer() const noexcept {
    Time first = guard_timer();
    for (const Session& session : sessions_) first = std::min(first, session.timer());
    return first;
  }
  /// When something must be done even if no caller waits: redialling, guarding.
  [[nodiscard]] Time background_timer() const noexcept {
    Time first = guard_timer();
    for (const Session& session : sessions_)
      if (session.state() == Session::State::down) first = std::min(first, session.timer());
    return first;
  }
  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return std::any_of(sessions_.begin(), sessions_.end(), [](const Session& each) {
      return each.has_errand() || each.is_dialling() || each.must_read() || !each.unsent().empty();
    });
  }
  /// While these are in force, the end of a connection must be noticed soon, to mark the node. Null without a guard.
  [[nodiscard]] HeldLeases* held_leases() noexcept { return guard_ ? &held_leases_ : nullptr; }

  // ── from operations ──────────────────────────────────────────────────────────────────────────────────────

  const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                      SendOptions options) override {
    const Trouble* const objection = options.grants ? grant_objection(node, sender) : nullptr;
    if (objection) return objection;
    return sessions_[node].send(command,
                                {Ref<Operation>{&sender}, options.step, options.is_release,
                                 options.always_read, options.grants, options.lacks_marker},
                                options.send_by, now_, rest_of(node, options.lacks_marker));
  }
  void granted(Time deadline) noexcept override { held_leases_.granted(deadline); }
  void taken_back() noexcept override { held_leases_.taken_back(); }
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
  /// Also dials nodes whose refusal is over: a client that only watches submits no operation that would.
  void look_again(NodeIndex node) override {
    for (Session& session : sessions_) session.wake(now_);
    if (guard_) guard_->look_again(node, now_, *this);
  }

 private:
  /// The server has lost its scripts, and nobody sends it a script's source: operations end before a node answers that is slower
  /// than a majority, so it would never grant. At most once a second, for a node that loses them all the time.
  void load_scripts(NodeIndex node) {
    if (now_ < scripts_due_[node] || !sessions_[node].ready()) return;
    scripts_due_[node] = later(now_, std::chrono::seconds{1});
    for (const Script* const script : loaded_scripts)
      sessions_[node].send(command({"SCRIPT", "LOAD", script->source}), {}, never, now_);
  }
  /// Why the node must not be asked to grant what the operation wants. Null if there is no known reason.
  [[nodiscard]] const Trouble* grant_objection(NodeIndex node, const Operation& operation) {
    if (!guard_ || !sessions_[node].ready()) return nullptr;
    return guard_->objection(node, now_, operation.wanted_ttl());
  }
  /// The end of a command for a grant. Valid until the next call.
  [[nodiscard]] std::string_view rest_of(NodeIndex node, bool lacks_marker) {
    if (!lacks_marker) return {};
    required_marker(node).encode(rest_);
    return rest_;
  }
  [[nodiscard]] Time guard_timer() const noexcept { return guard_ ? guard_->deadline() : never; }

  std::vector<Session> sessions_;
  const Span connect_timeout_;
  HeldLeases held_leases_;
  NodeChanges changes_;
  Ref<RestartGuard> guard_;        // null: restarts are not guarded
  std::vector<Time> scripts_due_;  // when they may be loaded again
  std::optional<std::string> login_warning_;
  std::string rest_;  // see rest_of
  Time now_{};        // of the event being handled
};

}  // namespace redlock::inline v1::core
