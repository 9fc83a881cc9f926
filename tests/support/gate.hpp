// Something to stand before.
#pragma once

#include <future>
#include <utility>

namespace redlock::testing {

/// Open from the first `open()` on. Threads: `pass` from any thread.
class Gate {
 public:
  void open() {
    if (!std::exchange(is_open_, true)) promise_.set_value();
  }
  void pass() const { opened_.wait(); }

 private:
  bool is_open_ = false;
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

}  // namespace redlock::testing
