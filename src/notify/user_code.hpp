// Code that users gave us.
#pragma once

#include <exception>
#include <string_view>

namespace redlock::inline v1::detail {

/// Calls it. `complain` is told what it threw.
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
