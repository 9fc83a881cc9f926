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
  const auto begun = std::chrono::steady_clock::now();
  while (!predicate()) {
    const auto elapsed = std::chrono::steady_clock::now() - begun;
    if (elapsed >= patience) return false;
    // Rarer calls later leave the processor to what is waited for.
    std::this_thread::sleep_for(std::chrono::milliseconds{elapsed < std::chrono::milliseconds{50} ? 1 : 5});
  }
  return true;
}

}  // namespace redlock::testing
