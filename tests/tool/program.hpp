// A program that runs beside a test, and what it prints.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "testing/process_group.hpp"

namespace redlock::testing {

/// Killed, if it is still there, when this object goes or the test process ends.
class Program {
 public:
  struct Ending {
    int code = 0;        ///< 128 and its number when a signal ended it.
    std::string output;  ///< Its stdout.
    std::string errors;  ///< Its stderr.
  };

  /// Starts it at once. `variables`: `NAME=value` for its environment.
  explicit Program(std::vector<std::string> words, const std::vector<std::string>& variables = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return pid_; }
  void signal(int number) const;  ///< To this one process.
  [[nodiscard]] bool is_running() const;
  Ending wait();
  [[nodiscard]] std::string output() const;  ///< So far.

 private:
  detail::ProcessGroup group_;
  pid_t pid_ = 0;
};

/// The command `redlock` that was built with these tests: `tool({"run", …}, nodes)`. `urls` go into REDLOCK_NODES.
[[nodiscard]] std::vector<std::string> tool(std::vector<std::string> arguments);
[[nodiscard]] std::string nodes_variable(const std::vector<std::string>& urls);
/// Runs it to its end.
Program::Ending run_tool(std::vector<std::string> arguments, const std::vector<std::string>& urls = {});

}  // namespace redlock::testing
