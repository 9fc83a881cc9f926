// Random words of commands, including invalid ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "simulation/conformance/random_source.hpp"

namespace redlock::simulation {

/// Few keys, so that commands affect each other. One is empty, and one is not text.
inline constexpr std::size_t key_count = 11;
/// The keys of a waiting line: who waits since when, who is alive until when, and the name of the line.
inline constexpr std::string_view line_key = "redlock:qo:{lock}";
inline constexpr std::string_view alive_key = "redlock:qa:{lock}";
inline constexpr std::string_view born_key = "redlock:qb:{lock}";
/// The set of a lock's readers. Only calls of readers use it and the keys whose names begin with it.
inline constexpr std::string_view readers_key = "redlock:s:{lock}";
[[nodiscard]] std::string key_name(std::size_t number);
[[nodiscard]] std::string any_key(RandomSource&);

/// Mostly a key that holds a sorted set; often one that no other command uses.
[[nodiscard]] std::string any_sorted_key(RandomSource&);

/// Texts, numbers at the limits of integers and doubles, and texts that look like numbers.
[[nodiscard]] std::string any_value(RandomSource&);
/// A ttl in milliseconds that outlasts the comparison, so that the result does not depend on its duration.
[[nodiscard]] std::string long_life(RandomSource&);
/// Sometimes an invalid ttl, or one at the limits.
[[nodiscard]] std::string any_life(RandomSource&);
[[nodiscard]] std::string any_index(RandomSource&);
/// Few members and scores, so that many have the same score.
[[nodiscard]] std::string any_member(RandomSource&);
[[nodiscard]] std::string any_score(RandomSource&);
/// Of a member in its set.
[[nodiscard]] std::string any_place(RandomSource&);
/// An end of a range of scores.
[[nodiscard]] std::string any_bound(RandomSource&);
inline constexpr std::size_t channel_count = 6;
[[nodiscard]] std::string channel_name(std::size_t number);
[[nodiscard]] std::string any_channel(RandomSource&);
[[nodiscard]] std::string any_owner(RandomSource&);
/// Token proposals and counters: near the clock, far from it, or invalid.
[[nodiscard]] std::string any_proposal(RandomSource&, std::int64_t now_us);
/// The word in mixed case.
[[nodiscard]] std::string any_case(RandomSource&, std::string word);

}  // namespace redlock::simulation
