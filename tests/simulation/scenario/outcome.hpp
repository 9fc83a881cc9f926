// Runs one schedule in a test.
#pragma once

#include <string_view>

#include "simulation/mutant/mutant.hpp"
#include "simulation/scenario/schedule.hpp"
#include "simulation/world/world.hpp"
#include "support/catch.hpp"

namespace redlock::simulation {

/// `mistake`: the name of a mutant; empty if the clients make no mistake.
[[nodiscard]] inline Outcome outcome_of(const Schedule& schedule, std::string_view mistake = {}) {
  const Mutant* const mutant = mutant_named(mistake);
  REQUIRE((mutant || mistake.empty()));
  Interpreter interpreter;
  History unrecorded;
  return World{schedule, interpreter, unrecorded, mutant}.run();
}

}  // namespace redlock::simulation
