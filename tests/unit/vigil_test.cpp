// Whose loss is told when, and how often.
#include "redlock/core/vigil.hpp"

#include <memory>
#include <vector>

#include "support/catch.hpp"
#include "unit/recorder.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;

}  // namespace

TEST_CASE("a_loss_is_told_at_the_deadline_and_once") {
  Vigil<Tenure> vigil;
  CHECK(vigil.timer() == never);
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  CHECK(vigil.timer() == at(500ms));
  CHECK_FALSE(vigil.take_lost(at(500ms) - 1ns));
  CHECK(vigil.take_lost(at(500ms)) == tenure);
  CHECK_FALSE(vigil.take_lost(at(500ms)));
  CHECK(vigil.timer() == never);
}

TEST_CASE("an_early_loss_is_told_at_once") {
  Vigil<Tenure> vigil;
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  tenure->lose(Loss::taken, at(10ms));
  vigil.lost(tenure);
  CHECK(vigil.timer() <= at(10ms));
  CHECK(vigil.take_lost(at(10ms)) == tenure);
  vigil.lost(tenure);
  CHECK_FALSE(vigil.take_lost(at(600ms)));
}

TEST_CASE("a_deadline_that_moved_is_looked_at_again") {
  Vigil<Tenure> vigil;
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  REQUIRE(tenure->prolong(at(900ms), at(400ms)));
  CHECK_FALSE(vigil.take_lost(at(500ms)));
  CHECK(vigil.timer() == at(900ms));
  CHECK(vigil.take_lost(at(900ms)) == tenure);
}

TEST_CASE("who_is_to_tell_a_loss_looks_up_some_times_before") {
  Vigil<Tenure> vigil;
  CHECK(vigil.wake_up(at(0ms)) == never);
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  std::vector<Time> looks;
  for (Time now = at(0ms); looks.size() < 100 && !vigil.take_lost(now); now = looks.back())
    looks.push_back(vigil.wake_up(now));
  CHECK(looks.size() == 11);
  CHECK(looks.front() == at(480ms));
  CHECK(looks.back() == at(500ms));
  CHECK(vigil.wake_up(at(500ms)) == never);
}

TEST_CASE("who_looked_up_late_is_still_there_at_the_deadline") {
  Vigil<Tenure> vigil;
  vigil.add(example_tenure(500ms));
  CHECK(vigil.wake_up(at(499ms)) == at(500ms));
  CHECK(vigil.wake_up(at(600ms)) <= at(600ms));
  CHECK(vigil.take_lost(at(600ms)));
}

TEST_CASE("before_a_deadline_that_has_moved_nobody_looks_up_twice") {
  Vigil<Tenure> vigil;
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  REQUIRE(tenure->prolong(at(900ms), at(400ms)));
  CHECK(vigil.wake_up(at(400ms)) == at(480ms));
  CHECK(vigil.wake_up(at(480ms)) == at(880ms));
  tenure->lose(Loss::taken, at(490ms));
  vigil.lost(tenure);
  CHECK(vigil.wake_up(at(490ms)) <= at(490ms));
}

TEST_CASE("what_is_released_or_removed_is_never_told") {
  Vigil<Tenure> vigil;
  const auto released = example_tenure(500ms);
  const auto removed = example_tenure(600ms);
  vigil.add(released);
  vigil.add(removed);
  REQUIRE(released->release(at(10ms)));
  vigil.remove(removed);
  CHECK_FALSE(vigil.take_lost(at(1000ms)));
  CHECK(vigil.timer() == never);
}

TEST_CASE("who_is_added_twice_is_told_once") {
  Vigil<Tenure> vigil;
  const auto tenure = example_tenure(500ms);
  vigil.add(tenure);
  vigil.add(tenure);
  CHECK(vigil.take_lost(at(500ms)) == tenure);
  CHECK_FALSE(vigil.take_lost(at(500ms)));
}

TEST_CASE("losses_are_told_in_the_order_of_their_deadlines") {
  Vigil<Tenure> vigil;
  const auto later_one = example_tenure(500ms);
  const auto sooner = example_tenure(400ms);
  vigil.add(later_one);
  vigil.add(sooner);
  CHECK(vigil.timer() == at(400ms));
  CHECK(vigil.take_lost(at(600ms)) == sooner);
  CHECK(vigil.take_lost(at(600ms)) == later_one);
}
