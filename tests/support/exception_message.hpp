// The message of an exception.
#pragma once

#include <exception>
#include <string>

namespace redlock::testing {

/// The message of the exception that a call throws: `REQUIRE_THAT(exception_message([&] { locks.lock("r");
/// }), contains("quorum"))`.
template <class Call>
std::string exception_message(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace redlock::testing
