// How the tool ends.
#pragma once

namespace redlock::tool {

/// Documented in redlock(1); those of sysexits.h where one fits. A command that ran to its end gives its own.
enum ExitCode : int {
  success = 0,
  conflict = 1,          ///< Somebody else has the lock; `-E` chooses another.
  usage = 64,            ///< Bad arguments, or nodes that can never vote as they are configured.
  no_quorum = 69,        ///< Too few nodes could be had to take the lock, or to tell who has it.
  internal_error = 70,   ///< The system refused what the tool needs: memory, processes.
  lock_lost = 72,        ///< The command was ended because its lock could not be kept.
  not_executable = 126,  ///< As a shell says it.
  not_found = 127,
  killed_by_signal = 128,  ///< Plus the signal's number.
};

}  // namespace redlock::tool
