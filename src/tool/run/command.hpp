// The command that runs under the lock.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace redlock::tool {

/// The program could not be executed; the error is execvp(3)'s.
struct NotExecuted : std::system_error {
  using std::system_error::system_error;
};

/// A child process in a process group of its own, with this process's stdin, stdout and stderr, and without its
/// terminal.
///
/// It dies with this process (PR_SET_PDEATHSIG): start it on a thread that lives as long as the process does.
class Command {
 public:
  struct Launch {
    std::vector<std::string> words;        ///< The program, looked up in PATH, and its arguments.
    std::vector<std::string> environment;  ///< `NAME=value`, beside what this process has, and stronger.
    sigset_t signals{};                    ///< Its signal mask.
    /// Called in the child, with its process group, before it becomes the program: only system calls are allowed.
    /// False: it ends there, with the exit code of SIGKILL.
    std::function<bool(pid_t group)> before_exec;
  };

  /// Throws `NotExecuted`, or `std::system_error` when the system has no more processes.
  explicit Command(const Launch&);
  /// Kills what is left of it.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t group() const noexcept { return pid_; }
  /// Blocks until it ends, or is stopped: then by this signal, else 0. After its end its number stays taken until
  /// `exit_code` is called.
  [[nodiscard]] int wait() const noexcept;
  /// Precondition: it has ended. As a shell says it: 128 and the signal's number when a signal ended it.
  [[nodiscard]] int exit_code() noexcept;
  void signal(int number) const noexcept;

 private:
  pid_t pid_ = 0;
};

}  // namespace redlock::tool
