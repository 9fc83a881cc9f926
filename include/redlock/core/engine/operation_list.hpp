// The active operations of an engine and their timers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Operations from their submission until they are done.
class OperationList {
 public:
  /// `observer`: receives what finished operations report; may be null.
  explicit OperationList(Observer* observer) noexcept : observer_{observer} {}

  void add(const Ref<Operation>& operation, Time now) {
    operation->submitted_at_ = now;
    operation->position_ = active_.size();
    make_room(finished_.size() + active_.size() + 1);
    active_.push_back(operation);
    senders_ += operation->sends() ? 1 : 0;
    wake_by(operation->give_up_at);
  }
  /// Starts an operation. Precondition: it was not started before.
  void start(Operation& operation, Time now, Outbox& outbox) {
    operation.started_ = true;
    operation.start(now, outbox);
    wake_by(operation.deadline());
  }
  /// Takes an operation that is done off the list. If a caller submitted it, moves it to `finished`; otherwise tells its
  /// parent. Does nothing if that was done before.
  void settle(const Operation& operation, Time now, Outbox& outbox) {
    const std::size_t position = operation.position_;
    if (!operation.done() || position >= active_.size() || active_[position].get() != &operation) return;
    Ref<Operation> ended = std::move(active_[position]);
    if (position + 1 != active_.size()) {
      active_[position] = std::move(active_.back());
      active_[position]->position_ = position;
    }
    active_.pop_back();
    senders_ -= ended->sends() ? 1 : 0;
    if (observer_) tell(*ended, now);
    Operation* const parent = ended->parent;
    if (!parent) return finished_.push_back(std::move(ended));
    parent->child_ended(*ended, now, outbox);
    wake_by(parent->deadline());
    settle(*parent, now, outbox);
  }

  /// Tells all operations that were started.
  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) const {
    for (const Ref<Operation>& operation : all())
      if (operation->started_) operation->disconnected(node, trouble, now, outbox);
  }

  /// Handles the timers of all operations, then calls `advance(operation)` for each.
  template <class Advance>
  void on_time(Time now, Outbox& outbox, Advance&& advance) {
    const std::vector<Ref<Operation>> operations = all();  // without memory, the timer stays
    timer_ = never;
    for (const Ref<Operation>& operation : operations) {
      if (operation->done()) continue;
      if (now >= operation->give_up_at) operation->abandon(Errc::timed_out, now, outbox);
      if (operation->started_ && now >= operation->deadline()) operation->timed_out(now, outbox);
      advance(operation);
      if (operation->done()) continue;
      wake_by(operation->give_up_at);
      if (operation->started_) wake_by(operation->deadline());
    }
  }
  /// No operation has a timer before this time. May be too early, is never too late.
  [[nodiscard]] Time timer() const noexcept { return timer_; }
  void wake_by(Time when) noexcept { timer_ = std::min(timer_, when); }

  /// A copy, because the list changes while its operations are handled.
  [[nodiscard]] std::vector<Ref<Operation>> all() const { return active_; }
  /// The number of operations that send commands themselves.
  [[nodiscard]] std::size_t senders() const noexcept { return senders_; }
  [[nodiscard]] static bool was_started(const Operation& operation) noexcept { return operation.started_; }
  [[nodiscard]] static Time submitted_at(const Operation& operation) noexcept {
    return operation.submitted_at_;
  }
  [[nodiscard]] Observer* observer() const noexcept { return observer_; }
  [[nodiscard]] std::vector<Ref<Operation>>& finished() noexcept { return finished_; }

 private:
  /// The end of an operation needs no memory: otherwise its caller would not be woken.
  void make_room(std::size_t operations) {
    if (operations > finished_.capacity()) finished_.reserve(2 * operations);
  }
  void tell(const Operation& ended, Time now) const noexcept try {
    ended.tell(*observer_, now);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for the event
  }

  std::vector<Ref<Operation>> active_;
  std::vector<Ref<Operation>> finished_;
  std::size_t senders_ = 0;
  Time timer_ = never;
  Observer* const observer_;
};

}  // namespace redlock::inline v1::core
