// The command's exit codes.
#pragma once

#include <csignal>
#include <cstddef>

#include "redlock/core/base/quorum.hpp"

namespace redlock::tool {

/// Documented in redlock(1). Taken from sysexits.h where one fits. If the command ran to its end under
/// the lock, its exit code is used instead.
enum ExitCode : int {
  success = 0,
  conflict = 1,          ///< Somebody else has the lock (`-E`: another code); or nothing was released.
  degraded = 1,          ///< `nodes`: locks can be had and are safe, but something should be put right.
  unsafe = 2,            ///< `nodes`: no lock can be had, or two may hold the same one.
  usage = 64,            ///< Wrong arguments, or nodes that cannot vote as they are configured.
  no_quorum = 69,        ///< Too few nodes answered to take the lock or to tell who has it.
  internal_error = 70,   ///< The system refused memory, a process or the like.
  lock_lost = 72,        ///< The lock was lost, or the watchdog ended.
  not_written = 74,      ///< The output could not be written.
  not_executable = 126,  ///< As in a shell.
  not_found = 127,
  killed_by_signal = 128,  ///< Plus the signal number.
};

/// The exit code if no majority answered: `usage` if a majority is misconfigured, so that a retry cannot help.
[[nodiscard]] constexpr ExitCode without_majority(std::size_t misconfigured, std::size_t nodes) noexcept {
  return misconfigured >= core::quorum(nodes) ? usage : no_quorum;
}

/// The exit code of a command that watches something until this signal: SIGINT and SIGTERM are its normal end.
[[nodiscard]] constexpr int code_after_watching(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM ? success : killed_by_signal + signal;
}

}  // namespace redlock::tool
