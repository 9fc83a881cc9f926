// Runs a program during a test and captures its output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "testing/process_group.hpp"

namespace redlock::testing {

/// The program is killed when this object is destroyed or the test process ends.
class Program {
 public:
  struct Ending {
    int code = 0;        ///< The exit code, or 128 plus the number of the signal that ended the program.
    std::string output;  ///< stdout
    std::string errors;  ///< stderr
    bool is_by_signal = false;  ///< A signal ended the program.
  };

  /// Starts the program. `variables`: `NAME=value` for its environment.
  explicit Program(std::vector<std::string> words, const std::vector<std::string>& variables = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return pid_; }
  void signal(int number) const;  ///< Signals only this process.
  [[nodiscard]] bool is_running() const;
  Ending wait();
  [[nodiscard]] std::string output() const;  ///< The output so far.
  [[nodiscard]] std::string errors() const;  ///< The same for stderr.

 private:
  detail::ProcessGroup group_;
  pid_t pid_ = 0;
};

/// Waits until the last line of the output contains the text.
[[nodiscard]] bool last_line_has(const Program&, const std::string& text);

/// The number of child processes.
[[nodiscard]] std::size_t children_of(pid_t process);

/// The words of a call of the command `redlock` that was built with these tests: `tool({"run", …})`.
[[nodiscard]] std::vector<std::string> tool(std::vector<std::string> arguments);
[[nodiscard]] std::string nodes_variable(const std::vector<std::string>& urls);
/// Words that run the program that follows them as a user without rights, if this one is root: the kernel then says by the
/// owner of /proc/ID/environ whether that program leaves core dumps. Empty if this user is not root.
[[nodiscard]] std::vector<std::string> without_rights();
/// Runs `redlock` to its end, with `urls` in REDLOCK_NODES.
Program::Ending run_tool(std::vector<std::string> arguments, const std::vector<std::string>& urls = {});

}  // namespace redlock::testing
