// The measured times of one contestant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::benchmark {

/// CLOCK_MONOTONIC on Linux.
using Stopwatch = std::chrono::steady_clock;

/// The duration of every cycle, and of all cycles together. Not thread safe.
class Samples {
 public:
  void add(Stopwatch::duration cycle) { cycles_.push_back(cycle.count()); }
  /// Records a cycle that did not lock or did not release. Its time is not a sample, and the run has failed.
  void add_failure(std::string reason);
  /// Adds wall time during which cycles ran.
  void add_elapsed(Stopwatch::duration time) { elapsed_ += time; }
  /// Adds the samples of another thread of the contestant.
  void merge(const Samples& other);

  [[nodiscard]] std::size_t cycles() const noexcept { return cycles_.size(); }
  [[nodiscard]] std::size_t failures() const noexcept { return failures_; }
  [[nodiscard]] const std::string& first_failure() const noexcept { return first_failure_; }

  /// The cycle time that `fraction` of the cycles do not exceed; 0 without cycles.
  [[nodiscard]] double percentile_us(double fraction) const;
  [[nodiscard]] double cycles_per_second() const;

 private:
  std::vector<Stopwatch::rep> cycles_;
  Stopwatch::duration elapsed_{0};
  std::size_t failures_ = 0;
  std::string first_failure_;
};

}  // namespace redlock::benchmark
