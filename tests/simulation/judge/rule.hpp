// What must hold in every history.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

enum class Rule : std::uint8_t {
  exclusion,   // no two holders at once
  honesty,     // a majority has the value of a lease until its deadline
  tokens,      // tokens are unique and increase
  fence,       // a fenced store loses no accepted write
  ownership,   // a copy is removed or extended only by its owner, or expires
  liveness,    // after all faults are over, a client gets the lock
  quiescence,  // no copy outlives its ttl, no lock its readers, and nothing is left over at the end
  order,       // who has stood in line before another one called is served first
  wake_up,     // a free lock is taken by those who stand in line
  traffic,     // a grant wakes one of those who stand in line, and takes about one attempt
  delay,       // after a loss, nobody gets a lock that has a delay until that is over
  at_least,    // from the begin of an acquisition, nobody else gets the lock for the time that it asked for
  seats,       // a semaphore has no more holders than seats
  check,  // a check calls no lease valid that no majority has meanwhile, and none stale that a majority has all the time
  request,         // a holder hears of requests to it, and of no others
  watch,           // a client that watches a lock is told who has it, and of nobody else
  all_or_nothing,  // a call for several locks returns a lease of each, or leaves none of them taken
};
[[nodiscard]] std::string_view name_of(Rule rule);

struct Violation {
  Rule rule;
  Instant at;
  std::string text;
};

}  // namespace redlock::simulation
