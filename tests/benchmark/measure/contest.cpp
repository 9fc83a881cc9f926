#include "benchmark/measure/contest.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace redlock::benchmark {
namespace {

constexpr std::size_t blocks = 40;

void refuse_failures(const Contestant& contestant, const Samples& samples) {
  if (samples.failures() == 0) return;
  throw std::runtime_error{contestant.name + ": " + std::to_string(samples.failures()) + " of " +
                           std::to_string(samples.failures() + samples.cycles()) +
                           " cycles failed; the first: " + samples.first_failure()};
}

void take_turns(std::vector<Contestant*> order, std::size_t cycles) {
  for (const Contestant* contestant : order) warm_up(*contestant, std::min<std::size_t>(cycles, 1000));
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t size = cycles * (block + 1) / blocks - cycles * block / blocks;
    for (Contestant* contestant : order) {
      warm_up(*contestant, size / 10);
      measure(*contestant, size);
    }
    // No contestant always comes first or always follows the same one.
    std::rotate(order.begin(), order.begin() + 1, order.end());
    if (block % 2 == 1) std::reverse(order.begin(), order.end());
  }
}

}  // namespace

void warm_up(const Contestant& contestant, std::size_t cycles) {
  Samples unused;
  contestant.run(cycles, unused);
  refuse_failures(contestant, unused);
}

void measure(Contestant& contestant, std::size_t cycles) {
  contestant.run(cycles, contestant.samples);
  refuse_failures(contestant, contestant.samples);
}

void measure_by_turns(std::vector<Contestant>& contestants, std::size_t cycles) {
  std::vector<Contestant*> all;
  for (Contestant& contestant : contestants) all.push_back(&contestant);
  take_turns(std::move(all), cycles);
}

void measure_by_turns(std::vector<Comparison>& comparisons, std::size_t cycles) {
  std::vector<Contestant*> all;
  for (Comparison& each : comparisons) all.insert(all.end(), {&each.floor, &each.measured});
  take_turns(std::move(all), cycles);
}

}  // namespace redlock::benchmark
