// Child processes and their files, cleaned up however this process ends.
#pragma once

#include <sys/types.h>

#include <string>

#include "testing/fd.hpp"

namespace redlock::testing::detail {

/// A process group for our children, and a temp folder for their files.
///
/// Guarantee: when this object is destroyed or this process ends (kill -9 and exec included), every process
/// of the group, stopped ones too, is killed and the folder is removed.
///
/// Implementation: a watchdog in its own group reads a stream whose other end is in this process. When the
/// stream ends, it kills the group by its number. The number cannot be reused, because the group's first
/// member, the *anchor*, is a stopped process that lives as long as the group. (Rejected alternatives:
/// PR_SET_PDEATHSIG, which fires when the *thread* that forked ends; pid files, which do not exist yet when
/// a process dies early; a forked copy of this process as watchdog, which would keep its descriptors and its
/// locked mutexes.)
class ProcessGroup {
 public:
  ProcessGroup();   ///< Throws std::system_error.
  ~ProcessGroup();  ///< Blocks until the folder is gone. In a forked child: does nothing.
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return anchor_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// False in a child of fork(): the processes are not its own.
  [[nodiscard]] bool is_ours() const noexcept;

 private:
  void end_by_hand() noexcept;  // where there is no watchdog

  const pid_t owner_;
  const std::string folder_;
  pid_t anchor_ = 0;
  pid_t watchdog_ = 0;
  Fd lifeline_;
};

}  // namespace redlock::testing::detail
