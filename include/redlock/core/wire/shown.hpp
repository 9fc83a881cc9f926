// Reads of the keys of a lock.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/vote.hpp"

namespace redlock::inline v1::core {

/// Reads the beginning of an owner value: as much as any of this library has. A data key with that name may be huge.
[[nodiscard]] inline std::string read_owner_command(std::string_view key) {
  return command({"GETRANGE", key, "0", "1023"});
}

/// Reads the fencing counter of a lock, and a byte more than the greatest one has.
[[nodiscard]] inline std::string read_counter_command(std::string_view lock_key) {
  return command({"GETRANGE", counter_key(lock_key), "0", "16"});
}
/// What that shows. Returns none for another value: acquisitions report such a counter.
[[nodiscard]] inline std::optional<std::uint64_t> shown_counter(const Reply& reply) {
  std::uint64_t value = 0;
  const std::string& text = reply.text;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  // A longer text was cut off and may look like a number.
  const bool is_counter = reply.is(Reply::Kind::string) && is_number && value <= greatest_counter;
  return is_counter ? std::optional{value} : std::nullopt;
}

}  // namespace redlock::inline v1::core
