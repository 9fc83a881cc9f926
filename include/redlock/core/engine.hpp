// All sessions and operations of one client.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "redlock/core/extension.hpp"
#include "redlock/core/node_changes.hpp"
#include "redlock/core/operation.hpp"
#include "redlock/core/renewals.hpp"
#include "redlock/core/session.hpp"
#include "redlock/observer.hpp"

namespace redlock::inline v1::core {

/// Hands operations' commands to the sessions, replies to the operations, and the time to both. Everything
/// that the client decides happens in here; the shell moves bytes and keeps one timer. Not thread safe: all
/// calls under the client's mutex.
///
/// An operation that comes while connections are being made for the first time waits until enough of them are
/// ready, and then as long again as that took, so that the slower ones are not left out by a hair; at most
/// the connect timeout. Its validity counts from the end of that wait, when its first byte is written.
class Engine final : public Outbox {
 public:
  /// `observer`: is told, during the calls below, of what is worth counting; may be null.
  Engine(std::vector<Session::Settings> nodes, Span connect_timeout, std::uint64_t seed,
         Observer* observer = nullptr)
      : connect_timeout_{connect_timeout},
        renewals_{seed},
        observer_{observer},
        node_changes_{observer, nodes.size()} {
    sessions_.reserve(nodes.size());
    for (Session::Settings& settings : nodes) sessions_.emplace_back(std::move(settings));
  }

  // ── from callers ─────────────────────────────────────────────────────────────────────────────────────────

  void submit(const Ref<Operation>& operation, Time now) {
    now_ = now;
    for (Session& session : sessions_) session.wake(now);
    if (observer_)
      for (NodeIndex node = 0; node < nodes(); ++node) node_changes_.look(node, sessions_[node]);
    operation->submitted_at_ = now;
    operation->position_ = active_.size();
    active_.push_back(operation);
    earliest_ = std::min(earliest_, operation->give_up_at);
    advance(operation);
  }
  void abandon(const Ref<Operation>& operation, Errc why, Time now) {
    now_ = now;
    if (operation->done()) return;
    operation->abandon(why, now, *this);
    settle(operation);
  }

  /// From now on it is renewed by itself, until it is over or a release of it is submitted.
  void keep(const std::shared_ptr<Tenure>& tenure, Time now) { renewals_.add(tenure, now); }
  /// The lock stays on the nodes, and nothing is done for it any more. Whether it was in force.
  static bool let_go(const std::shared_ptr<Tenure>& tenure, Time now) noexcept {
    Renewals::stop(tenure);
    tenure->copies.give_up();
    return tenure->release(now);
  }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] std::size_t nodes() const noexcept { return sessions_.size(); }
  /// To read, to send from, and to take errands from; events go through the calls below.
  [[nodiscard]] Session& session(NodeIndex node) noexcept { return sessions_[node]; }
  [[nodiscard]] const Session& session(NodeIndex node) const noexcept { return sessions_[node]; }

  void connected(NodeIndex node, Time now) { sessions_[node].connected(now); }
  void heard(NodeIndex node, Time now) { sessions_[node].heard(now); }
  void answered(NodeIndex node, const Reply& reply, Time now) {
    now_ = now;
    Session& session = sessions_[node];
    const Session::State before = session.state();
    if (const auto slot = session.answered(reply, now)) return deliver(node, *slot, reply);
    if (session.state() != before) changed(node);
  }
  void disconnected(NodeIndex node, Trouble trouble, Time now) {
    now_ = now;
    sessions_[node].disconnected(std::move(trouble), now);
    changed(node);
  }
  /// Call only after every readable connection was read.
  void on_time(Time now) {
    now_ = now;
    for (NodeIndex node = 0; node < nodes(); ++node) {
      if (now < sessions_[node].timer()) continue;
      sessions_[node].on_time(now);
      changed(node);
    }
    if (now >= earliest_) time_operations();
    for (const auto& [due, tenure] : renewals_.take_due(now))
      submit(Ref<Operation>{new Extension{tenure, nodes(), due}}, now);
  }
  /// When `on_time` may have something to do.
  [[nodiscard]] Time timer() const noexcept {
    Time first = std::min(earliest_, renewals_.timer());
    for (const Session& session : sessions_) first = std::min(first, session.timer());
    return first;
  }
  /// Operations that are done since the last call, for the shell to wake their callers; renewals have none.
  std::vector<Ref<Operation>>& finished() noexcept { return finished_; }

  /// Something is to be sent or to arrive although perhaps nobody waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return !active_.empty() || std::any_of(sessions_.begin(), sessions_.end(), [](const Session& session) {
      return session.has_errand() || session.is_dialling() || session.owes() || !session.unsent().empty();
    });
  }
  /// When something is to be done although perhaps nobody waits for it: redialling, renewing.
  [[nodiscard]] Time background_timer() const noexcept {
    Time first = renewals_.timer();
    for (const Session& session : sessions_)
      if (session.state() == Session::State::down) first = std::min(first, session.timer());
    return first;
  }
  /// Operations neither done nor given up.
  [[nodiscard]] std::size_t active() const noexcept { return active_.size(); }
  /// Replies that came after their operation was done.
  [[nodiscard]] std::size_t late_replies() const noexcept { return late_replies_; }

  // ── from operations ──────────────────────────────────────────────────────────────────────────────────────

  const Trouble* send(NodeIndex node, std::string_view command, Operation& sender, Postage postage) override {
    return sessions_[node].send(command,
                                {Ref<Operation>{&sender}, postage.step, postage.owed, postage.heeded},
                                postage.send_by, now_);
  }

 private:
  void deliver(NodeIndex node, const Session::Slot& slot, const Reply& reply) {
    if (!slot.operation) return;
    late_replies_ += slot.operation->done() ? 1 : 0;
    slot.operation->answered(node, slot.step, reply, now_, *this);
    settle(slot.operation);
  }

  /// A session has become ready, or is of no use now.
  void changed(NodeIndex node) {
    Session& session = sessions_[node];
    if (session.ready()) refuse_if_same(node);
    node_changes_.look(node, session);
    const std::vector<Ref<Operation>> affected = active_;
    for (const Ref<Operation>& operation : affected) {
      if (!session.ready() && operation->started_)
        operation->disconnected(node, session.trouble(), now_, *this);
      advance(operation);
    }
  }

  /// Two names of one server would make one vote count twice.
  void refuse_if_same(NodeIndex node) {
    Session& session = sessions_[node];
    if (session.run_id().empty()) return;
    for (const Session& other : sessions_)
      if (&other != &session && other.ready() && other.run_id() == session.run_id())
        return session.refuse({NodeStatus::same_node, "the same server as " + other.name()}, now_);
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

  [[nodiscard]] Time start_time(const Operation& operation) const noexcept {
    std::size_t ready = 0;
    std::size_t hopeful = 0;
    for (const Session& session : sessions_) {
      ready += session.ready() ? 1 : 0;
      hopeful += session.hopeful() ? 1 : 0;
    }
    const std::size_t wanted = operation.connections_wanted(nodes());
    if (wanted == 0 || hopeful == 0 || ready + hopeful < wanted) return now_;
    const Time latest = later(operation.submitted_at_, connect_timeout_);
    if (ready < wanted) return latest;
    const Span taken = enough_ready_at(operation) - operation.submitted_at_;
    return std::min(latest, later(operation.submitted_at_, 2 * taken));
  }

  /// When the last connection that the operation wanted became ready; its submission if they were there
  /// already.
  [[nodiscard]] Time enough_ready_at(const Operation& operation) const noexcept {
    std::vector<Time> times;
    for (const Session& session : sessions_)
      if (session.ready()) times.push_back(std::max(session.ready_at(), operation.submitted_at_));
    const auto wanted =
        times.begin() + static_cast<std::ptrdiff_t>(operation.connections_wanted(nodes()) - 1);
    std::nth_element(times.begin(), wanted, times.end());
    return *wanted;
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
  Observer* const observer_;
  NodeChanges node_changes_;
  std::vector<Ref<Operation>> active_;
  std::vector<Ref<Operation>> finished_;
  Time earliest_ = never;  // no operation has anything to do before; may be too early, never too late
  Time now_{};             // of the event being handled
  std::size_t late_replies_ = 0;
};

}  // namespace redlock::inline v1::core
