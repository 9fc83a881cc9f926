// An event that wakes a thread in poll().
#pragma once

#include <sys/eventfd.h>

#include <cstdint>

#include "os/descriptor.hpp"
#include "os/system_error.hpp"

namespace redlock::inline v1::detail {

/// Stays readable from `set` to `clear`, so no wake-up is lost between a check and the poll.
class WakeEvent {
 public:
  WakeEvent() : fd_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
    if (!fd_) throw_errno("eventfd");
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd(), &one, sizeof one);  // fails only if it is set already
  }
  void close_in_child() const noexcept { fd_.close_in_child(); }
  void clear() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read =
        ::read(fd(), &count, sizeof count);  // fails only if it is clear already
  }

 private:
  Descriptor fd_;
};

}  // namespace redlock::inline v1::detail
