// What a process needs, over time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/judge/trace.hpp"

namespace redlock::chaos {

/// What a process had at a time.
struct Footprint {
  Instant at = 0;
  std::int64_t memory = 0;  // KiB that are resident and backed by no file
  int descriptors = 0;
};

/// Reads it from /proc. Empty if there is no such process.
[[nodiscard]] std::optional<Footprint> footprint_of(pid_t process);

/// The medians of the second and of the last quarter of a run: what is needed for a while, and what is filled or loaded
/// once, does not count.
struct Growth {
  Footprint early;
  Footprint late;
};
[[nodiscard]] Growth growth_of(const std::vector<Footprint>& seen);

[[nodiscard]] std::string text_of(const Growth&);
/// Whether memory or descriptors have grown by more than they may in a run of any length.
[[nodiscard]] bool has_leaked(const Growth&);

}  // namespace redlock::chaos
