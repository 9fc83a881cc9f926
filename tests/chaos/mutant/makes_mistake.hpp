// What a mistake that mistakes.cmake puts into a header of the core asks.
#pragma once

#include <cstdlib>
#include <string_view>

#include "chaos/mutant/mutants.hpp"

namespace redlock::chaos {

/// Whether this process is to make the mistake.
inline bool makes_mistake(std::string_view name) {
  static const char* const chosen = std::getenv(mutant_variable);
  return chosen && name == chosen;
}

}  // namespace redlock::chaos
