// The controlling terminal, which belongs to one process group at a time.
#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"

namespace redlock::tool {

/// Lends the terminal to a command in a process group of its own. Does nothing where there is none.
/// Precondition: SIGTTOU is blocked or ignored.
class Terminal {
 public:
  Terminal();

  /// If it is this process's group's now. Whether it was.
  bool lend_to(pid_t group) const noexcept;
  /// If it is that group's now. Whether it was.
  bool take_back_from(pid_t group) const noexcept;

 private:
  bool pass(pid_t from, pid_t to) const noexcept;

  detail::Descriptor terminal_;
};

}  // namespace redlock::tool
