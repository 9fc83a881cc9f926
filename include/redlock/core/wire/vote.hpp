// Replies read as votes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Three outcomes, not two: what is unknown never counts as a yes and is never taken for a no.
struct Vote {
  enum class Kind : std::uint8_t { yes, no, unknown };

  Kind kind = Kind::unknown;
  Trouble trouble;  // unknown only
};

/// The answer to `SET key owner NX PX ttl`: yes where it was set, no where the key existed.
[[nodiscard]] inline Vote vote_of_set(const Reply& reply) {
  if (reply.is(Reply::Kind::status) && reply.text == "OK") return {Vote::Kind::yes, {}};
  if (reply.is(Reply::Kind::nil)) return {Vote::Kind::no, {}};
  return {Vote::Kind::unknown, trouble_of(reply, "an answer to SET")};
}

/// Lua counts exactly up to here.
inline constexpr std::int64_t greatest_counter = (std::int64_t{1} << 53) - 1;

/// The answer of `grant_script`: yes with the counter where it was set, no with the key's owner and ttl where it
/// existed.
struct Grant {
  Vote vote;
  std::uint64_t counter = 0;
  std::optional<std::string> owner;
  std::optional<std::chrono::milliseconds> ttl;
};
[[nodiscard]] inline Grant read_grant(const Reply& reply) {
  Grant grant;
  const auto& parts = reply.elements;
  if (reply.is(Reply::Kind::integer) && reply.integer > 0 && reply.integer <= greatest_counter) {
    grant.vote.kind = Vote::Kind::yes;
    grant.counter = static_cast<std::uint64_t>(reply.integer);
  } else if (reply.is(Reply::Kind::array) && parts.size() == 2 && parts[0].is(Reply::Kind::string) &&
             parts[1].is(Reply::Kind::integer)) {
    grant.vote.kind = Vote::Kind::no;
    grant.owner = parts[0].text;
    if (parts[1].integer >= 0) grant.ttl = std::chrono::milliseconds{parts[1].integer};
  } else {
    grant.vote.trouble = trouble_of(reply, "an answer to a grant");
  }
  return grant;
}

/// The answer of a script that compares the owner value first: yes where it was ours, no where it was not. A
/// key of another type cannot hold our value: the caller decides whether that is a no.
[[nodiscard]] inline Vote vote_of_script(const Reply& reply) {
  if (reply.is(Reply::Kind::integer) && reply.integer == 1) return {Vote::Kind::yes, {}};
  if (reply.is(Reply::Kind::integer) && (reply.integer == 0 || reply.integer == -1))
    return {Vote::Kind::no, {}};
  return {Vote::Kind::unknown, trouble_of(reply, "an answer of the script")};
}
/// The same, where that is one.
[[nodiscard]] inline Vote vote_on_owner(const Reply& reply) {
  Vote vote = vote_of_script(reply);
  if (vote.trouble.status == NodeStatus::wrong_type) vote = {Vote::Kind::no, {}};
  return vote;
}

}  // namespace redlock::inline v1::core
