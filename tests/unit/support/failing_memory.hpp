// Lets operator new fail.
#pragma once

#include <new>

namespace redlock::testing {

/// While it lives, so many calls of operator new in this thread succeed, and the next one throws std::bad_alloc. Those that
/// follow succeed again. There is one object at a time in a thread.
class FailingMemory {
 public:
  explicit FailingMemory(int successes) noexcept;
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();
};

/// Calls `act` while memory fails so. Returns false if it has thrown std::bad_alloc.
template <class Act>
[[nodiscard]] bool succeeds_with(int successes, const Act& act) {
  const FailingMemory memory{successes};
  try {
    act();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace redlock::testing
