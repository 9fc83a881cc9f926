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

/// Returns true if no shell could continue this process's group after a stop: POSIX calls such a group orphaned, and its
/// processes do not stop at Ctrl-Z. It is so below `ssh -t` or `docker exec`, for example. Returns false if that is not known.
[[nodiscard]] bool is_job_orphaned();

}  // namespace redlock::tool
