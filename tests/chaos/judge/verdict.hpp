// Lets the judge of the simulator check what real processes have written down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/judge/footprint.hpp"
#include "chaos/judge/trace.hpp"
#include "simulation/judge/judge.hpp"

namespace redlock::chaos {

/// What is to be judged.
struct Case {
  simulation::Profile profile = simulation::Profile::within;
  std::vector<std::vector<Entry>> logs;  // by client
  std::vector<int> waiting;              // the clients that stand in line, for one lock
  std::uint64_t lost_fenced = 0;         // accepted writes that were overwritten unseen
  std::uint64_t lost_unfenced = 0;
  bool keeps_deadlines = false;   // whoever writes to the store without tokens, so it loses nothing
  std::vector<std::string> left;  // keys that are left at the end although nobody holds or waits
  std::uint64_t most_open = 0;    // how many descriptors a client may have open
  std::vector<std::vector<Footprint>> footprints;  // by client; empty for those whose memory is not judged
  Instant healed = 0;                              // when all faults were over; 0: they are not
  Instant calm = 0;  // since when their effects are over as well, and lines are in order
  Instant end = 0;   // of the judgement of liveness: until then, each client must have got its lock again
};

struct Verdict {
  std::optional<simulation::Violation> violation;  // the first one
  simulation::Figures figures;
  std::uint64_t losses = 0;
  std::uint64_t late = 0;  // leases that the holder saw only after their deadline, because it was paused
};

/// Judges by what clients know: exclusion, which readers do not owe each other, tokens, the stores, order in line after the faults, liveness, and what is left. Real
/// servers tell nobody who has a copy at which moment, so rules that need that are the simulator's.
///
/// A lease is in force from the moment when its holder has seen it until its deadline, its end, or the report of its loss. A
/// process that gets no processor is one that pauses: it writes late, but its deadlines are the same.
[[nodiscard]] Verdict judge(const Case&);

}  // namespace redlock::chaos
