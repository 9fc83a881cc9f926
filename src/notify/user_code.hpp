// Runs the user's callbacks.
#pragma once

#include <exception>
#include <string_view>

namespace redlock::inline v1::detail {

/// Runs `call`. If it throws, passes a description of the exception to `complain`.
template <class Call, class Complain>
void run_user_code(const Call& call, const Complain& complain) {
  try {
    call();
  } catch (const std::exception& error) {
    complain(std::string_view{error.what()});
  } catch (...) {
    complain(std::string_view{"an exception that is not a std::exception"});
  }
}

}  // namespace redlock::inline v1::detail
