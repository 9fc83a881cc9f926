// An event that happens once.
#pragma once

#include <future>
#include <utility>

namespace redlock::testing {

/// Threads: one thread may call `set`, any thread may call `wait`.
class OneShotEvent {
 public:
  /// Lets all current and later calls of `wait` return.
  void set() {
    if (!std::exchange(is_set_, true)) promise_.set_value();
  }
  /// Blocks until `set` is called.
  void wait() const { future_.wait(); }

 private:
  bool is_set_ = false;
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

/// Sets an event at the end of a test, also of one that fails, so that nobody waits for it any more.
class SetAtEnd {
 public:
  explicit SetAtEnd(OneShotEvent& event) : event_{event} {}
  SetAtEnd(const SetAtEnd&) = delete;
  SetAtEnd& operator=(const SetAtEnd&) = delete;
  ~SetAtEnd() { event_.set(); }

 private:
  OneShotEvent& event_;
};

}  // namespace redlock::testing
