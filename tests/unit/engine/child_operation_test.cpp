// Operations that submit others, in the engine.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/pursuit.hpp"
#include "support/catch.hpp"
#include "support/recording_observer.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

/// A waiting call on three nodes, which are connected.
struct WaitingCall {
  explicit WaitingCall(Time give_up_at = never, std::size_t seats = 0) {
    harness.make_ready(at(0ms));
    pursuit = Ref<Pursuit>{new Pursuit{{.claim = example_fenced_claim(),
                                        .seats = seats,
                                        .attempts = Pursuit::Attempts::until_time,
                                        .give_up_at = give_up_at,
                                        .owner_values = {std::string(40, '0'), "label"}},
                                       3}};
  }
  void submit(Time now) { harness.engine.submit(Ref<Operation>{pursuit.get()}, now); }
  /// All nodes say that another client has the lock.
  void deny(Time now) {
    for (NodeIndex node = 0; node < 3; ++node)
      harness.engine.answered(node, array_reply({string_reply("other"), number(700)}), now);
    for (NodeIndex node = 0; node < 3; ++node) {
      harness.engine.answered(node, number(0), now);  // the release
      harness.take_bytes(node);
    }
  }
  void grant(Time now) {
    for (NodeIndex node = 0; node < 3; ++node) harness.engine.answered(node, number(100), now);
  }
  /// The operations that were finished since the last call.
  std::vector<Operation*> take_finished() {
    std::vector<Operation*> finished;
    for (const Ref<Operation>& each : std::exchange(harness.engine.finished(), {}))
      finished.push_back(each.get());
    return finished;
  }

  RecordingObserver recorder;
  EngineHarness harness{3, std::nullopt, &recorder};
  Engine& engine = harness.engine;
  Ref<Pursuit> pursuit;
};

}  // namespace

TEST_CASE("the_engine_runs_attempts_and_pauses_and_finishes_only_the_call") {
  WaitingCall call;
  call.submit(at(1ms));
  CHECK(call.engine.active() == 1);
  CHECK_FALSE(call.harness.take_bytes(0).empty());
  call.deny(at(2ms));
  CHECK_FALSE(call.pursuit->done());
  CHECK(call.engine.active() == 0);
  CHECK_FALSE(call.engine.needs_attention());
  CHECK(call.take_finished().empty());
  REQUIRE(call.recorder.attempts().size() == 1);
  CHECK(call.recorder.attempts()[0].failure == Errc::held);

  const Time next = call.engine.timer();
  CHECK(next == call.pursuit->deadline());
  CHECK(next > at(2ms));
  call.engine.on_time(next - 1ns);
  CHECK(call.harness.take_bytes(0).empty());
  call.engine.on_time(next);
  CHECK(call.engine.active() == 1);
  CHECK_FALSE(call.harness.take_bytes(0).empty());
  call.grant(next + 1ms);
  CHECK(call.pursuit->granted());
  CHECK(call.engine.active() == 0);
  CHECK(call.take_finished() == std::vector<Operation*>{call.pursuit.get()});
  CHECK(call.recorder.attempts().size() == 2);
}

TEST_CASE("an_attempt_that_fails_while_it_is_submitted_is_followed_by_a_pause") {
  const std::size_t seats = GENERATE(0U, 3U);  // an attempt at any seat ends with the one that it submits
  WaitingCall call{never, seats};
  for (NodeIndex node = 0; node < 3; ++node) call.harness.disconnect(node, at(1ms));
  call.submit(at(2ms));
  CHECK_FALSE(call.pursuit->done());
  CHECK(call.engine.active() == 0);
  CHECK(call.pursuit->pauses_until() > at(2ms));
  CHECK(call.engine.timer() <= call.pursuit->pauses_until());
  CHECK(call.recorder.attempts().size() == 1);
  CHECK(call.take_finished().empty());
}

TEST_CASE("a_call_ends_at_its_time_in_an_attempt_and_in_a_pause") {
  WaitingCall call{at(20ms)};
  const bool in_a_pause = GENERATE(true, false);
  call.submit(at(0ms));
  if (in_a_pause) call.deny(at(15ms));
  CHECK(call.engine.timer() <= at(20ms));
  call.engine.on_time(at(20ms));
  REQUIRE(call.pursuit->done());
  CHECK(call.pursuit->take_failure().code == (in_a_pause ? Errc::timed_out : Errc::no_quorum));
  CHECK(call.take_finished() == std::vector<Operation*>{call.pursuit.get()});
  CHECK(call.engine.active() == 0);
  CHECK(call.recorder.attempts().size() == 1);
}

TEST_CASE("shutting_down_ends_a_call_in_an_attempt_and_in_a_pause_and_before_it_begins") {
  WaitingCall call;
  const int moment = GENERATE(0, 1, 2);
  if (moment > 0) call.submit(at(0ms));
  if (moment > 1) call.deny(at(1ms));
  call.engine.shut_down({}, at(2ms));
  if (moment == 0) call.submit(at(3ms));
  REQUIRE(call.pursuit->done());
  const Pursuit::Failure failure = call.pursuit->take_failure();
  CHECK(failure.code == Errc::cancelled);
  CHECK(failure.tally.has_value() == (moment == 1));
  CHECK(call.take_finished() == std::vector<Operation*>{call.pursuit.get()});
  CHECK(call.engine.active() == 0);
  CHECK(call.recorder.attempts().size() == (moment == 0 ? 0 : 1));
}

TEST_CASE("a_cancelled_call_abandons_its_attempt_which_is_reported") {
  WaitingCall call;
  call.submit(at(0ms));
  call.engine.abandon(Ref<Operation>{call.pursuit.get()}, Errc::cancelled, at(1ms));
  CHECK(call.pursuit->done());
  CHECK(call.take_finished() == std::vector<Operation*>{call.pursuit.get()});
  CHECK(call.engine.active() == 0);
  REQUIRE(call.recorder.attempts().size() == 1);
  CHECK(call.recorder.attempts()[0].failure == Errc::cancelled);
  call.grant(at(2ms));  // late
  CHECK_FALSE(call.pursuit->granted());
  CHECK(call.take_finished().empty());
}

TEST_CASE("an_attempt_waits_for_connections_and_the_call_does_not") {
  EngineHarness harness{3};
  const Ref<Operation> pursuit{new Pursuit{{.claim = example_fenced_claim(),
                                            .attempts = Pursuit::Attempts::until_time,
                                            .give_up_at = at(50ms),
                                            .owner_values = {std::string(40, '0'), "label"}},
                                           3}};
  harness.engine.submit(pursuit, at(0ms));
  CHECK(harness.engine.active() == 1);
  const bool is_in_time = GENERATE(true, false);
  if (is_in_time)
    for (NodeIndex node = 0; node < 3; ++node) harness.connect(node, at(10ms));
  harness.engine.on_time(at(20ms));
  CHECK(harness.take_bytes(0).empty() != is_in_time);
  harness.engine.on_time(at(50ms));
  CHECK(pursuit->done());
  CHECK(static_cast<Pursuit&>(*pursuit).take_failure().code == Errc::no_quorum);
}
