#include "tool/time_text.hpp"

namespace redlock::tool {

std::string readable(std::chrono::nanoseconds time) {
  const std::int64_t all = milliseconds_of(time);
  if (all < 1000) return std::to_string(all) + " ms";
  if (all >= 60'000) {
    const std::int64_t seconds = all / 1000;
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return std::to_string(all / 1000) + '.' + std::to_string(all / 100 % 10) + " s";
}

}  // namespace redlock::tool
