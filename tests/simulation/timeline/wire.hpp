// Names commands and replies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/line/seats.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::simulation {

/// The name of a command in a timeline.
[[nodiscard]] inline std::string name_of_command(const std::vector<std::string_view>& words) {
  constexpr std::string_view names[] = {
      "release", "extend", "grant",        "set",           "confirm",         "put back",
      "swap",    "line",   "grant shared", "extend shared", "put back shared", "release shared"};
  static_assert(std::size(names) == std::size(core::all_scripts));
  const bool whole = words.front() == "EVAL";
  if (words.size() < 2 || (!whole && words.front() != "EVALSHA")) return std::string{words.front()};
  if (words[1] == core::line_script.sha1 && words[7].empty()) return "leave line";
  std::size_t index = 0;
  for (const core::Script* script : core::all_scripts) {
    if (words[1] == (whole ? script->source : script->sha1))
      return std::string{names[index]}.append(whole ? " (whole script)" : "");
    ++index;
  }
  if (words[1] == core::seats_source) return "read seats";
  if (words[1] == core::ask_source) return "ask for the lock";
  if (words[1] == core::break_source()) return "break the lock";
  if (words.size() == 9 && words[1] == core::mark_script) return words[6].empty() ? "look" : "mark";
  return "script";
}

/// The text of a reply in a timeline. Owner values of simulated clients begin with the letter of the client.
[[nodiscard]] inline std::string in_words(std::string_view command, const core::Reply& reply) {
  using ReplyKind = core::Reply::Kind;
  const bool is_yes = reply.integer > 0;
  if (reply.is(ReplyKind::nil)) return "nothing";
  if (reply.is(ReplyKind::error)) return reply.text.substr(0, reply.text.find(' '));
  if (command == "PING") return "pong";
  if (command == "a message") return "message on " + reply.elements[1].text;
  if (reply.is(ReplyKind::array) && (command == "look" || command == "mark")) {
    if (reply.elements[0].text.empty()) return "no marker";
    return reply.elements[1].integer > 0 ? "quarantined" : "marked";
  }
  if (command == "read seats" && reply.is(ReplyKind::array)) {
    const auto free = std::count_if(reply.elements.begin(), reply.elements.end(),
                                    [](const core::Reply& left) { return left.integer == -2; });
    return std::to_string(free) + " of " + std::to_string(reply.elements.size()) + " free";
  }
  if (reply.is(ReplyKind::array) && reply.elements.size() == 2) {
    const std::string& owner = reply.elements[0].text;
    return "held by " + (owner.starts_with("another library") ? "another library" : owner.substr(0, 1));
  }
  if (command.ends_with("line") && reply.is(ReplyKind::array) && reply.elements.size() == 5) {
    const std::string length = std::to_string(reply.elements[1].integer);
    const std::int64_t rank = reply.elements[0].integer;
    return rank < 0 ? length + " in line" : std::to_string(rank + 1) + " of " + length + " in line";
  }
  if (reply.is(ReplyKind::array)) return "...";
  if (!reply.is(ReplyKind::integer)) return reply.text.substr(0, 12);
  if (command.starts_with("grant")) return "granted " + std::to_string(reply.integer);
  if (command.starts_with("release")) return is_yes ? "released" : "nothing there";
  if (command.starts_with("confirm")) return is_yes ? "confirmed" : "not confirmed";
  if (command.starts_with("extend")) return is_yes ? "extended" : "not extended";
  return std::to_string(reply.integer);
}

}  // namespace redlock::simulation
