// All outcomes in all orders, as far as there is time for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

namespace redlock::testing {

/// What becomes of the request to each node, in which order the news arrives, and a running number to vary
/// everything else by.
template <class Fate>
struct Scenario {
  std::vector<Fate> fates;
  std::vector<core::NodeIndex> arrivals;  // as often as the node has news
  std::size_t number = 0;
};

/// The orders of arrival to try for each vector of more than three fates.
inline constexpr std::size_t orders_of_many = sanitized ? 1 : 4;

/// The orders of arrival to try: every one for up to three nodes, else one that the seed determines; without a
/// sanitizer also a second one, forwards and backwards.
inline std::vector<std::vector<core::NodeIndex>> orders_of(std::vector<core::NodeIndex> arrivals,
                                                           std::size_t nodes, std::uint64_t seed) {
  std::vector<std::vector<core::NodeIndex>> orders;
  if (nodes <= 3) {
    do orders.push_back(arrivals);
    while (std::next_permutation(arrivals.begin(), arrivals.end()));
    return orders;
  }
  if (orders_of_many > 1) {
    orders.push_back(arrivals);
    orders.emplace_back(arrivals.rbegin(), arrivals.rend());
  }
  std::mt19937_64 random{seed};
  while (orders.size() < orders_of_many) {
    std::shuffle(arrivals.begin(), arrivals.end(), random);
    orders.push_back(arrivals);
  }
  return orders;
}

/// Tries the vectors of fates with the numbers from `first` to before `end`. The first node varies fastest.
/// Returns how many scenarios there were.
template <class Fate, class News, class Complaint>
std::size_t explore_vectors(std::size_t first, std::size_t end, std::size_t nodes,
                            const std::vector<Fate>& all, News news, Complaint complaint) {
  Scenario<Fate> scenario;
  const std::size_t first_number = nodes > 3 ? orders_of_many * first : 0;
  scenario.number = first_number;
  for (std::size_t vector = first; vector < end; ++vector) {
    scenario.fates.clear();
    std::vector<core::NodeIndex> arrivals;
    for (std::size_t node = 0, rest = vector; node < nodes; ++node, rest /= all.size()) {
      scenario.fates.push_back(all[rest % all.size()]);
      arrivals.insert(arrivals.end(), news(scenario.fates.back()), node);
    }
    for (auto& order : orders_of(std::move(arrivals), nodes, vector)) {
      scenario.arrivals = std::move(order);
      if (const std::string text = complaint(scenario); !text.empty()) FAIL(text);
      ++scenario.number;
    }
  }
  return scenario.number - first_number;
}

template <class Fate>
std::size_t vectors_of(std::size_t nodes, const std::vector<Fate>& all) {
  std::size_t vectors = 1;
  for (std::size_t i = 0; i < nodes; ++i) vectors *= all.size();
  return vectors;
}

/// Tries every vector of fates. `news(fate)` is how often a node of this fate is heard of before the
/// deadline; `complaint(scenario)` is empty if all went as it must. Returns how many scenarios there were.
template <class Fate, class News, class Complaint>
std::size_t explore(std::size_t nodes, const std::vector<Fate>& all, News news, Complaint complaint) {
  return explore_vectors(0, vectors_of(nodes, all), nodes, all, news, complaint);
}

/// The same for the vectors in which the last node has this fate: several test cases can share all vectors.
template <class Fate, class News, class Complaint>
std::size_t explore_with_last(Fate fate, std::size_t nodes, const std::vector<Fate>& all, News news,
                              Complaint complaint) {
  const std::size_t vectors = vectors_of(nodes - 1, all);
  const auto position = static_cast<std::size_t>(std::find(all.begin(), all.end(), fate) - all.begin());
  return explore_vectors(position * vectors, (position + 1) * vectors, nodes, all, news, complaint);
}

/// For complaints: the fates by `name(fate)`, and the order.
template <class Fate, class Name>
std::string told(const Scenario<Fate>& scenario, Name name) {
  std::string text = "scenario " + std::to_string(scenario.number) + ":";
  for (const Fate fate : scenario.fates) text.append(" ").append(name(fate));
  text += "; arrivals";
  for (const core::NodeIndex node : scenario.arrivals) text.append(" ").append(std::to_string(node));
  return text;
}

}  // namespace redlock::testing
