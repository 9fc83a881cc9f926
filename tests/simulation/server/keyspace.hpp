// What a simulated server stores.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace redlock::simulation {

struct Entry {
  std::string value;             // a list: one byte for each element, as nobody reads them
  std::int64_t expires_ms = -1;  // by the server's wall clock; -1: never
  bool is_list = false;

  /// Its last millisecond still belongs to it.
  [[nodiscard]] bool expired(std::int64_t now_ms) const noexcept {
    return expires_ms >= 0 && now_ms > expires_ms;
  }
  bool operator==(const Entry&) const = default;
};

/// A copy is a snapshot.
using Keyspace = std::map<std::string, Entry, std::less<>>;

}  // namespace redlock::simulation
