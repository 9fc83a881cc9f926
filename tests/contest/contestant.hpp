// One process of the contest.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "contest/token_log.hpp"

namespace redlock::testing {

struct ContestantOptions {
  std::vector<std::string> nodes;
  std::string log;
  int threads = 8;
  int resources = 4;
  std::chrono::seconds length{60};
  std::uint64_t seed = 1;
  std::chrono::microseconds skew{};  ///< of this process's wall clock
};

/// Locks and releases for `length` with all threads through one client, and writes the log.
void contest(const ContestantOptions&);

}  // namespace redlock::testing
