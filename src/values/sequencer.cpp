#include "redlock/fencing/sequencer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/base/percent.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace {

constexpr std::string_view beginning = "redlock1";
constexpr std::uint64_t greatest_token = (std::uint64_t{1} << 53U) - 2;
constexpr std::size_t longest_resource = 4096;
constexpr std::size_t id_digits = 16;

[[noreturn]] void refuse(std::string_view what, std::string_view given, std::string_view allowed) {
  throw Error{Errc::invalid_argument, std::string{what} + " \"" + core::printable(given, 60) +
                                          "\"; allowed: " + std::string{allowed}};
}

/// Returns none if the text is not what `percent_encoded` makes.
std::optional<std::string> decoded(std::string_view text) {
  std::string bytes;
  if (!core::append_percent_decoded(bytes, text) || core::percent_encoded(bytes) != text) return std::nullopt;
  return bytes;
}

/// The version, the kind, the token, the id and the resource.
using Parts = std::array<std::string_view, 5>;

Parts parts_of(std::string_view text) {
  Parts fields;
  std::string_view rest = text;
  for (std::size_t which = 0; which < fields.size(); ++which) {
    const std::size_t end = rest.find(';');
    if ((end == rest.npos) != (which + 1 == fields.size())) fields[0] = {};
    fields[which] = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  if (fields[0] != beginning)
    refuse("this is not a sequencer:", text,
           "the text that Sequencer::to_string returns, as in redlock1;x;4711;0123456789abcdef;invoice%2F42");
  return fields;
}

bool shared_of(std::string_view kind) {
  if (kind != "x" && kind != "s") refuse("the sequencer is of the kind", kind, "x (exclusive) or s (shared)");
  return kind == "s";
}

FencingToken token_of(std::string_view digits) {
  std::uint64_t token = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), token).ptr;
  if (digits.empty() || end != digits.data() + digits.size() || token > greatest_token ||
      std::to_string(token) != digits)
    refuse("the sequencer has the token", digits,
           "a decimal number without leading zeros, 0 (no token) to " + std::to_string(greatest_token));
  return FencingToken{token};
}

std::string id_of(std::string_view digits) {
  const auto is_digit = [](char c) { return core::lower_hex.find(c) != core::lower_hex.npos; };
  if (digits.size() != id_digits || !std::ranges::all_of(digits, is_digit))
    refuse("the sequencer has the id", digits, "16 hex digits in lower case");
  return std::string{digits};
}

std::string resource_of(std::string_view text) {
  auto resource = decoded(text);
  if (!resource)
    refuse("the sequencer has the resource", text,
           "bytes that are percent-encoded in upper case, except letters, digits, '-', '.', '_' and '~'");
  if (resource->empty() || resource->size() > longest_resource || resource->starts_with("redlock:"))
    refuse("the sequencer has the resource", *resource,
           "1 to " + std::to_string(longest_resource) + " bytes that do not begin with redlock:");
  return std::move(*resource);
}

}  // namespace

Sequencer::Sequencer(bool is_shared, FencingToken token, std::string id, std::string resource) noexcept
    : is_shared_{is_shared}, token_{token}, id_{std::move(id)}, resource_{std::move(resource)} {}

Sequencer Sequencer::parse(std::string_view text) {
  const auto [ours, kind, token, id, resource] = parts_of(text);
  return {shared_of(kind), token_of(token), id_of(id), resource_of(resource)};
}

std::string Sequencer::to_string() const {
  return std::string{beginning} + (is_shared_ ? ";s;" : ";x;") + std::to_string(token_.value()) + ';' + id_ +
         ';' + core::percent_encoded(resource_);
}

std::ostream& operator<<(std::ostream& out, const Sequencer& sequencer) {
  return out << sequencer.to_string();
}

}  // namespace v1
}  // namespace redlock
