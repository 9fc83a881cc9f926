// Texts for times, lanes and bytes, in text timelines and in pictures.
#pragma once

#include <string>
#include <string_view>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// "client A": clients have letters, as in the literature.
[[nodiscard]] std::string client_name(int client);
/// "node 1": nodes count from one.
[[nodiscard]] std::string node_name(int node);
/// Milliseconds without the unit, truncated: "1.250". At most six decimals.
[[nodiscard]] std::string milliseconds(Instant, int decimals);
/// Texts may contain any bytes, as owner values do. Bytes that are not printable ASCII are written as \x0a.
[[nodiscard]] std::string printable(std::string_view);

}  // namespace redlock::simulation
