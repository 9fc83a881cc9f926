// What an exception says.
#pragma once

#include <exception>
#include <string>

namespace redlock::testing {

/// The text of what a call throws: `REQUIRE_THAT(message_of([&] { locks.lock("r"); }), contains("quorum"))`.
template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace redlock::testing
