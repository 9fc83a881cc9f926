// The value that lock holders read, change and write back.
#pragma once

#include <cstdint>

namespace redlock::simulation {

/// Two copies of one value. The fenced one checks the fencing token and refuses smaller ones than it has seen. The unfenced one
/// accepts every write. Each write names the version on which it is based.
struct Stores {
  struct Seen {
    std::uint64_t fenced = 0;  // versions
    std::uint64_t unfenced = 0;
    bool refused = false;  // the fenced store refused the read: no token, or an old one
  };

  /// A read makes smaller tokens stale, as a write does: the reader relies on the value that it has seen.
  Seen read(std::uint64_t token) {
    Seen seen{fenced_version, unfenced_version, token == 0 || token < highest_token};
    if (!seen.refused) highest_token = token;
    return seen;
  }
  enum class Written : std::uint8_t { accepted, refused };
  /// Counts versions that are overwritten unseen.
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
