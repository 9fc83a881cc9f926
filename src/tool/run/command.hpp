// The child process that runs under the lock.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace redlock::tool {

/// Lets a write beyond the file size limit fail with EFBIG in this process and what it starts, except a `Command`, which gets
/// the former handling back. Call it once, before there are other threads.
void survive_file_size_limit() noexcept;

/// The program could not be executed. The error code is that of execvp(3).
struct NotExecuted : std::system_error {
  using std::system_error::system_error;
};

/// A child process in its own process group. It inherits stdin, stdout and stderr but does not own the
/// terminal.
///
/// It is killed when the thread that started it ends (PR_SET_PDEATHSIG), so start it on a thread that lives
/// as long as this process.
class Command {
 public:
  struct Launch {
    std::vector<std::string> words;  ///< The program, looked up in PATH, and its arguments.
    /// `NAME=value`: added to this process's environment, overriding it. `NAME` alone: not in its environment.
    std::vector<std::string> environment;
    sigset_t signals{};  ///< Its signal mask.
    /// Called in the child before exec, with its process group. It may make system calls only. If it returns
    /// false, the child exits with the exit code of SIGKILL.
    std::function<bool(pid_t group)> before_exec;
  };

  /// Starts the program. Throws `NotExecuted`, or `std::system_error` if the system cannot create a process.
  explicit Command(const Launch&);
  /// Kills the process group unless `exit_code` was called.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t group() const noexcept { return pid_; }
  /// Blocks until the process ends or is stopped. Returns the signal that stopped it, or 0 if it ended. Its
  /// pid stays reserved until `exit_code` is called.
  [[nodiscard]] int wait() const noexcept;
  /// Returns the exit code as a shell does: 128 plus the signal number if a signal ended it. Precondition: it
  /// has ended.
  [[nodiscard]] int exit_code() noexcept;
  /// Sends a signal to the process group.
  void signal(int number) const noexcept;

 private:
  pid_t pid_ = 0;
};

}  // namespace redlock::tool
