// Waits for a condition to become true.
#pragma once

#include <chrono>
#include <thread>

namespace redlock::testing {

/// Calls `predicate` until it returns true. Returns false only after `patience`, which is long, so that no
/// test fails on a slow machine: `REQUIRE(eventually([&] { return client.keys().empty(); }))`.
template <class Predicate>
[[nodiscard]] bool eventually(Predicate predicate,
                              std::chrono::milliseconds patience = std::chrono::seconds{20}) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

}  // namespace redlock::testing
