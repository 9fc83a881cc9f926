// Interprets replies as votes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// A node's vote. *Unknown* counts neither as a yes nor as a no.
struct Vote {
  enum class Kind : std::uint8_t { yes, no, unknown };

  Kind kind = Kind::unknown;
  Trouble trouble;  // only for unknown
};

/// Reads the reply to `SET key owner NX PX ttl`: yes if the key was set, no if it existed already.
[[nodiscard]] inline Vote vote_of_set(const Reply& reply) {
  if (reply.is(Reply::Kind::status) && reply.text == "OK") return {Vote::Kind::yes, {}};
  if (reply.is(Reply::Kind::nil)) return {Vote::Kind::no, {}};
  return {Vote::Kind::unknown, trouble_of(reply, "a valid answer to SET")};
}

/// The largest integer below which Lua's numbers, which are doubles, are exact.
inline constexpr std::int64_t greatest_counter = (std::int64_t{1} << 53) - 1;

/// The reply of `grant_script`: yes with the counter if the key was set, no with the key's owner and ttl if it existed
/// already.
struct Grant {
  Vote vote;
  std::uint64_t counter = 0;
  std::optional<std::string> owner;
  std::optional<Span> ttl;
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
    // Without an owner, the ttl is that of the flag.
    if (parts[0].text.empty() && parts[1].integer >= 0) {
      grant.vote.trouble.message = "others stand in line for it";
      return grant;
    }
    grant.owner = parts[0].text;
    if (parts[1].integer >= 0) grant.ttl = span_of(std::chrono::milliseconds{parts[1].integer});
  } else {
    grant.vote.trouble = trouble_of(reply, "a valid answer to a lock request");
  }
  return grant;
}

/// Reads the reply of a script that compares the owner value first: yes if the value was ours, no if not. A key of
/// another type gives *unknown*; `vote_on_owner` treats it as a no, because such a key cannot hold our value.
[[nodiscard]] inline Vote vote_of_script(const Reply& reply) {
  if (reply.is(Reply::Kind::integer) && reply.integer == 1) return {Vote::Kind::yes, {}};
  if (reply.is(Reply::Kind::integer) && (reply.integer == 0 || reply.integer == -1))
    return {Vote::Kind::no, {}};
  return {Vote::Kind::unknown, trouble_of(reply, "a valid answer of the script")};
}
/// Returns true if a node did not confirm a fencing token because the token is too far ahead of the node's clock.
[[nodiscard]] inline bool refuses_token(const Reply& reply) noexcept {
  return reply.is(Reply::Kind::integer) && reply.integer == -1;
}
/// Like `vote_of_script`, but a key of another type is a no.
[[nodiscard]] inline Vote vote_on_owner(const Reply& reply) {
  Vote vote = vote_of_script(reply);
  if (vote.trouble.status == NodeStatus::wrong_type) vote = {Vote::Kind::no, {}};
  return vote;
}

}  // namespace redlock::inline v1::core
