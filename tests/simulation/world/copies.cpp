#include "simulation/world/copies.hpp"

#include <algorithm>

#include "redlock/core/wire/keys.hpp"

namespace redlock::simulation {
namespace {

/// Of two times of which -1 means never.
std::int64_t first_of(std::int64_t one, std::int64_t other) {
  if (one < 0 || other < 0) return std::max(one, other);
  return std::min(one, other);
}

/// Whether readers hold the lock, and its key lives longer than what any of them has.
bool outlives_readers(const Sight& sight, std::string_view lock_key, std::int64_t clock_us) {
  const auto lock = sight.keys.find(lock_key);
  if (lock == sight.keys.end() || lock->second.value != core::held_by_readers) return false;
  // A reader in its last millisecond keeps the lock for one more.
  const std::int64_t latest = lock->second.expires_ms - 1;
  const auto ends_as_late = [latest](const Copy& copy) { return copy.expires_ms >= latest; };
  return latest > clock_us / 1000 && std::ranges::none_of(sight.copies, ends_as_late);
}

}  // namespace

std::vector<Copy> copies_on(const Server& server, std::string_view lock_key, std::int64_t clock_us) {
  const Entry* const lock = server.find(lock_key, clock_us);
  if (!lock) return {};
  if (lock->value != core::held_by_readers) return {{lock->value, lock->expires_ms}};
  std::vector<Copy> copies;
  const Entry* const readers = server.find(core::readers_key(lock_key), clock_us);
  if (!readers) return {};
  for (const SortedSet::Member& reader : readers->members.members())
    if (const Entry* const own = server.find(core::reader_key(lock_key, reader.name), clock_us))
      copies.push_back(
          {own->value, first_of(own->expires_ms, first_of(lock->expires_ms, readers->expires_ms))});
  return copies;
}

Keyspace watched_keys_on(const Server& server, std::string_view lock_key, std::int64_t clock_us) {
  Keyspace keys;
  const auto add = [&](const std::string& key) {
    if (const Entry* const entry = server.find(key, clock_us)) keys.emplace(key, *entry);
  };
  add(std::string{lock_key});
  const std::string own = core::reader_key(lock_key, "");
  const Keyspace& all = server.keys();
  for (auto key = all.lower_bound(own); key != all.end() && key->first.starts_with(own); ++key)
    add(key->first);
  return keys;
}

Sight sight_of(const Server& server, std::string_view lock_key, std::int64_t clock_us) {
  const Entry* const counter = server.find(core::counter_key(lock_key), clock_us);
  return {copies_on(server, lock_key, clock_us), watched_keys_on(server, lock_key, clock_us),
          counter ? counter->value + ' ' + std::to_string(counter->expires_ms) : std::string{}};
}

bool lets_outlive_readers(const Sight& before, const Sight& after, std::string_view lock_key,
                          std::int64_t clock_us) {
  if (!outlives_readers(after, lock_key, clock_us)) return false;
  const auto expires_ms = [lock_key](const Sight& sight) {
    return sight.keys.find(lock_key)->second.expires_ms;
  };
  return !outlives_readers(before, lock_key, clock_us) || expires_ms(after) > expires_ms(before);
}

std::vector<std::string> changed_keys(const Keyspace& before, const Keyspace& after) {
  std::vector<std::string> changed;
  for (const auto& [key, entry] : before) {
    const auto now = after.find(key);
    if (now == after.end() || now->second.value != entry.value || now->second.expires_ms != entry.expires_ms)
      changed.push_back(key);
  }
  for (const auto& [key, entry] : after)
    if (!before.contains(key)) changed.push_back(key);
  return changed;
}

}  // namespace redlock::simulation
