#include "io/threads/background_thread.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>

#include "os/boot_timer.hpp"
#include "os/quiet_thread.hpp"
#include "os/system_error.hpp"

namespace redlock::inline v1::detail {

BackgroundThread::BackgroundThread() : timer_{timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)} {
  if (!timer_) throw_errno("timerfd_create");
}

void BackgroundThread::start(const std::function<void()>& body) {
  if (!thread_.joinable()) thread_ = prompt_thread(body);
}

void BackgroundThread::wake_by(core::Time when, const std::function<void()>& body) noexcept try {
  if (when < armed_) arm(when);
  start(body);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the declaration
}

void BackgroundThread::arm(core::Time when) {
  armed_ = when;
  set_boot_timer(timer_.get(), when);
}

bool BackgroundThread::sleep(std::vector<pollfd>& others) const {
  others.push_back({called_.fd(), POLLIN, 0});
  others.push_back({timer_.get(), POLLIN, 0});
  if (::poll(others.data(), others.size(), -1) <= 0) return false;
  return std::any_of(others.begin(), others.end() - 2,
                     [](const pollfd& other) { return other.revents != 0; });
}

void BackgroundThread::awake(const std::vector<pollfd>& polled) {
  const auto end = polled.rbegin();  // of the poll that `sleep` has made
  if (end[1].revents != 0) called_.clear();
  if (end[0].revents == 0) return;
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto read = ::read(timer_.get(), &expirations, sizeof expirations);
}

}  // namespace redlock::inline v1::detail
