// The command that runs under the lock.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <system_error>
#include <vector>

#include "terminal.hpp"

namespace redlock::tool {

/// The program could not be executed; the error is execvp(3)'s.
struct NotExecuted : std::system_error {
  using std::system_error::system_error;
};

/// A child process in a process group of its own, with this process's stdin, stdout and stderr.
///
/// It dies with this process (PR_SET_PDEATHSIG): start it on a thread that lives as long as the process does.
class Command {
 public:
  struct Launch {
    std::vector<std::string> words;        ///< The program, looked up in PATH, and its arguments.
    std::vector<std::string> environment;  ///< `NAME=value`, beside what this process has, and stronger.
    sigset_t signals{};                    ///< Its signal mask.
  };
  enum class Change { ended, stopped };

  /// Throws `NotExecuted`, or `std::system_error` when the system has no more processes. Hands the terminal over
  /// when it is ours.
  Command(const Launch&, Terminal&);
  /// Kills what is left of it.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t group() const noexcept { return pid_; }
  /// Blocks until it ends, or is stopped. After its end its number stays taken until `exit_code` is called.
  [[nodiscard]] Change wait() const noexcept;
  /// Precondition: it has ended. As a shell says it: 128 and the signal's number when a signal ended it.
  [[nodiscard]] int exit_code() noexcept;
  void signal(int number) const noexcept;

 private:
  pid_t pid_ = 0;
};

}  // namespace redlock::tool
