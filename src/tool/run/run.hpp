// redlock run: a command under a lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "redlock/options.hpp"
#include "tool/exit_code.hpp"
#include "tool/nodes.hpp"
#include "tool/run/progress.hpp"

namespace redlock::tool {

struct RunArguments {
  NodeChoice nodes;
  std::vector<std::string> resources;  ///< Of which all locks are taken, or none.
  std::vector<std::string> command;
  std::chrono::nanoseconds ttl = std::chrono::seconds{30};
  std::chrono::nanoseconds lock_delay{};  ///< For how long nobody gets the lock after a loss.
  std::optional<std::size_t> seats;       ///< Of a semaphore. Empty: a lock.
  bool is_shared = false;                 ///< The command is a reader: others may run beside it.
  bool is_election = false;               ///< The command runs while this candidate leads.
  std::chrono::nanoseconds kill_after = std::chrono::seconds{5};
  std::optional<std::chrono::nanoseconds> wait;  ///< Zero: one attempt. Empty: no time limit.
  /// How long to wait for a majority of nodes, if the missing ones have said when they vote again. Empty: no limit but a
  /// positive `wait`.
  std::optional<std::chrono::nanoseconds> node_wait;
  std::optional<Order> order;           ///< Empty: `fifo`, if the nodes grant the rights for it.
  std::chrono::nanoseconds at_least{};  ///< For how long the lock stays taken at least.
  int conflict_code = conflict;
  Verbosity verbosity = Verbosity::normal;
  std::string label;       ///< Empty: host, process and the name of the command.
  bool revocable = false;  ///< Ends the command when somebody asks for the lock.
  bool clean_env = false;  ///< Hide from the command how to reach the nodes.
  std::string metrics;     ///< The metrics file. Empty: none.
};

struct Ending {
  int code = success;
  int signal = 0;  ///< The signal to die by, so that a calling shell stops its script; 0: none.
  /// The command was terminated, because its lock or its watchdog was lost or somebody asked for the lock, and no signal asked
  /// to end.
  bool was_terminated = false;
  bool was_asked = false;  ///< Somebody asked for the lock.
};

class SignalForwarder;

/// Runs the command under the lock. The signals end the wait for the lock, and are forwarded to the command. Writes to
/// stderr why the command was terminated, if it was. Throws `redlock::Error` or `std::system_error` if the lock cannot be
/// taken or the command cannot be run.
[[nodiscard]] Ending run(const RunArguments&, SignalForwarder&);
/// The same with signals of its own.
[[nodiscard]] Ending run(const RunArguments&);

}  // namespace redlock::tool
