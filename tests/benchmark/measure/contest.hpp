// Several contestants, measured side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmark/measure/samples.hpp"

namespace redlock::benchmark {

struct Contestant {
  std::string name;
  unsigned nodes;
  unsigned callers;
  std::function<void(std::size_t cycles, Samples&)> run;
  Samples samples = {};
};

/// Runs cycles that are not counted. Throws `std::runtime_error` when one fails.
void warm_up(const Contestant& contestant, std::size_t cycles);

/// Runs cycles that are counted. Throws `std::runtime_error` when one fails: failing takes another time than
/// locking.
void measure(Contestant& contestant, std::size_t cycles);

/// Lets every contestant run `cycles` cycles, in many short blocks by turns, in changing order: whatever else
/// the machine does meanwhile hits all alike. Every block starts warm. Throws as `measure` does.
void measure_by_turns(std::vector<Contestant>& contestants, std::size_t cycles);

}  // namespace redlock::benchmark
