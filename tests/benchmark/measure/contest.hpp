// Several contestants, measured side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmark/measure/samples.hpp"

namespace redlock::benchmark {

/// One of the programs that are compared, for example the library or raw hiredis, and its samples.
struct Contestant {
  std::string name;
  unsigned nodes;
  unsigned callers;
  std::function<void(std::size_t cycles, Samples&)> run;
  Samples samples = {};
};

inline double median_us(const Contestant& contestant) { return contestant.samples.percentile_us(0.5); }

/// A contestant beside its floor, which sends the same commands.
struct Comparison {
  Contestant floor;
  Contestant measured;
  double (*typical_us)(const Contestant&) = median_us;
};

/// Runs cycles that are not counted. Throws `std::runtime_error` if one fails.
void warm_up(const Contestant& contestant, std::size_t cycles);

/// Runs cycles that are counted. Throws `std::runtime_error` if one fails, because a failure takes another
/// time than a lock.
void measure(Contestant& contestant, std::size_t cycles);

/// Runs `cycles` cycles of every contestant, in many short alternating blocks whose order changes, so that
/// other load on the machine affects all contestants alike. Every block begins with a warm-up. Throws as
/// `measure` does.
void measure_by_turns(std::vector<Contestant>& contestants, std::size_t cycles);
void measure_by_turns(std::vector<Comparison>& comparisons, std::size_t cycles);

}  // namespace redlock::benchmark
