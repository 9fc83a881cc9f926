#include "contest/token_log.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <queue>
#include <stdexcept>

namespace redlock::testing {
namespace {

std::string describe(const Acquired& one) {
  return (one.is_shared ? "shared token " : "token ") + std::to_string(one.token) + " of resource " +
         std::to_string(one.resource) + ", invoked at " + std::to_string(one.invoked_ns) +
         " ns and completed at " + std::to_string(one.completed_ns) + " ns";
}

bool completed_later(const Acquired& one, const Acquired& other) {
  return one.completed_ns > other.completed_ns;
}

/// Takes the acquisitions of one resource in the order of their invocations.
std::optional<std::string> find_order_violation(const std::vector<Acquired>& all) {
  std::priority_queue<Acquired, std::vector<Acquired>, decltype(&completed_later)> under_way{completed_later};
  Acquired greatest_written;  // among those completed before
  Acquired greatest_read;
  for (const Acquired& one : all) {
    for (; !under_way.empty() && under_way.top().completed_ns < one.invoked_ns; under_way.pop()) {
      Acquired& same_kind = under_way.top().is_shared ? greatest_read : greatest_written;
      if (under_way.top().token > same_kind.token) same_kind = under_way.top();
    }
    const bool after_reader = !one.is_shared && greatest_read.token > greatest_written.token;
    const Acquired& greatest = after_reader ? greatest_read : greatest_written;
    if (one.token <= greatest.token)
      return describe(one) + " is not greater than " + describe(greatest) + ", which was complete before";
    under_way.push(one);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_violation(std::vector<Acquired> all) {
  std::sort(all.begin(), all.end(),
            [](const Acquired& one, const Acquired& other) { return one.invoked_ns < other.invoked_ns; });
  std::map<std::uint64_t, std::vector<Acquired>> resources;
  std::map<std::uint64_t, std::map<std::uint64_t, Acquired>> seen;
  for (const Acquired& one : all) {
    const auto [first, is_new] = seen[one.resource].emplace(one.token, one);
    if (!is_new && !(one.is_shared && first->second.is_shared))
      return describe(one) + " was issued before: " + describe(first->second);
    resources[one.resource].push_back(one);
  }
  for (const auto& [resource, its] : resources)
    if (auto violation = find_order_violation(its)) return violation;
  return std::nullopt;
}

void TokenLog::write(const std::string& path) const {
  std::ofstream file{path};
  file << second_rounds << ' ' << acquired.size() << '\n';
  for (const Acquired& one : acquired)
    file << one.resource << ' ' << one.invoked_ns << ' ' << one.completed_ns << ' ' << one.token << ' '
         << one.is_shared << '\n';
}

TokenLog TokenLog::read(const std::string& path) {
  std::ifstream file{path};
  TokenLog log;
  std::size_t size = 0;
  file >> log.second_rounds >> size;
  for (Acquired one;
       file >> one.resource >> one.invoked_ns >> one.completed_ns >> one.token >> one.is_shared;)
    log.acquired.push_back(one);
  if (size == 0 || log.acquired.size() != size)
    throw std::runtime_error{"the log of a contestant is missing or incomplete"};
  return log;
}

}  // namespace redlock::testing
