// How much a fuzzed client does.
#pragma once

#include <cstddef>

namespace redlock::testing {

/// Numbers that are the same in every run with the same input, however busy the machine is.
struct Work {
  std::size_t blocks = 0;  // of code without a branch, each time that one runs; 0 in builds without libFuzzer
  std::size_t allocations = 0;  // with the address sanitizer by malloc, in other builds by operator new
  std::size_t allocated = 0;    // bytes, in all of these
  std::size_t sent = 0;         // bytes
  std::size_t events = 0;       // of which the observer was told
  std::size_t timers = 0;       // that were due

  /// All work of this thread until now. The fuzzer counts here what only it can see.
  [[nodiscard]] static Work& so_far() noexcept;

  /// Reports a finding, with all numbers, if this is more than `most` of anything. Also tells libFuzzer how near it is.
  enum class During { event, life };
  void must_be_within(const Work& most, During) const;

  friend Work operator-(const Work& a, const Work& b) noexcept {
    return {a.blocks - b.blocks, a.allocations - b.allocations, a.allocated - b.allocated,
            a.sent - b.sent,     a.events - b.events,           a.timers - b.timers};
  }
  friend Work operator+(const Work& a, const Work& b) noexcept {
    return {a.blocks + b.blocks, a.allocations + b.allocations, a.allocated + b.allocated,
            a.sent + b.sent,     a.events + b.events,           a.timers + b.timers};
  }
  friend Work operator*(std::size_t times, const Work& each) noexcept {
    return {times * each.blocks, times * each.allocations, times * each.allocated,
            times * each.sent,   times * each.events,      times * each.timers};
  }
};

/// As long as there is one of these, no work counts: for what the fuzzer does, and not the client.
class UncountedWork {
 public:
  UncountedWork() noexcept;
  ~UncountedWork();
  UncountedWork(const UncountedWork&) = delete;
  UncountedWork& operator=(const UncountedWork&) = delete;

 private:
  const Work before_;
};

}  // namespace redlock::testing
