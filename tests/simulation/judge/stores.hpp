// The value that lock holders read, change and write back.
#pragma once

#include <algorithm>
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

  /// A read of the writer makes smaller tokens stale, as a write does: it relies on the value that it has seen.
  Seen read(std::uint64_t token) {
    Seen seen{fenced_version, unfenced_version, is_stale(token)};
    if (!seen.refused) highest_token = token;
    return seen;
  }
  /// Tokens of readers have no order among each other. They make those of earlier writers stale.
  Seen read_shared(std::uint64_t token) {
    Seen seen{fenced_version, unfenced_version, token == 0 || token < highest_token};
    if (!seen.refused) highest_reader = std::max(highest_reader, token);
    return seen;
  }
  /// Counts readers that see two versions.
  void read_again(std::uint64_t token, const Seen& first) {
    torn_unfenced += first.unfenced == unfenced_version ? 0 : 1;
    if (!first.refused && !read_shared(token).refused) torn_fenced += first.fenced == fenced_version ? 0 : 1;
  }
  enum class Written : std::uint8_t { accepted, refused };
  /// Counts versions that are overwritten unseen.
  Written write(std::uint64_t token, const Seen& seen) {
    lost_unfenced += seen.unfenced == unfenced_version ? 0 : 1;
    ++unfenced_version;
    if (seen.refused || is_stale(token)) return Written::refused;
    highest_token = token;
    lost_fenced += seen.fenced == fenced_version ? 0 : 1;
    ++fenced_version;
    return Written::accepted;
  }

  [[nodiscard]] bool is_stale(std::uint64_t writers_token) const noexcept {
    return writers_token == 0 || writers_token < std::max(highest_token, highest_reader);
  }

  std::uint64_t highest_token = 0;  // of writers
  std::uint64_t highest_reader = 0;
  std::uint64_t fenced_version = 0;
  std::uint64_t unfenced_version = 0;
  std::uint64_t lost_fenced = 0;
  std::uint64_t lost_unfenced = 0;
  std::uint64_t torn_fenced = 0;
  std::uint64_t torn_unfenced = 0;
};

}  // namespace redlock::simulation
