// How a history's instants, lanes and bytes are put into words, in the text and in the picture alike.
#pragma once

#include <string>
#include <string_view>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// "client A": clients are letters, as in the literature.
[[nodiscard]] std::string client_name(int client);
/// "node 1": nodes count from one.
[[nodiscard]] std::string node_name(int node);
/// In milliseconds, without the unit: "1.250". The rest is cut off. At most six decimals.
[[nodiscard]] std::string milliseconds(Instant, int decimals);
/// Texts may contain any bytes, as owner values do. What is not printable ASCII is told as \x0a.
[[nodiscard]] std::string printable(std::string_view);

}  // namespace redlock::simulation
