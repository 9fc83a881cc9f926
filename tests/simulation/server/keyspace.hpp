// The data of a simulated server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "simulation/server/sorted_set.hpp"

namespace redlock::simulation {

struct Entry {
  enum class Type : std::uint8_t { string, list, set, sorted_set };

  std::string value = {};        // for a list: one byte per element, as no command reads elements
  std::int64_t expires_ms = -1;  // by the server's wall clock; -1: never
  Type type = Type::string;
  SortedSet members = {};  // of a set, too: there all scores are 0

  [[nodiscard]] bool is(Type other) const noexcept { return type == other; }
  /// A key still exists in its last millisecond.
  [[nodiscard]] bool expired(std::int64_t now_ms) const noexcept {
    return expires_ms >= 0 && now_ms > expires_ms;
  }
  bool operator==(const Entry&) const = default;
};

/// A copy is a snapshot.
using Keyspace = std::map<std::string, Entry, std::less<>>;

}  // namespace redlock::simulation
