#include "redlock/core/base/ring.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <random>

#include "support/catch.hpp"

using redlock::core::Ring;

TEST_CASE("a_ring_returns_elements_in_order_while_it_wraps_and_grows") {
  Ring<int> ring;
  std::deque<int> expected;
  std::mt19937 random{1};
  int next = 0;
  for (int i = 0; i < 20'000; ++i) {
    // Mostly pushes or mostly pops by turns, so that the ring grows at every position of its head.
    if (random() % 100 < (i / 500 % 2 == 0 ? 60U : 40U)) {
      ring.push(next);
      expected.push_back(next++);
    } else if (!expected.empty()) {
      if (ring.front() != expected.front() || ring.pop() != expected.front()) FAIL("out of order at " << i);
      expected.pop_front();
    }
    if (ring.size() != expected.size() || ring.empty() != expected.empty()) FAIL("miscounted at " << i);
  }
  CHECK(next > 9'000);
}

TEST_CASE("a_ring_keeps_no_reference_to_removed_elements") {
  const auto object = std::make_shared<int>(1);
  Ring<std::shared_ptr<int>> ring;
  for (int i = 0; i < 40; ++i) ring.push(object);
  CHECK(object.use_count() == 41);
  for (int i = 0; i < 10; ++i) (void)ring.pop();
  CHECK(object.use_count() == 31);
  ring.clear();
  CHECK(ring.empty());
  CHECK(object.use_count() == 1);
  ring.push(object);
  CHECK(ring.pop() == object);
}
