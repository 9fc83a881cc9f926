// Errors of system calls.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace redlock::inline v1::detail {

/// Throws the error that `errno` names. `what`: the call, or the file that it failed for.
[[noreturn]] inline void throw_errno(const std::string& what) {
  throw std::system_error{errno, std::system_category(), what};
}

/// The system's text for an error number.
[[nodiscard]] inline std::string error_text(int error) { return std::system_category().message(error); }

}  // namespace redlock::inline v1::detail
