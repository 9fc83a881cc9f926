// A queue of events on their way to the user's observer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

/// An observer that queues events and delivers them to another observer later: on a thread of its own, one at a time and
/// in order. Queueing never throws, never calls the user's code and blocks on nothing but a short-lived mutex, so it may
/// be done under the client's mutex. While the queue is full, further events are only counted.
///
/// Events are delivered in batches, some milliseconds after the first one, so that a busy client does not wake a thread
/// for each event.
class EventQueue final : public Observer {
 public:
  using Report = std::function<void(std::string_view)>;

  /// `key_prefix`: the number of bytes that precede the resource in each key. `report`: called once if the observer
  /// throws; may be empty. Starts no thread; the first event does.
  EventQueue(std::shared_ptr<Observer>, std::size_t key_prefix, Report report);
  /// Delivers what is queued, and blocks until that is done. Inside a callback it does not block: the events are
  /// delivered later. If the destructor runs on the queue's own thread, inside a call of the observer, the remaining
  /// events are dropped.
  ~EventQueue() override;

  void attempted(const Attempt&) override;
  void waited(const Wait&) override;
  void lined_up(const Line&) override;
  void ended(const Hold&) override;
  void extended(const Extension&) override;
  void broken(const Break&) override;
  void node_changed(const Node&) override;
  void certificate_seen(const Certificate&) override;

  /// How many events may wait.
  static constexpr std::size_t capacity = 8192;

 private:
  struct State;
  template <class Event>
  void push(const Event&) noexcept;

  // Outlives this object if the observer destroys it on the queue's own thread.
  const std::shared_ptr<State> state_;
  const std::size_t key_prefix_;
};

}  // namespace redlock::inline v1::detail
