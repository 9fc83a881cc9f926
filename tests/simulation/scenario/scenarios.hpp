// The scenarios of the debate about Redlock.
#pragma once

#include <span>
#include <string_view>

#include "simulation/scenario/scenario.hpp"

namespace redlock::simulation {

[[nodiscard]] std::span<const Scenario> scenarios();
/// Returns null if there is no scenario with this name.
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

}  // namespace redlock::simulation
