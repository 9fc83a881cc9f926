// The controlling terminal, which belongs to one process group at a time.
#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"

namespace redlock::tool {

/// Lends the controlling terminal to a command in another process group. Does nothing if there is no
/// terminal. Precondition: SIGTTOU is blocked or ignored.
class Terminal {
 public:
  Terminal();

  /// Gives the terminal to `group` if this process's group has it. Returns true if it had.
  bool lend_to(pid_t group) const noexcept;
  /// Takes the terminal back if `group` has it. Returns true if it had.
  bool take_back_from(pid_t group) const noexcept;

 private:
  bool pass(pid_t from, pid_t to) const noexcept;

  detail::Descriptor terminal_;
};

}  // namespace redlock::tool
