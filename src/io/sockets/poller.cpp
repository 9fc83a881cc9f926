#include "io/sockets/poller.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "os/system_error.hpp"

namespace redlock::inline v1::detail {
namespace {

timespec time_left(core::Time until, core::Time now) noexcept {
  using std::chrono::seconds;
  const core::Span left = std::clamp(until - now, core::Span::zero(), core::Span{std::chrono::hours{1}});
  return {left / seconds{1}, (left % seconds{1}).count()};
}

}  // namespace

Poller::Poller() : list_{::epoll_create1(EPOLL_CLOEXEC)} {
  if (!list_) throw_errno("epoll_create1");
}

bool Poller::watch(int fd, Poll::Tag tag) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return ::epoll_ctl(list_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::forget(int fd) noexcept { ::epoll_ctl(list_.get(), EPOLL_CTL_DEL, fd, nullptr); }

/// Takes one system call if there is nothing but the list. Kernels before 5.11 and some sandboxes have no such call that is as
/// precise as ppoll. Every other error is a spurious wake-up.
void Poller::wait(Poll& poll, core::Time until, core::Time now) const {
  const timespec left = time_left(until, now);
  epoll_event* const found = poll.watched_.data();
  const auto room = static_cast<int>(poll.watched_.size());
  poll.found_ = 0;
  if (poll.polled_.empty()) {
    const int count = ::epoll_pwait2(list_.get(), found, room, &left, nullptr);
    poll.found_ = static_cast<std::size_t>(std::max(count, 0));
    if (count >= 0 || errno == EINTR) return;
  }
  poll.polled_.push_back({list_.get(), POLLIN, 0});
  ::ppoll(poll.polled_.data(), poll.polled_.size(), &left, nullptr);
  const bool has_any = poll.polled_.back().revents != 0;
  poll.polled_.pop_back();
  if (has_any) poll.found_ = static_cast<std::size_t>(std::max(::epoll_wait(list_.get(), found, room, 0), 0));
}

}  // namespace redlock::inline v1::detail
