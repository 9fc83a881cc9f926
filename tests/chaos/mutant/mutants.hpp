// Mistakes in the core of clients. mistakes.cmake puts them there, and the program chaos-mutant has them.
#pragma once

#include <array>
#include <string_view>

#include "simulation/judge/rule.hpp"

namespace redlock::chaos {

/// A mistake that the simulator's mutant of this name makes as well.
struct Mutant {
  std::string_view name;
  simulation::Rule breaks;  // first
};

inline constexpr std::array mutants{Mutant{"blind-delete", simulation::Rule::exclusion},
                                    Mutant{"marker-without-run-id", simulation::Rule::exclusion},
                                    Mutant{"only-reachable-count", simulation::Rule::exclusion}};

/// The environment variable by which a client gets to know the name.
inline constexpr const char* mutant_variable = "REDLOCK_CHAOS_MUTANT";

}  // namespace redlock::chaos
