// What the text of an endpoint and its TLS parameters have in common.
#pragma once

#include <string>
#include <string_view>

#include "redlock/core/base/percent.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {

/// Messages never quote the text: any part of a malformed endpoint may be the password.
[[noreturn]] inline void refuse_endpoint(const std::string& why) {
  throw Error(Errc::invalid_argument, "endpoint: " + why);
}

[[nodiscard]] inline std::string decoded_part(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());  // at once: memory that is given back may contain a password
  if (!core::append_percent_decoded(bytes, text))
    refuse_endpoint("'%' must be followed by two hex digits; write a percent sign as %25");
  return bytes;
}

}  // namespace redlock::inline v1::detail
