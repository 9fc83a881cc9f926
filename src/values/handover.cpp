#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"
#include "redlock/error.hpp"
#include "redlock/lease.hpp"

namespace redlock {
inline namespace v1 {
namespace {

constexpr std::string_view prefix = "redlock-handover-1:";

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) core::append_hex(text, static_cast<unsigned char>(byte));
  return text;
}

template <class Number>
std::optional<Number> number_of(std::string_view digits, int base) {
  Number number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const auto byte = number_of<std::uint8_t>(hex.substr(at, 2), 16);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

/// Cuts off the text up to the next colon.
std::string_view take_field(std::string_view& rest) {
  const std::string_view field = rest.substr(0, rest.find(':'));
  rest.remove_prefix(std::min(field.size() + 1, rest.size()));
  return field;
}

}  // namespace

std::string Handover::to_string() const {
  return std::string{prefix} + std::to_string(token.value()) + ':' + hex_of(resource) + ':' +
         hex_of(owner_value);
}

Handover Handover::parse(std::string_view text) {
  std::string_view rest = text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view{};
  const auto token = number_of<std::uint64_t>(take_field(rest), 10);
  const auto resource = bytes_of(take_field(rest));
  const auto owner_value = bytes_of(rest);
  if (!token || !resource || resource->empty() || !owner_value || owner_value->empty())
    throw Error{Errc::invalid_argument,
                "this is no handover; allowed: the text that Handover::to_string returns, which begins with "
                "redlock-handover-1:"};
  return {*resource, *owner_value, FencingToken{*token}};
}

}  // namespace v1
}  // namespace redlock
