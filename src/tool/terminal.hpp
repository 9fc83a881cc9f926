// The controlling terminal, which belongs to one process group at a time.
#pragma once

#include <sys/types.h>

#include "descriptor.hpp"

namespace redlock::tool {

/// Lets a command in a group of its own read from the terminal, where this process could. Does nothing without a
/// terminal, or in the background. Precondition: SIGTTOU is blocked or ignored.
class Terminal {
 public:
  Terminal();
  [[nodiscard]] bool is_ours() const noexcept { return static_cast<bool>(terminal_); }
  void give_to(pid_t group) const noexcept;
  void take_back() const noexcept;

 private:
  detail::Descriptor terminal_;  // empty: not ours to give
};

}  // namespace redlock::tool
