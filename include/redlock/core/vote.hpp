// Replies read as votes.
#pragma once

#include <cstdint>
#include <string>

#include "redlock/core/reply.hpp"
#include "redlock/core/trouble.hpp"

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

/// The answer of a script that compares the owner value first: yes where it was ours, no where it was not. A
/// key of another type cannot hold our value: the caller decides whether that is a no.
[[nodiscard]] inline Vote vote_of_script(const Reply& reply) {
  if (reply.is(Reply::Kind::integer) && reply.integer == 1) return {Vote::Kind::yes, {}};
  if (reply.is(Reply::Kind::integer) && reply.integer == 0) return {Vote::Kind::no, {}};
  return {Vote::Kind::unknown, trouble_of(reply, "an answer of the script")};
}

}  // namespace redlock::inline v1::core
