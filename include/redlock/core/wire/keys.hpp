// The names of the keys that belong to a lock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::inline v1::core {

/// Returns true if Redis Cluster hashes only a part of this key.
[[nodiscard]] inline bool has_hash_tag(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return false;
  const std::size_t close = key.find('}', open);
  return close != std::string_view::npos && close > open + 1;
}

/// The companion of one kind for `key`: `redlock:f:{stock}` for the kind `f` and the key `stock`. No two keys share a
/// companion. Redis Cluster keeps both in one slot. Exception: a key with a `}` and no hash tag, for which no companion
/// in the same slot exists.
[[nodiscard]] inline std::string companion_key(std::string_view kind, std::string_view key) {
  constexpr std::string_view prefix = "redlock:";
  std::string companion;
  companion.reserve(prefix.size() + kind.size() + key.size() + 3);
  const bool is_tagged = has_hash_tag(key);
  const std::string_view opening = is_tagged ? "t:" : ":{";
  companion.append(prefix).append(kind).append(opening).append(key);
  if (!is_tagged) companion += '}';
  return companion;
}

/// The key of a lock's fencing counter.
[[nodiscard]] inline std::string counter_key(std::string_view lock_key) {
  return companion_key("f", lock_key);
}

/// The flag that keeps newcomers behind those who wait for the lock. On all nodes.
[[nodiscard]] inline std::string flag_key(std::string_view lock_key) { return companion_key("qw", lock_key); }

/// An owner value begins with the id of the holder, of so many hex digits.
inline constexpr std::size_t id_size = 16;
[[nodiscard]] inline std::string_view holder_id(std::string_view owner) noexcept {
  return owner.substr(0, id_size);
}

/// Ends the owner value if the lock is that of an election, so that people see it.
inline constexpr std::string_view leader_mark = " leader";

/// Scripts and reads return so many bytes of one.
inline constexpr std::size_t longest_owner = 1024;
/// Nobody owns a lock with a value that begins like the library's own.
[[nodiscard]] inline bool may_be_owner(std::string_view value) noexcept {
  return !value.empty() && value.size() <= longest_owner && !value.starts_with("redlock:");
}

/// The set of the ids of a lock's readers.
[[nodiscard]] inline std::string readers_key(std::string_view lock_key) {
  return companion_key("s", lock_key);
}
/// What a reader has of its own: its owner value.
[[nodiscard]] inline std::string reader_key(std::string_view lock_key, std::string_view id) {
  return readers_key(lock_key).append(":").append(id);
}
/// The value of the lock's own key while readers hold it.
inline constexpr std::string_view held_by_readers = "redlock:shared";

/// A semaphore with n seats is n locks: the seats of `gpu` are the locks `gpu#0` to `gpu#(n-1)`, and whoever holds one of
/// them has a permit. So every minority of the nodes may be gone, whatever n is. Calls that wait for any seat stand in the
/// line `gpu#`.
///
/// (To count the holders of one key instead would need more nodes for each permit: with two permits, three holders can only be
/// refused if every three of their quorums meet on one node.)
[[nodiscard]] inline std::string line_of_seats(std::string_view key) { return std::string{key} + '#'; }
[[nodiscard]] inline std::string seat_key(std::string_view line_key, std::size_t seat) {
  return std::string{line_key} + std::to_string(seat);
}

inline constexpr std::size_t most_seats = 1000;

/// A key that may be the one of a seat: of a semaphore that has a name.
struct SeatKey {
  std::string_view line_key;
  std::size_t seat = 0;
};
[[nodiscard]] inline std::optional<SeatKey> seat_of(std::string_view key) noexcept {
  const std::size_t line_size = key.find_last_not_of("0123456789") + 1;
  const std::string_view digits = key.substr(line_size);
  if (line_size < 2 || key[line_size - 1] != '#' || digits.empty() || digits.size() > 3) return std::nullopt;
  std::size_t seat = 0;
  for (const char digit : digits) seat = 10 * seat + static_cast<std::size_t>(digit - '0');
  return SeatKey{key.substr(0, line_size), seat};
}

}  // namespace redlock::inline v1::core
