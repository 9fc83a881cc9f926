// Something to stand before.
#pragma once

#include <future>

namespace redlock::testing {

/// Open from `open()` on. Threads: `pass` from any thread.
class Gate {
 public:
  void open() { promise_.set_value(); }
  void pass() const { opened_.wait(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

}  // namespace redlock::testing
