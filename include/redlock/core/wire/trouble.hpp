// Why a node does not vote, and how error replies map to such reasons.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

struct Trouble {
  NodeStatus status = NodeStatus::unreachable;
  std::string message;
  /// For `quarantined`: after how long the node votes again, at the earliest; none if that depends on people.
  std::optional<std::chrono::milliseconds> votes_in = {};
};

namespace detail {
inline constexpr std::array<std::pair<std::string_view, NodeStatus>, 12> error_codes{{
    {"LOADING", NodeStatus::loading},
    {"BUSY", NodeStatus::busy},
    {"OOM", NodeStatus::out_of_memory},
    {"MISCONF", NodeStatus::not_persisting},
    {"NOAUTH", NodeStatus::auth_required},
    {"WRONGPASS", NodeStatus::wrong_password},
    {"NOPERM", NodeStatus::no_permission},
    {"READONLY", NodeStatus::read_only},
    {"WRONGTYPE", NodeStatus::wrong_type},
    {"MASTERDOWN", NodeStatus::replica},
    {"BADCOUNTER", NodeStatus::bad_counter},
    {"UNMARKED", NodeStatus::quarantined},
}};

inline NodeStatus status_of_code(std::string_view code) noexcept {
  for (const auto& [name, status] : error_codes)
    if (code == name) return status;
  return NodeStatus::server_error;
}
}  // namespace detail

/// Returns true if the server does not know a script. That is not a vote; the caller sends the script's source.
[[nodiscard]] inline bool is_noscript(const Reply& reply) noexcept {
  return reply.is(Reply::Kind::error) && reply.text.starts_with("NOSCRIPT");
}

/// Returns true if a grant script found no marker of this deployment, or a quarantine.
[[nodiscard]] inline bool is_unmarked(const Reply& reply) noexcept {
  return reply.is(Reply::Kind::error) && reply.text.starts_with("UNMARKED");
}

/// The trouble of a node that waits because it may have forgotten locks. `beginning`: since when.
[[nodiscard]] inline Trouble trouble_of_quarantine(std::chrono::milliseconds left,
                                                   const std::string& beginning) {
  return {NodeStatus::quarantined, beginning + ", votes again in " + readable(left), left};
}

/// The trouble for the reply of a grant script to which `is_unmarked` applies. It contains the quarantine's PTTL. That is
/// -2 if the marker is missing or another one, and -1 if the quarantine has no ttl; the client is about to read both.
[[nodiscard]] inline Trouble trouble_of_unmarked(const Reply& reply) {
  long long pttl = -2;
  constexpr std::string_view before = "UNMARKED ";
  const std::string_view text =
      std::string_view{reply.text}.substr(std::min(before.size(), reply.text.size()));
  std::from_chars(text.data(), text.data() + text.size(), pttl);
  if (pttl >= 0)
    return trouble_of_quarantine(
        std::min<std::chrono::milliseconds>(std::chrono::milliseconds{pttl}, longest_believed),
        "restarted or lost its data");
  if (pttl == -1) return {NodeStatus::quarantined, "its quarantine has no ttl"};
  return {NodeStatus::quarantined, "its marker is missing or another one, and is to be read again",
          std::chrono::milliseconds::zero()};
}

/// Maps an error reply to a trouble. The error code is the first word. Servers before 7.0 wrap the error of a command
/// inside a script (`ERR Error running script (…): @user_script:1: OOM …`); for these, each word that follows a colon
/// is tried as well. If an ACL forbids a command inside a script, the reply has a sentence instead of a code. The
/// sentence changed after 7.0, so both are recognized.
[[nodiscard]] inline Trouble trouble_of_error(std::string_view text) {
  NodeStatus status = detail::status_of_code(text.substr(0, text.find(' ')));
  if (status == NodeStatus::server_error && text.starts_with("ERR Error running script"))
    for (auto at = text.find(": "); at != text.npos && status == NodeStatus::server_error;
         at = text.find(": ", at + 2)) {
      std::string_view word = text.substr(at + 2, text.find(' ', at + 2) - at - 2);
      if (word.starts_with('-')) word.remove_prefix(1);
      status = detail::status_of_code(word);
    }
  for (const std::string_view refusal : {"The user executing the script can't ", "ACL failure in script: "})
    if (status == NodeStatus::server_error && text.find(refusal) != text.npos)
      status = NodeStatus::no_permission;
  return {status, std::string{text}};
}

/// The trouble for a reply that the command cannot have: an error, or a reply of the wrong type.
[[nodiscard]] inline Trouble trouble_of(const Reply& reply, std::string_view expected) {
  if (is_unmarked(reply)) return trouble_of_unmarked(reply);
  if (reply.is(Reply::Kind::error)) return trouble_of_error(reply.text);
  // Not operator+: g++ 14 mistakes the move of its result for a copy past the end, and warns.
  return {NodeStatus::protocol_error, std::string{"the reply is not "}.append(expected)};
}

}  // namespace redlock::inline v1::core
