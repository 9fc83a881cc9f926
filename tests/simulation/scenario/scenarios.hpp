// The stories that the debate about Redlock is told in.
#pragma once

#include <span>
#include <string_view>

#include "simulation/scenario/scenario.hpp"

namespace redlock::simulation {

[[nodiscard]] std::span<const Scenario> scenarios();
/// Null: there is none of that name.
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

}  // namespace redlock::simulation
