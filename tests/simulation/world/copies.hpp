// The copies of a lock on one simulated server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/server/keyspace.hpp"
#include "simulation/server/server.hpp"

namespace redlock::simulation {

/// One holder's part of a lock on one node: the lock's key, or what a reader has there.
struct Copy {
  std::string owner;
  std::int64_t expires_ms;  // by the server's clock; -1: never
};

/// One copy, several readers', or none.
[[nodiscard]] std::vector<Copy> copies_on(const Server&, std::string_view lock_key, std::int64_t clock_us);

/// The keys that holders watch: the lock's, and each reader's own.
[[nodiscard]] Keyspace watched_keys_on(const Server&, std::string_view lock_key, std::int64_t clock_us);

/// What there is of a lock on one node.
struct Sight {
  std::vector<Copy> copies;
  Keyspace keys;
  std::string counter;  // with its ttl
};
[[nodiscard]] Sight sight_of(const Server&, std::string_view lock_key, std::int64_t clock_us);

/// Whether readers hold the lock, and a command has let its key live longer than what any of them has. A clock that is set back
/// lets an expired lock live again. The keys of its readers may have been deleted meanwhile. No command did that.
[[nodiscard]] bool lets_outlive_readers(const Sight& before, const Sight& after, std::string_view lock_key,
                                        std::int64_t clock_us);

/// The keys that differ in value or in ttl, or are in one of the two only.
[[nodiscard]] std::vector<std::string> changed_keys(const Keyspace& before, const Keyspace& after);

}  // namespace redlock::simulation
