#include "tool/time_text.hpp"

namespace redlock::tool {

std::string readable(std::chrono::milliseconds time) {
  const long long all = time.count();
  if (all < 1000) return std::to_string(all) + " ms";
  if (all >= 60'000) {
    const long long seconds = all / 1000;
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return std::to_string(all / 1000) + '.' + std::to_string(all / 100 % 10) + " s";
}

}  // namespace redlock::tool
