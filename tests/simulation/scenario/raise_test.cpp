// An operator raises `max_ttl` while nodes lose their data.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "simulation/scenario/outcome.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

std::size_t long_locks(const Outcome& outcome) {
  return static_cast<std::size_t>(std::ranges::count(outcome.leases, 1, &Judge::Lease::client));
}

}  // namespace

TEST_CASE("in_most_schedules_with_a_raise_the_client_that_needs_long_locks_gets_them") {
  std::size_t guarded = 0;
  std::size_t raises = 0;
  std::size_t successful = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Schedule schedule = draw_schedule(seed, Profile::within);
    guarded += schedule.guarded ? 1 : 0;
    if (schedule.max_ttls.empty()) continue;
    ++raises;
    CHECK(schedule.automatic);
    const Outcome outcome = outcome_of(schedule);
    CHECK_FALSE(outcome.violation);
    successful += long_locks(outcome) > 0 ? 1 : 0;
  }
  CHECK(raises > guarded / 30);
  CHECK(raises < guarded / 8);
  CHECK(successful > raises / 2);
}
