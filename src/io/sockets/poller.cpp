#include "io/sockets/poller.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <ctime>

#include "os/system_error.hpp"

namespace redlock::inline v1::detail {
namespace {

timespec time_left(core::Time until, core::Time now) noexcept {
  using std::chrono::seconds;
  const core::Span left = std::clamp(until - now, core::Span::zero(), core::Span{std::chrono::hours{1}});
  return {left / seconds{1}, (left % seconds{1}).count()};
}

/// epoll_pwait2 of the kernel, which has seconds of 64 bits. glibc has no function for it before 2.35, and epoll_wait counts in
/// milliseconds.
int wait_precisely([[maybe_unused]] int list, [[maybe_unused]] epoll_event* found, [[maybe_unused]] int room,
                   [[maybe_unused]] const timespec& left) noexcept {
#ifdef SYS_epoll_pwait2
  if constexpr (sizeof(timespec) == 16)
    return static_cast<int>(::syscall(SYS_epoll_pwait2, list, found, room, &left, nullptr, std::size_t{0}));
#endif
  errno = ENOSYS;
  return -1;
}

}  // namespace

Poller::Poller() : list_{::epoll_create1(EPOLL_CLOEXEC)} {
  if (!list_) throw_errno("epoll_create1");
}

bool Poller::watch(int fd, PollSet::Tag tag) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return ::epoll_ctl(list_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::forget(int fd) noexcept { ::epoll_ctl(list_.get(), EPOLL_CTL_DEL, fd, nullptr); }

/// Takes one system call if there is nothing but the list. If that call is missing, as on kernels before 5.11 and in some
/// sandboxes, ppoll waits for the list. An error of ppoll is a spurious wake-up.
void Poller::wait(PollSet& set, core::Time until, core::Time now) const noexcept {
  const timespec left = time_left(until, now);
  epoll_event* const found = set.watched_.data();
  const auto room = static_cast<int>(set.watched_.size());
  set.found_ = 0;
  if (set.tags_.empty()) {
    const int count = wait_precisely(list_.get(), found, room, left);
    set.found_ = static_cast<std::size_t>(std::max(count, 0));
    if (count >= 0 || errno == EINTR) return;
  }
  set.polled_.front() = {list_.get(), POLLIN, 0};
  ::ppoll(set.polled_.data(), set.polled_.size(), &left, nullptr);
  if (set.polled_.front().revents != 0)
    set.found_ = static_cast<std::size_t>(std::max(::epoll_wait(list_.get(), found, room, 0), 0));
}

}  // namespace redlock::inline v1::detail
