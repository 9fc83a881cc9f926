// What the locks are for: a value that holders read, change and write back.
#pragma once

#include <cstdint>

namespace redlock::simulation {

/// Two copies of one value: one asks for the fencing token, and refuses smaller ones than it has seen; its twin takes
/// every write. Each write says on which version it was based.
struct Stores {
  struct Seen {
    std::uint64_t fenced = 0;  // versions
    std::uint64_t unfenced = 0;
    bool refused = false;  // the fenced one did not let it read, which has no or an old token
  };

  /// A read with a token is what makes smaller ones stale, as a write is: its reader relies on what it has seen.
  Seen read(std::uint64_t token) {
    Seen seen{fenced_version, unfenced_version, token == 0 || token < highest_token};
    if (!seen.refused) highest_token = token;
    return seen;
  }
  enum class Written : std::uint8_t { accepted, refused };
  /// Counts what is overwritten unseen.
  Written write(std::uint64_t token, const Seen& seen) {
    lost_unfenced += seen.unfenced == unfenced_version ? 0 : 1;
    ++unfenced_version;
    if (seen.refused || token < highest_token) return Written::refused;
    highest_token = token;
    lost_fenced += seen.fenced == fenced_version ? 0 : 1;
    ++fenced_version;
    return Written::accepted;
  }

  std::uint64_t highest_token = 0;
  std::uint64_t fenced_version = 0;
  std::uint64_t unfenced_version = 0;
  std::uint64_t lost_fenced = 0;
  std::uint64_t lost_unfenced = 0;
};

}  // namespace redlock::simulation
