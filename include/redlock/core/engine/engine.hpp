// All sessions and operations of one client.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/node_changes.hpp"
#include "redlock/core/engine/readiness.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/key_watcher.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lease/renewals.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Of all connections of a client: see `Engine::connections`.
using ConnectionIndex = std::size_t;

/// Hands operations' commands to the sessions, replies to the operations, and the time to both. Everything
/// that the client decides happens in here; the shell moves bytes and keeps one timer. Not thread safe: all
/// calls under the client's mutex.
///
/// An operation that comes while connections are being made for the first time waits for them (`Readiness`). Its validity
/// counts from the end of that wait, when its first byte is written.
class Engine final : public Outbox {
 public:
  /// `guard`: none, nobody guards restarts. `observer`: is told, during the calls below, of what is worth counting; may be
  /// null.
  Engine(std::vector<Session::Settings> nodes, Span connect_timeout, std::uint64_t seed,
         const std::optional<RestartGuard::Settings>& guard = std::nullopt, Observer* observer = nullptr)
      : connect_timeout_{connect_timeout},
        renewals_{seed},
        key_watcher_{listeners_of(nodes), seed},
        observer_{observer},
        node_changes_{observer, nodes.size()} {
    if (guard) guard_ = Ref<RestartGuard>{new RestartGuard{*guard}};
    sessions_.reserve(nodes.size());
    for (Session::Settings& settings : nodes) {
      settings.guarded = guard.has_value();
      sessions_.emplace_back(std::move(settings));
    }
  }

  // ── from callers ─────────────────────────────────────────────────────────────────────────────────────────

  void submit(const Ref<Operation>& operation, Time now) {
    now_ = now;
    for (Session& session : sessions_) session.wake(now);
    if (guard_ && operation->wants_grants()) guard_->want(now, *this);
    look_at_nodes();
    operation->submitted_at_ = now;
    operation->position_ = active_.size();
    active_.push_back(operation);
    earliest_ = std::min(earliest_, operation->give_up_at);
    if (is_shut_down_ && operation->wants_grants()) return abandon(operation, Errc::cancelled, now);
    advance(operation);
  }
  void abandon(const Ref<Operation>& operation, Errc why, Time now) {
    now_ = now;
    if (operation->done()) return;
    operation->abandon(why, now, *this);
    settle(operation);
  }

  /// From now on it is renewed by itself, until it is over or a release of it is submitted.
  void keep(const std::shared_ptr<LeaseState>& lease, Time now) { renewals_.add(lease, now); }
  /// From now on it is lost as soon as a majority of the nodes tells that our value is gone.
  void watch(const std::shared_ptr<LeaseState>& lease, Time now) { key_watcher_.add(lease, now); }
  /// These leases are lost. Acquisitions are cancelled, now and whenever another one comes.
  void shut_down(const std::vector<std::shared_ptr<LeaseState>>& leases, Time now) {
    is_shut_down_ = true;
    for (const std::shared_ptr<LeaseState>& lease : leases) lease->lose(Loss::shut_down, now);
    const std::vector<Ref<Operation>> all = active_;
    for (const Ref<Operation>& operation : all)
      if (operation->wants_grants()) abandon(operation, Errc::cancelled, now);
  }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] std::size_t nodes() const noexcept { return sessions_.size(); }
  /// One for commands to each node, and behind all of these one to each that listens.
  [[nodiscard]] std::size_t connections() const noexcept { return 2 * nodes(); }
  /// To read, to send from, and to take errands from; events go through the calls below.
  [[nodiscard]] Session& session(ConnectionIndex connection) noexcept {
    return is_listener(connection) ? key_watcher_.listener(connection - nodes()) : sessions_[connection];
  }
  [[nodiscard]] const Session& session(ConnectionIndex connection) const noexcept {
    return is_listener(connection) ? key_watcher_.listener(connection - nodes()) : sessions_[connection];
  }

  void connected(ConnectionIndex connection, Time now) { session(connection).connected(now); }
  void heard(ConnectionIndex connection, Time now) { session(connection).heard(now); }
  void answered(ConnectionIndex connection, const Reply& reply, Time now) {
    if (is_listener(connection)) return key_watcher_.told(connection - nodes(), reply, now);
    now_ = now;
    Session& session = sessions_[connection];
    const Session::State before = session.state();
    if (const auto slot = session.answered(reply, now)) return deliver(connection, *slot, reply);
    if (session.state() != before) changed(connection);
  }
  void disconnected(ConnectionIndex connection, Trouble trouble, Time now) {
    if (is_listener(connection))
      return key_watcher_.disconnected_listener(connection - nodes(), std::move(trouble), now);
    now_ = now;
    sessions_[connection].disconnected(std::move(trouble), now);
    changed(connection);
  }
  /// Call only after every readable connection was read.
  void on_time(Time now) {
    now_ = now;
    for (NodeIndex node = 0; node < nodes(); ++node) {
      if (now < sessions_[node].timer()) continue;
      sessions_[node].on_time(now);
      changed(node);
    }
    if (guard_ && now >= guard_->deadline()) {
      guard_->timed_out(now, *this);
      advance_waiting();
    }
    if (now >= earliest_) time_operations();
    for (const auto& [due, lease] : renewals_.take_due(now))
      submit(Ref<Operation>{new Extension{lease, nodes(), due}}, now);
    key_watcher_.on_time(now, *this);
  }
  /// When `on_time` may have something to do.
  [[nodiscard]] Time timer() const noexcept {
    Time first = std::min({earliest_, renewals_.timer(), key_watcher_.timer(), guard_timer()});
    for (const Session& session : sessions_) first = std::min(first, session.timer());
    return first;
  }
  /// Operations that are done since the last call, for the shell to wake their callers; renewals, and releases of leases
  /// that were lost, have none.
  std::vector<Ref<Operation>>& finished() noexcept { return finished_; }
  /// What the user may want to know; once in a client's life.
  std::optional<std::string> take_warning() noexcept { return key_watcher_.take_warning(); }

  /// Something is to be sent or to arrive although perhaps nobody waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return !active_.empty() || key_watcher_.needs_attention() ||
           std::any_of(sessions_.begin(), sessions_.end(), [](const Session& session) {
             return session.has_errand() || session.is_dialling() || session.owes() ||
                    !session.unsent().empty();
           });
  }
  /// When something is to be done although perhaps nobody waits for it: redialling, renewing, watching, guarding.
  [[nodiscard]] Time background_timer() const noexcept {
    Time first = std::min({renewals_.timer(), key_watcher_.timer(), guard_timer()});
    for (const Session& session : sessions_)
      if (session.state() == Session::State::down) first = std::min(first, session.timer());
    return first;
  }
  /// Operations neither done nor given up.
  [[nodiscard]] std::size_t active() const noexcept { return active_.size(); }
  /// Leases that are watched.
  [[nodiscard]] std::size_t watched() const noexcept { return key_watcher_.size(); }
  /// Replies that came after their operation was done.
  [[nodiscard]] std::size_t late_replies() const noexcept { return late_replies_; }

  // ── from operations ──────────────────────────────────────────────────────────────────────────────────────

  const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                      SendOptions options) override {
    if (options.grants)
      if (const Trouble* const why_not = reason_against(node)) return why_not;
    return sessions_[node].send(
        command, {Ref<Operation>{&sender}, options.step, options.owed, options.heeded, options.grants},
        options.send_by, now_);
  }
  [[nodiscard]] std::string_view marker() const noexcept override {
    return guard_ ? guard_->beginning() : std::string_view{};
  }
  [[nodiscard]] const Trouble* remark(NodeIndex node) override {
    return guard_ ? guard_->remark(node, now_) : nullptr;
  }

 private:
  static std::vector<Session::Settings> listeners_of(std::vector<Session::Settings> nodes) {
    for (Session::Settings& settings : nodes) {
      settings.seed = ~settings.seed;
      settings.purpose = Purpose::listening;
    }
    return nodes;
  }
  [[nodiscard]] bool is_listener(ConnectionIndex connection) const noexcept { return connection >= nodes(); }

  void deliver(NodeIndex node, const Session::Slot& slot, const Reply& reply) {
    if (!slot.operation) return;
    late_replies_ += slot.operation->done() ? 1 : 0;
    slot.operation->answered(node, slot.step, reply, now_, *this);
    settle(slot.operation);
    if (!key_watcher_.lost().empty()) release_lost();
    if (!guard_) return;
    if (is_unmarked(reply)) guard_->doubt(node, now_, *this);
    if (slot.operation.get() == guard_.get()) advance_waiting();
  }

  /// What is left of leases that were found lost, everywhere.
  void release_lost() {
    for (const std::shared_ptr<LeaseState>& lease : std::exchange(key_watcher_.lost(), {}))
      submit(Ref<Operation>{new ReleaseOperation{lease, nodes()}}, now_);
  }

  /// A session has become ready, or is of no use now.
  void changed(NodeIndex node) {
    Session& session = sessions_[node];
    if (session.ready()) refuse_if_same(node);
    if (session.ready())
      open(node);
    else if (guard_)
      guard_->disconnected(node, session.trouble(), now_, *this);
    look_at_nodes();
    key_watcher_.connected(node, session.ready(), now_);
    const std::vector<Ref<Operation>> affected = active_;
    for (const Ref<Operation>& operation : affected) {
      if (!session.ready() && operation->started_)
        operation->disconnected(node, session.trouble(), now_, *this);
      advance(operation);
    }
  }

  /// What has been waiting for the connection is sent.
  void open(NodeIndex node) {
    Session& session = sessions_[node];
    if (guard_) guard_->greeted(node, session.run_id(), session.marker(), now_, *this);
    const std::optional<Trouble> why_not = copy_of(reason_against(node));
    for (const Session::Slot& refused : session.send_waiting(!why_not, now_)) {
      if (!refused.operation) continue;
      refused.operation->disconnected(node, *why_not, now_, *this);
      settle(refused.operation);
    }
  }
  /// Against sending it a command that asks for a grant, as far as the guard knows.
  [[nodiscard]] const Trouble* reason_against(NodeIndex node) {
    return guard_ && sessions_[node].ready() ? guard_->objection(node, now_) : nullptr;
  }
  [[nodiscard]] static std::optional<Trouble> copy_of(const Trouble* trouble) {
    return trouble ? std::optional{*trouble} : std::nullopt;
  }
  [[nodiscard]] Time guard_timer() const noexcept { return guard_ ? guard_->deadline() : never; }

  /// Two names of one server would make one vote count twice.
  void refuse_if_same(NodeIndex node) {
    Session& session = sessions_[node];
    if (session.run_id().empty()) return;
    for (const Session& other : sessions_)
      if (&other != &session && other.ready() && other.run_id() == session.run_id())
        return session.refuse({NodeStatus::same_node, "the same server as " + other.name()}, now_);
  }

  /// For the observer.
  void look_at_nodes() {
    if (!observer_) return;
    for (NodeIndex node = 0; node < nodes(); ++node) {
      if (guard_ && guard_->is_deciding(node)) continue;
      node_changes_.check(node, sessions_[node], remark(node));
    }
  }

  /// The guard may have admitted nodes.
  void advance_waiting() {
    look_at_nodes();
    const std::vector<Ref<Operation>> all = active_;
    for (const Ref<Operation>& operation : all)
      if (!operation->started_) advance(operation);
  }

  void advance(const Ref<Operation>& operation) {
    if (!operation->started_ && !operation->done()) {
      const Time start_at = start_time(*operation);
      if (now_ < start_at) {
        earliest_ = std::min(earliest_, start_at);
        return;
      }
      operation->started_ = true;
      operation->start(now_, *this);
      earliest_ = std::min(earliest_, operation->deadline());
    }
    settle(operation);
  }

  [[nodiscard]] Time start_time(const Operation& operation) const {
    const Readiness readiness{sessions_, operation.wants_grants() ? guard_.get() : nullptr};
    return readiness.start_time(operation.connections_wanted(nodes()), operation.submitted_at_,
                                connect_timeout_, now_);
  }

  void time_operations() {
    earliest_ = never;
    const std::vector<Ref<Operation>> all = active_;
    for (const Ref<Operation>& operation : all) {
      if (operation->done()) continue;
      if (now_ >= operation->give_up_at) operation->abandon(Errc::timed_out, now_, *this);
      if (operation->started_ && now_ >= operation->deadline()) operation->timed_out(now_, *this);
      advance(operation);
      if (!operation->done()) note_timers(*operation);
    }
  }
  void note_timers(const Operation& operation) noexcept {
    earliest_ = std::min(earliest_, operation.give_up_at);
    if (operation.started_) earliest_ = std::min(earliest_, operation.deadline());
  }

  /// Takes a finished operation off the list.
  void settle(const Ref<Operation>& operation) {
    const std::size_t position = operation->position_;
    if (!operation->done() || position >= active_.size() || active_[position].get() != operation.get())
      return;
    finished_.push_back(operation);
    if (position + 1 != active_.size()) {
      active_[position] = std::move(active_.back());
      active_[position]->position_ = position;
    }
    active_.pop_back();
    if (observer_) finished_.back()->tell(*observer_, now_);
  }

  std::vector<Session> sessions_;
  Span connect_timeout_;
  Renewals renewals_;
  KeyWatcher key_watcher_;
  Observer* const observer_;
  NodeChanges node_changes_;
  Ref<RestartGuard> guard_;  // null: nobody guards restarts
  std::vector<Ref<Operation>> active_;
  std::vector<Ref<Operation>> finished_;
  Time earliest_ = never;  // no operation has anything to do before; may be too early, never too late
  Time now_{};             // of the event being handled
  std::size_t late_replies_ = 0;
  bool is_shut_down_ = false;
};

}  // namespace redlock::inline v1::core
