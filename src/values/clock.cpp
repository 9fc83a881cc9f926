#include "redlock/clock.hpp"

#include <ctime>

namespace redlock {
inline namespace v1 {

Clock::time_point Clock::now() noexcept {
#ifdef __linux__
  constexpr clockid_t runs_during_suspend = CLOCK_BOOTTIME;
#else
  constexpr clockid_t runs_during_suspend = CLOCK_MONOTONIC;
#endif
  timespec now{};
  ::clock_gettime(runs_during_suspend, &now);
  return time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

}  // namespace v1
}  // namespace redlock
