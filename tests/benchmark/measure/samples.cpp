#include "benchmark/measure/samples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace redlock::benchmark {

void Samples::add_failure(std::string reason) {
  if (failures_++ == 0) first_failure_ = std::move(reason);
}

void Samples::merge(const Samples& other) {
  cycles_.insert(cycles_.end(), other.cycles_.begin(), other.cycles_.end());
  elapsed_ += other.elapsed_;
  if (failures_ == 0) first_failure_ = other.first_failure_;
  failures_ += other.failures_;
}

double Samples::percentile_us(double fraction) const {
  if (cycles_.empty()) return 0;
  std::vector<Stopwatch::rep> sorted = cycles_;
  const auto rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(sorted.begin(), at, sorted.end());
  return std::chrono::duration<double, std::micro>{Stopwatch::duration{*at}}.count();
}

double Samples::cycles_per_second() const {
  const double seconds = std::chrono::duration<double>{elapsed_}.count();
  return seconds > 0 ? static_cast<double>(cycles_.size()) / seconds : 0;
}

}  // namespace redlock::benchmark
