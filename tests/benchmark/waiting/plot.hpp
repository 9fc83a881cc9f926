// The hand-overs as a picture.
#pragma once

#include <string>

#include "benchmark/measure/report.hpp"

namespace redlock::benchmark {

/// The median and the 99th percentile over the number of waiters, on logarithmic axes, as SVG.
std::string svg_plot(const Contention& table);

}  // namespace redlock::benchmark
