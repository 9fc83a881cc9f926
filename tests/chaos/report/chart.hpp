// Memory and descriptors of a client as a picture.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "chaos/judge/footprint.hpp"

namespace redlock::chaos {

/// Writes an SVG with two lines over the time since `begun`, each from 0 to its greatest value. `seen` is not empty.
void write_chart(std::ostream&, const std::string& title, const std::vector<Footprint>& seen, Instant begun);

}  // namespace redlock::chaos
