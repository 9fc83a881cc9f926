// A parsed RESP2 reply.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::inline v1::core {

struct Reply {
  enum class Kind : std::uint8_t { nil, status, error, integer, string, array };

  Kind kind = Kind::nil;
  long long integer = 0;
  std::string text;             // status, error, string
  std::vector<Reply> elements;  // array

  [[nodiscard]] bool is(Kind wanted) const noexcept { return kind == wanted; }
};

}  // namespace redlock::inline v1::core
