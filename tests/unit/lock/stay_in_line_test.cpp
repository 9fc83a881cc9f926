// What the observer hears of a call that stands in line.
#include "redlock/core/lock/stay_in_line.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/recording_observer.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using Step = StayInLine::Step;

/// `entered 2/3 after 0 ms`.
std::vector<std::string> told(const RecordingObserver& observer) {
  std::vector<std::string> texts;
  for (const auto& line : observer.lines()) {
    CHECK(line.resource == "key");
    texts.push_back(std::string{to_string(line.step)} + " " + std::to_string(line.position) + "/" +
                    std::to_string(line.length) + " after " +
                    std::to_string(std::chrono::floor<std::chrono::milliseconds>(line.waited).count()) +
                    " ms");
  }
  return texts;
}

}  // namespace

TEST_CASE("a_stay_is_reported_from_its_first_place_to_its_end_and_once_a_second") {
  RecordingObserver observer;
  StayInLine stay;
  stay.begin(at(0ms));
  stay.placed("key", 2, 3, at(1ms), &observer);
  stay.placed("key", 1, 2, at(1000ms), &observer);
  stay.placed("key", 1, 2, at(1001ms), &observer);
  stay.end("key", Step::granted, at(1500ms), &observer);
  stay.end("key", Step::left, at(1600ms), &observer);
  CHECK(told(observer) == std::vector<std::string>{"entered 2/3 after 1 ms", "waiting 1/2 after 1001 ms",
                                                   "granted 0/0 after 1500 ms"});
}

TEST_CASE("a_stay_without_a_known_place_is_not_reported_but_a_refusal_is") {
  RecordingObserver observer;
  StayInLine stay;
  stay.begin(at(0ms));
  stay.end("key", Step::left, at(1ms), &observer);
  stay.refused("key", at(2ms), &observer);
  stay.begin(at(3ms));
  stay.placed("key", 1, 1, at(4ms), &observer);
  stay.refused("key", at(5ms), &observer);
  CHECK(told(observer) == std::vector<std::string>{"refused 0/0 after 0 ms", "entered 1/1 after 1 ms",
                                                   "left 0/0 after 2 ms", "refused 0/0 after 0 ms"});
}

TEST_CASE("a_new_holder_bypasses_a_call_that_was_the_first_one_all_the_time") {
  RecordingObserver observer;
  StayInLine stay;
  stay.begin(at(0ms));
  stay.placed("key", 1, 1, at(1ms), &observer);
  stay.denied_by("key", "ann", at(2ms), &observer);
  stay.denied_by("key", "ann", at(3ms), &observer);
  stay.denied_by("key", std::string{redlock::core::kept_value}, at(3ms), &observer);
  stay.denied_by("key", "bob", at(4ms), &observer);
  stay.placed("key", 2, 2, at(5ms), &observer);  // somebody who has waited for longer came back
  stay.denied_by("key", "cid", at(6ms), &observer);
  CHECK(told(observer) == std::vector<std::string>{"entered 1/1 after 1 ms", "bypassed 0/0 after 4 ms"});
}

TEST_CASE("a_holder_of_an_earlier_stay_is_forgotten") {
  RecordingObserver observer;
  StayInLine stay;
  stay.begin(at(0ms));
  stay.denied_by("key", "ann", at(1ms), &observer);
  stay.end("key", Step::left, at(2ms), &observer);
  stay.begin(at(3ms));
  stay.denied_by("key", "bob", at(4ms), &observer);
  CHECK(told(observer).empty());
}

TEST_CASE("a_stay_is_reported_with_the_kind_of_its_lock") {
  RecordingObserver observer;
  StayInLine stay{redlock::Observer::Kind::leader};
  stay.begin(at(0ms));
  stay.placed("key", 1, 1, at(1ms), &observer);
  stay.denied_by("key", "one", at(2ms), &observer);
  stay.denied_by("key", "other", at(3ms), &observer);
  stay.refused("key", at(4ms), &observer);
  CHECK(observer.lines().size() == 4);
  for (const auto& line : observer.lines()) CHECK(line.kind == redlock::Observer::Kind::leader);
}

TEST_CASE("a_stay_needs_no_observer") {
  StayInLine stay;
  stay.begin(at(0ms));
  stay.placed("key", 1, 1, at(1ms), nullptr);
  stay.end("key", Step::granted, at(2ms), nullptr);
}
