// Which operation is called when, and when the engine needs attention.
#include "redlock/core/engine/engine.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "support/catch.hpp"
#include "unit/support/fleet.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using State = Session::State;

// ── replies ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_late_reply_goes_to_the_operation_that_asked_for_it") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const auto first = fleet.submit({}, at(1ms));
  fleet.engine.on_time(at(51ms));
  CHECK(first->told == Told{"start", "timed out"});
  const auto second = fleet.submit({}, at(52ms));
  fleet.answer(0, "for the first", at(60ms));
  CHECK(first->told.back() == "answered 0 for the first");
  CHECK(second->told == Told{"start"});
  CHECK(fleet.engine.late_replies() == 1);
  fleet.answer(0, "for the second", at(61ms));
  CHECK(second->told.back() == "answered 0 for the second");
  CHECK(fleet.engine.late_replies() == 1);
  CHECK(second->done());
}

TEST_CASE("no_reply_is_ever_credited_to_another_operation") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    Fleet fleet{3};
    fleet.make_ready(at(0ms));
    Time now = at(10s);
    std::vector<std::pair<std::string, Ref<Probe>>> probes;
    std::vector<std::deque<std::string>> arrived(3);  // at the servers, which answer with the command itself
    for (int step = 0; step < 5'000; ++step) {
      now += std::chrono::microseconds{random() % 3000};
      const NodeIndex node = below(3);
      const std::size_t event = below(100);
      if (event < 25) {
        const std::string words = "#" + std::to_string(probes.size()) + ";";
        probes.emplace_back(words, fleet.submit({.answers = 1 + below(3), .command = words}, now));
      } else if (event < 90) {
        std::string bytes = fleet.take_bytes(node);
        for (auto end = bytes.find(';'); end != bytes.npos; bytes.erase(0, end + 1), end = bytes.find(';'))
          arrived[node].push_back(bytes.substr(0, end + 1));
        for (std::size_t count = below(4); count > 0 && !arrived[node].empty(); --count) {
          fleet.answer(node, arrived[node].front(), now);
          arrived[node].pop_front();
        }
      } else if (event < 92) {
        fleet.lose(node, now);
        arrived[node].clear();
      } else if (event < 95) {
        fleet.abandon(probes.empty() ? fleet.submit({}, now) : probes[below(probes.size())].second, now);
      } else {
        fleet.engine.on_time(now);
      }
      for (NodeIndex other = 0; other < 3; ++other)
        if (fleet.engine.session(other).take_dial()) {
          arrived[other].clear();
          fleet.greet(other, now);
        }
    }
    fleet.engine.on_time(now + 1h);
    for (const auto& [words, probe] : probes) {
      if (!probe->done()) FAIL(words << " is never done");
      if (std::count_if(fleet.engine.finished().begin(), fleet.engine.finished().end(),
                        [&probe = probe](const auto& one) { return one.get() == probe.get(); }) != 1)
        FAIL(words << " is not finished once");
      for (const std::string& told : probe->told)
        if (told.find('#') != told.npos && told.find(words) == told.npos) FAIL(words << " was told " << told);
    }
    CHECK(probes.size() > 1000);
    CHECK(fleet.engine.late_replies() > 50);
    CHECK(fleet.engine.active() == 0);
  }
}

TEST_CASE("late_replies_to_an_extension_are_processed_after_it_is_done") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const Ref<Operation> extension{new Extension{example_tenure(500ms), 3}};
  fleet.engine.submit(extension, at(1ms));
  for (const NodeIndex node : {0U, 1U}) fleet.engine.answered(node, number(1), at(2ms));
  REQUIRE(extension->done());
  CHECK(fleet.engine.needs_attention());
  for (NodeIndex node = 0; node < 3; ++node) fleet.take_bytes(node);
  fleet.engine.answered(2, number(0), at(3ms));
  CHECK(fleet.take_bytes(2) == example_claim().put_back_command());
  CHECK_FALSE(fleet.engine.needs_attention());
}

TEST_CASE("the_release_of_an_abandoned_attempt_is_queued_behind_its_set_on_every_connection") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const Ref<Acquisition> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::try_once}};
  const Ref<Operation> operation{attempt.get()};
  fleet.engine.submit(operation, at(1ms));
  fleet.engine.abandon(operation, Errc::cancelled, at(2ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(fleet.take_bytes(node) == example_claim().set_command() + example_claim().release_command());
    CHECK(fleet.engine.session(node).must_read());
    fleet.engine.answered(node, ok(), at(3ms));
    fleet.engine.answered(node, number(1), at(3ms));
    CHECK_FALSE(fleet.engine.session(node).must_read());
  }
  CHECK(attempt->failure() == Errc::cancelled);
  CHECK(fleet.engine.late_replies() == 6);
}

// ── connections ────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("only_running_operations_are_notified_of_a_lost_connection") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const auto done = fleet.submit({}, at(1ms));
  fleet.answer(0, "OK", at(1ms));
  const auto running = fleet.submit({}, at(2ms));
  fleet.lose(1, at(3ms));
  CHECK(running->told == Told{"start", "disconnected 1 connection lost"});
  CHECK(done->told == Told{"start", "answered 0 OK"});
}

TEST_CASE("silence_is_reported_as_a_lost_connection") {
  Fleet fleet{1};
  fleet.make_ready(at(0ms));
  const auto first = fleet.submit({.nodes = 1}, at(0ms));
  fleet.engine.on_time(at(50ms));
  CHECK(first->done());
  const auto second = fleet.submit({.nodes = 1, .connections = 1}, at(160ms));
  CHECK(fleet.engine.timer() == at(200ms));
  fleet.engine.on_time(at(200ms));
  CHECK(second->told == Told{"start", "disconnected 0 timed out"});
}

TEST_CASE("a_protocol_error_is_reported_as_a_lost_connection") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const auto probe = fleet.submit({.answers = 3}, at(1ms));
  fleet.answer(0, "OK", at(1ms));
  fleet.answer(0, "OK", at(1ms));
  CHECK(probe->told == Told{"start", "answered 0 OK", "disconnected 0 protocol error"});
}

TEST_CASE("one_server_under_two_names_is_used_once_and_its_second_name_refused") {
  Fleet fleet{3};
  const auto probe = fleet.submit({.connections = 3}, at(0ms));
  fleet.greet(0, at(1ms), "same");
  fleet.greet(1, at(2ms), "another");
  fleet.greet(2, at(3ms), "same");
  CHECK(fleet.engine.session(0).ready());
  CHECK(fleet.engine.session(2).state() == State::down);
  CHECK(fleet.engine.session(2).trouble().status == NodeStatus::same_node);
  CHECK(fleet.engine.session(2).trouble().message == "the same server as node 0");
  CHECK(probe->told == Told{"start", "refused 2 same node"});
  CHECK(fleet.take_bytes(2).empty());

  // Once the connection under the first name is lost, the second name may be used.
  fleet.engine.on_time(fleet.engine.session(2).timer());
  fleet.greet(2, at(60ms), "same");
  CHECK(fleet.engine.session(2).state() == State::down);
  fleet.lose(0, at(61ms));
  fleet.engine.on_time(fleet.engine.session(2).timer());
  fleet.greet(2, at(300ms), "same");
  CHECK(fleet.engine.session(2).ready());
}

TEST_CASE("an_operation_waiting_for_a_connection_learns_that_it_leads_to_the_same_server") {
  Fleet fleet{2};
  const auto probe = fleet.submit({.nodes = 2, .connections = 0}, at(0ms));
  fleet.greet(0, at(1ms), "same");
  fleet.greet(1, at(2ms), "same");
  CHECK(probe->told == Told{"start", "disconnected 1 same node"});
}

TEST_CASE("servers_without_a_run_id_are_not_taken_for_the_same_server") {
  Fleet fleet{2};
  fleet.submit({.nodes = 2}, at(0ms));
  fleet.greet(0, at(1ms), "");
  fleet.greet(1, at(1ms), "");
  CHECK(fleet.engine.session(0).ready());
  CHECK(fleet.engine.session(1).ready());
}

// ── time ───────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("the_engine_wakes_at_each_deadline_and_when_a_caller_gives_up") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const auto early = fleet.submit({}, at(0ms));
  const auto late = fleet.submit({}, at(10ms));
  const auto impatient = fleet.submit({}, at(10ms), at(55ms));
  CHECK(fleet.engine.timer() == at(50ms));
  fleet.engine.on_time(at(50ms) - 1ns);
  CHECK(fleet.engine.finished().empty());
  fleet.engine.on_time(at(50ms));
  CHECK(early->told == Told{"start", "timed out"});
  CHECK(fleet.engine.timer() == at(55ms));
  fleet.engine.on_time(at(55ms));
  CHECK(impatient->told == Told{"start", "given up"});
  CHECK(fleet.engine.timer() == at(60ms));
  fleet.engine.on_time(at(60ms));
  CHECK(late->told == Told{"start", "timed out"});
  CHECK(fleet.engine.finished().size() == 3);
  // Only the timer for silent connections is left.
  CHECK(fleet.engine.timer() == at(200ms));
}

TEST_CASE("an_engine_with_nothing_left_to_do_has_no_timer") {
  Fleet fleet{3};
  CHECK(fleet.engine.timer() == never);
  fleet.make_ready(at(0ms));
  const auto probe = fleet.submit({.answers = 3}, at(0ms), at(40ms));
  for (NodeIndex node = 0; node < 3; ++node) fleet.answer(node, "OK", at(1ms));
  CHECK(probe->done());
  fleet.engine.on_time(fleet.engine.timer());
  CHECK(fleet.engine.timer() == never);
}

// ── the end ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("every_operation_finishes_exactly_once_in_any_order") {
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    Fleet fleet{1};
    fleet.make_ready(at(0ms));
    std::vector<Ref<Probe>> probes;
    for (std::size_t i = 0; i < 4; ++i)
      probes.push_back(fleet.submit({.nodes = 1, .connections = 1}, at(1ms)));
    for (const std::size_t i : order) {
      fleet.abandon(probes[i], at(2ms));
      fleet.abandon(probes[i], at(2ms));
      CHECK(fleet.take_finished(probes[i]) == 1);
    }
    CHECK(fleet.engine.active() == 0);
    for (int i = 0; i < 4; ++i) fleet.answer(0, "OK", at(3ms));
    fleet.engine.on_time(at(1s));
    CHECK(fleet.engine.finished().empty());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("the_engine_needs_attention_while_an_operation_runs_or_a_release_or_an_errand_is_pending") {
  Fleet fleet{1};
  CHECK_FALSE(fleet.engine.needs_attention());
  fleet.make_ready(at(0ms));
  CHECK_FALSE(fleet.engine.needs_attention());
  const auto probe = fleet.submit({.nodes = 1, .connections = 1, .is_release = true}, at(1ms));
  CHECK(fleet.engine.needs_attention());
  fleet.abandon(probe, at(2ms));
  CHECK(fleet.engine.needs_attention());  // bytes
  fleet.take_bytes(0);
  CHECK(fleet.engine.needs_attention());  // a release
  fleet.answer(0, "OK", at(3ms));
  CHECK_FALSE(fleet.engine.needs_attention());
  fleet.lose(0, at(4ms));
  CHECK(fleet.engine.needs_attention());  // to close
  fleet.engine.session(0).take_closing();
  CHECK_FALSE(fleet.engine.needs_attention());
  fleet.engine.on_time(fleet.engine.timer());
  CHECK(fleet.engine.needs_attention());  // to dial
  fleet.engine.session(0).take_dial();
  CHECK(fleet.engine.needs_attention());  // the handshake
  fleet.greet(0, at(100ms));
  CHECK_FALSE(fleet.engine.needs_attention());
}

TEST_CASE("a_pending_reply_to_an_abandoned_operation_needs_no_attention") {
  Fleet fleet{1};
  fleet.make_ready(at(0ms));
  const auto probe = fleet.submit({.nodes = 1, .connections = 1}, at(1ms));
  fleet.take_bytes(0);
  fleet.abandon(probe, at(2ms));
  CHECK_FALSE(fleet.engine.needs_attention());
}

TEST_CASE("the_background_timer_covers_only_redials") {
  Fleet fleet{3};
  CHECK(fleet.engine.background_timer() == never);
  fleet.make_ready(at(0ms));
  fleet.submit({}, at(1ms), at(10ms));
  CHECK(fleet.engine.background_timer() == never);
  fleet.lose(2, at(2ms));
  fleet.lose(1, at(3ms));
  CHECK(fleet.engine.background_timer() ==
        std::min(fleet.engine.session(1).timer(), fleet.engine.session(2).timer()));
  CHECK(fleet.engine.background_timer() >= at(27ms));
  CHECK(fleet.engine.background_timer() <= at(53ms));
}

TEST_CASE("shutting_down_cancels_acquisitions_and_loses_the_leases_in_force") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  const auto acquire = [&](Time now) {
    Ref<Acquisition> acquisition{new Acquisition{example_claim(), 3, Acquisition::Purpose::wait}};
    fleet.engine.submit(Ref<Operation>{acquisition.get()}, now);
    return acquisition;
  };
  const auto waiting = acquire(at(1ms));
  const auto other = fleet.submit({.answers = 3}, at(1ms));
  const auto held = example_tenure(988ms);
  const auto released = example_tenure(988ms);
  const auto past = example_tenure(3ms);
  released->release(at(2ms));
  for (NodeIndex node = 0; node < 3; ++node) fleet.take_bytes(node);

  fleet.engine.shut_down({held, released, past}, at(5ms));
  CHECK(waiting->failure() == Errc::cancelled);
  CHECK_FALSE(other->done());
  CHECK(held->loss(at(5ms)) == redlock::Loss::shut_down);
  CHECK(released->loss(at(5ms)) == redlock::Loss::none);
  CHECK(past->loss(at(5ms)) == redlock::Loss::deadline_passed);
  // The release of the acquisition; leases that are held are released by their holders.
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(fleet.take_bytes(node) == example_claim().release_command());

  fleet.engine.finished().clear();
  const auto late = acquire(at(6ms));
  CHECK(late->failure() == Errc::cancelled);
  CHECK(fleet.engine.finished().size() == 1);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(fleet.take_bytes(node).empty());
}
