// Who stands in line, as a node tells whoever looks from outside.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

/// How many members of a line are shown: the first ones.
inline constexpr std::size_t most_shown_members = 100;

/// Read the members with their scores: of the order, and of those that were heard of least recently. Among the latter are
/// all dead members, unless they are very many.
[[nodiscard]] inline std::string read_order_command(const LineKeys& keys) {
  return command({"ZRANGE", keys.order, "0", std::to_string(most_shown_members - 1), "WITHSCORES"});
}
[[nodiscard]] inline std::string read_alive_command(const LineKeys& keys) {
  return command({"ZRANGE", keys.alive, "0", std::to_string(most_shown_members - 1), "WITHSCORES"});
}

/// None for text that is not a whole number. (libc++ before 20 reads no others with std::from_chars.)
[[nodiscard]] inline std::optional<double> read_whole_number(std::string_view text) {
  long long number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return static_cast<double>(number);
}

/// The time of a node, in microseconds since 1970, as its reply to TIME says; none for another reply.
[[nodiscard]] inline std::optional<double> read_time(const Reply& reply) {
  if (!reply.is(Reply::Kind::array) || reply.elements.size() != 2) return std::nullopt;
  const auto seconds = read_whole_number(reply.elements[0].text);
  const auto microseconds = read_whole_number(reply.elements[1].text);
  if (!seconds || !microseconds) return std::nullopt;
  return *seconds * 1e6 + *microseconds;
}

/// A member of a sorted set. The scores of lines are whole microseconds since 1970.
using ScoredMember = std::pair<std::string_view, double>;

/// Refers to the reply. Empty for another reply than ZRANGE gives; leaves out what is no whole number.
[[nodiscard]] inline std::vector<ScoredMember> read_members(const Reply& reply) {
  std::vector<ScoredMember> members;
  if (!reply.is(Reply::Kind::array)) return members;
  for (std::size_t at = 0; at + 1 < reply.elements.size(); at += 2)
    if (const auto score = read_whole_number(reply.elements[at + 1].text))
      members.emplace_back(reply.elements[at].text, *score);
  return members;
}

/// A member of a line that counts as alive.
struct StandingMember {
  std::string client = {};  // 16 hex digits; empty if another program wrote the name
  std::string label = {};   // in that case the whole name
  Span waited{};

  bool operator==(const StandingMember&) const = default;
};

/// Who this member of a line is. The names of ours are 16 hex digits, a dot and a label.
[[nodiscard]] inline StandingMember read_member(std::string_view name, Span waited) {
  constexpr std::size_t digits = 16;
  if (name.size() <= digits || name.find_first_not_of(lower_hex) != digits || name[digits] != '.')
    return {.label = std::string{name}, .waited = waited};
  return {std::string{name.substr(0, digits)}, std::string{name.substr(digits + 1)}, waited};
}

/// The line that a node has, from its replies to the two commands above and to TIME. Empty if there is none, or if the node
/// did not tell.
[[nodiscard]] inline std::vector<StandingMember> read_line(const Reply& order, const Reply& alive,
                                                           const Reply& time) {
  std::vector<StandingMember> line;
  const std::optional<double> now = read_time(time);
  if (!now) return line;
  const std::vector<ScoredMember> alive_until = read_members(alive);
  for (const auto& [name, score] : read_members(order)) {
    const auto is_dead = [&, member = name](const ScoredMember& each) {
      return each.first == member && each.second <= *now;
    };
    if (std::any_of(alive_until.begin(), alive_until.end(), is_dead)) continue;
    constexpr double longest = 1e15;  // microseconds: a clock that was set
    const std::chrono::duration<double, std::micro> waited{std::clamp(*now - score, 0.0, longest)};
    line.push_back(read_member(name, std::chrono::duration_cast<Span>(waited)));
  }
  return line;
}

}  // namespace redlock::inline v1::core
