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
#include "unit/support/engine_harness.hpp"
#include "unit/support/failing_memory.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using State = Session::State;

// ── replies ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_late_reply_goes_to_the_operation_that_asked_for_it") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto first = harness.submit({}, at(1ms));
  harness.engine.on_time(at(51ms));
  CHECK(first->events == Events{"start", "timed out"});
  const auto second = harness.submit({}, at(52ms));
  harness.answer(0, "for the first", at(60ms));
  CHECK(first->events.back() == "answered 0 for the first");
  CHECK(second->events == Events{"start"});
  CHECK(harness.engine.late_replies() == 1);
  harness.answer(0, "for the second", at(61ms));
  CHECK(second->events.back() == "answered 0 for the second");
  CHECK(harness.engine.late_replies() == 1);
  CHECK(second->done());
}

TEST_CASE("scripts_that_a_node_misses_when_an_operation_is_over_are_loaded_at_most_once_a_second") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto sent_after_late_noscript = [&](Time now) {
    const auto operation = harness.submit({.nodes = 1, .connections = 1}, now);
    harness.abandon(operation, now);
    harness.take_bytes(0);
    harness.engine.answered(0, text_reply(Reply::Kind::error, "NOSCRIPT No matching script."), now);
    return harness.take_bytes(0);
  };
  std::string loads;
  for (const Script* const script : loaded_scripts) loads += command({"SCRIPT", "LOAD", script->source});
  CHECK(sent_after_late_noscript(at(10ms)) == loads);
  for (std::size_t answers = 0; answers < std::size(loaded_scripts); ++answers)
    harness.answer(0, "any digest", at(11ms));
  CHECK(sent_after_late_noscript(at(1'009ms)).empty());
  CHECK(sent_after_late_noscript(at(1'010ms)) == loads);
  CHECK(harness.engine.session(0).ready());
}

TEST_CASE("no_reply_is_ever_credited_to_another_operation") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    EngineHarness harness{3};
    harness.make_ready(at(0ms));
    Time now = at(10s);
    std::vector<std::pair<std::string, Ref<RecordingOperation>>> operations;
    std::vector<std::deque<std::string>> arrived(3);  // at the servers, which answer with the command itself
    for (int step = 0; step < 5'000; ++step) {
      now += std::chrono::microseconds{random() % 3000};
      const NodeIndex node = below(3);
      const std::size_t event = below(100);
      if (event < 25) {
        const std::string words = "#" + std::to_string(operations.size()) + ";";
        operations.emplace_back(words, harness.submit({.answers = 1 + below(3), .command = words}, now));
      } else if (event < 90) {
        std::string bytes = harness.take_bytes(node);
        for (auto end = bytes.find(';'); end != bytes.npos; bytes.erase(0, end + 1), end = bytes.find(';'))
          arrived[node].push_back(bytes.substr(0, end + 1));
        for (std::size_t count = below(4); count > 0 && !arrived[node].empty(); --count) {
          harness.answer(node, arrived[node].front(), now);
          arrived[node].pop_front();
        }
      } else if (event < 92) {
        harness.disconnect(node, now);
        arrived[node].clear();
      } else if (event < 95) {
        harness.abandon(
            operations.empty() ? harness.submit({}, now) : operations[below(operations.size())].second, now);
      } else {
        harness.engine.on_time(now);
      }
      for (NodeIndex other = 0; other < 3; ++other)
        if (harness.engine.session(other).take_dial()) {
          arrived[other].clear();
          harness.connect(other, now);
        }
    }
    harness.engine.on_time(now + 1h);
    for (const auto& [words, operation] : operations) {
      if (!operation->done()) FAIL(words << " is never done");
      if (std::count_if(harness.engine.finished().begin(), harness.engine.finished().end(),
                        [&sought = operation](const auto& one) { return one.get() == sought.get(); }) != 1)
        FAIL(words << " is not finished once");
      for (const std::string& event : operation->events)
        if (event.find('#') != event.npos && event.find(words) == event.npos) FAIL(words << " got " << event);
    }
    CHECK(operations.size() > 1000);
    CHECK(harness.engine.late_replies() > 50);
    CHECK(harness.engine.active() == 0);
  }
}

TEST_CASE("late_replies_to_an_extension_are_processed_after_it_is_done") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const Ref<Operation> extension{new Extension{example_lease(500ms), 3}};
  harness.engine.submit(extension, at(1ms));
  for (const NodeIndex node : {0U, 1U}) harness.engine.answered(node, number(1), at(2ms));
  REQUIRE(extension->done());
  CHECK(harness.engine.needs_attention());
  for (NodeIndex node = 0; node < 3; ++node) harness.take_bytes(node);
  harness.engine.answered(2, number(0), at(3ms));
  CHECK(harness.take_bytes(2) == example_claim().put_back_command());
  CHECK_FALSE(harness.engine.needs_attention());
}

TEST_CASE("the_release_of_an_abandoned_attempt_is_queued_behind_its_set_on_every_connection") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const Ref<Acquisition> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::try_once}};
  const Ref<Operation> operation{attempt.get()};
  harness.engine.submit(operation, at(1ms));
  harness.engine.abandon(operation, Errc::cancelled, at(2ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(harness.take_bytes(node) == example_claim().set_command() + example_claim().release_command());
    CHECK(harness.engine.session(node).must_read());
    harness.engine.answered(node, ok(), at(3ms));
    harness.engine.answered(node, number(1), at(3ms));
    CHECK_FALSE(harness.engine.session(node).must_read());
  }
  CHECK(attempt->failure() == Errc::cancelled);
  CHECK(harness.engine.late_replies() == 6);
}

// ── connections ────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("only_running_operations_are_notified_of_a_lost_connection") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto done = harness.submit({}, at(1ms));
  harness.answer(0, "OK", at(1ms));
  const auto running = harness.submit({}, at(2ms));
  harness.disconnect(1, at(3ms));
  CHECK(running->events == Events{"start", "disconnected 1 connection lost"});
  CHECK(done->events == Events{"start", "answered 0 OK"});
}

TEST_CASE("silence_is_reported_as_a_lost_connection") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto first = harness.submit({.nodes = 1}, at(0ms));
  harness.engine.on_time(at(50ms));
  CHECK(first->done());
  const auto second = harness.submit({.nodes = 1, .connections = 1}, at(160ms));
  CHECK(harness.engine.timer() == at(200ms));
  harness.engine.on_time(at(200ms));
  CHECK(second->events == Events{"start", "disconnected 0 timed out"});
}

TEST_CASE("a_protocol_error_is_reported_as_a_lost_connection") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto operation = harness.submit({.answers = 3}, at(1ms));
  harness.answer(0, "OK", at(1ms));
  harness.answer(0, "OK", at(1ms));
  CHECK(operation->events == Events{"start", "answered 0 OK", "disconnected 0 protocol error"});
}

TEST_CASE("one_server_under_two_names_is_used_once_and_its_second_name_refused") {
  EngineHarness harness{3};
  const auto operation = harness.submit({.connections = 3}, at(0ms));
  harness.connect(0, at(1ms), "same");
  harness.connect(1, at(2ms), "another");
  harness.connect(2, at(3ms), "same");
  CHECK(harness.engine.session(0).ready());
  CHECK(harness.engine.session(2).state() == State::down);
  CHECK(harness.engine.session(2).trouble().status == NodeStatus::same_node);
  CHECK(harness.engine.session(2).trouble().message == "the same server as node 0, which votes");
  CHECK(operation->events == Events{"start", "refused 2 same node"});
  CHECK(harness.take_bytes(2).empty());

  // The second name is tried again with the first operation after ten seconds, and not by itself.
  CHECK(harness.engine.background_timer() == never);
  harness.submit({.connections = 0}, at(10002ms));
  CHECK(harness.engine.session(2).state() == State::down);
  harness.submit({.connections = 0}, at(10003ms));
  CHECK_FALSE(harness.engine.session(2).worth_waiting_for());
  harness.connect(2, at(10004ms), "same");
  CHECK(harness.engine.session(2).state() == State::down);
  CHECK(harness.engine.session(0).ready());

  // Once the connection under the first name is lost, the second name votes, and keeps the vote.
  harness.disconnect(0, at(10005ms));
  harness.submit({.connections = 0}, at(20004ms));
  harness.connect(2, at(20005ms), "same");
  CHECK(harness.engine.session(2).ready());
  harness.connect(0, at(20006ms), "same");
  CHECK(harness.engine.session(0).trouble().message == "the same server as node 2, which votes");
  CHECK(harness.engine.session(2).ready());

  // A server that restarted has another run_id than its copy: both vote.
  harness.submit({.connections = 0}, at(30006ms));
  harness.connect(0, at(30007ms), "restarted");
  CHECK(harness.engine.session(0).ready());
  CHECK(harness.engine.session(2).ready());
}

TEST_CASE("an_operation_waiting_for_a_connection_learns_that_it_leads_to_the_same_server") {
  EngineHarness harness{2};
  const auto operation = harness.submit({.nodes = 2, .connections = 0}, at(0ms));
  harness.connect(0, at(1ms), "same");
  harness.connect(1, at(2ms), "same");
  CHECK(operation->events == Events{"start", "disconnected 1 same node"});
}

TEST_CASE("servers_without_a_run_id_are_not_taken_for_the_same_server") {
  EngineHarness harness{2};
  harness.submit({.nodes = 2}, at(0ms));
  harness.connect(0, at(1ms), "");
  harness.connect(1, at(1ms), "");
  CHECK(harness.engine.session(0).ready());
  CHECK(harness.engine.session(1).ready());
}

// ── time ───────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("the_engine_wakes_at_each_deadline_and_when_a_caller_gives_up") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto early = harness.submit({}, at(0ms));
  const auto late = harness.submit({}, at(10ms));
  const auto impatient = harness.submit({}, at(10ms), at(55ms));
  CHECK(harness.engine.timer() == at(50ms));
  harness.engine.on_time(at(50ms) - 1ns);
  CHECK(harness.engine.finished().empty());
  harness.engine.on_time(at(50ms));
  CHECK(early->events == Events{"start", "timed out"});
  CHECK(harness.engine.timer() == at(55ms));
  harness.engine.on_time(at(55ms));
  CHECK(impatient->events == Events{"start", "given up"});
  CHECK(harness.engine.timer() == at(60ms));
  harness.engine.on_time(at(60ms));
  CHECK(late->events == Events{"start", "timed out"});
  CHECK(harness.engine.finished().size() == 3);
  // Only the timer for silent connections is left.
  CHECK(harness.engine.timer() == at(200ms));
}

TEST_CASE("an_engine_with_nothing_left_to_do_has_no_timer") {
  EngineHarness harness{3};
  CHECK(harness.engine.timer() == never);
  harness.make_ready(at(0ms));
  const auto operation = harness.submit({.answers = 3}, at(0ms), at(40ms));
  for (NodeIndex node = 0; node < 3; ++node) harness.answer(node, "OK", at(1ms));
  CHECK(operation->done());
  harness.engine.on_time(harness.engine.timer());
  CHECK(harness.engine.timer() == never);
}

// ── the end ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("every_operation_finishes_exactly_once_in_any_order") {
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    EngineHarness harness{1};
    harness.make_ready(at(0ms));
    std::vector<Ref<RecordingOperation>> operations;
    for (std::size_t i = 0; i < 4; ++i)
      operations.push_back(harness.submit({.nodes = 1, .connections = 1}, at(1ms)));
    for (const std::size_t i : order) {
      harness.abandon(operations[i], at(2ms));
      harness.abandon(operations[i], at(2ms));
      CHECK(harness.take_finished(operations[i]) == 1);
    }
    CHECK(harness.engine.active() == 0);
    for (int i = 0; i < 4; ++i) harness.answer(0, "OK", at(3ms));
    harness.engine.on_time(at(1s));
    CHECK(harness.engine.finished().empty());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("the_end_of_an_operation_needs_no_memory") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  std::vector<Ref<RecordingOperation>> operations;
  for (int i = 0; i < 40; ++i) {
    operations.push_back(harness.submit({}, at(1ms)));
    operations.back()->events.reserve(8);
  }
  for (const auto& operation : operations)
    CHECK(succeeds_with(0, [&] { harness.abandon(operation, at(2ms)); }));
  CHECK(harness.engine.finished().size() == operations.size());
}

TEST_CASE("the_engine_needs_attention_while_an_operation_runs_or_a_release_or_an_errand_is_pending") {
  EngineHarness harness{1};
  CHECK_FALSE(harness.engine.needs_attention());
  harness.make_ready(at(0ms));
  CHECK_FALSE(harness.engine.needs_attention());
  const auto operation = harness.submit({.nodes = 1, .connections = 1, .is_release = true}, at(1ms));
  CHECK(harness.engine.needs_attention());
  harness.abandon(operation, at(2ms));
  CHECK(harness.engine.needs_attention());  // bytes
  harness.take_bytes(0);
  CHECK(harness.engine.needs_attention());  // a release
  harness.answer(0, "OK", at(3ms));
  CHECK_FALSE(harness.engine.needs_attention());
  harness.disconnect(0, at(4ms));
  CHECK(harness.engine.needs_attention());  // to close
  harness.engine.session(0).take_closing();
  CHECK_FALSE(harness.engine.needs_attention());
  harness.engine.on_time(harness.engine.timer());
  CHECK(harness.engine.needs_attention());  // to dial
  harness.engine.session(0).take_dial();
  CHECK(harness.engine.needs_attention());  // the handshake
  harness.connect(0, at(100ms));
  CHECK_FALSE(harness.engine.needs_attention());
}

TEST_CASE("a_pending_reply_to_an_abandoned_operation_needs_no_attention") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto operation = harness.submit({.nodes = 1, .connections = 1}, at(1ms));
  harness.take_bytes(0);
  harness.abandon(operation, at(2ms));
  CHECK_FALSE(harness.engine.needs_attention());
}

TEST_CASE("the_background_timer_covers_only_redials") {
  EngineHarness harness{3};
  CHECK(harness.engine.background_timer() == never);
  harness.make_ready(at(0ms));
  harness.submit({}, at(1ms), at(10ms));
  CHECK(harness.engine.background_timer() == never);
  harness.disconnect(2, at(2ms));
  harness.disconnect(1, at(3ms));
  CHECK(harness.engine.background_timer() ==
        std::min(harness.engine.session(1).timer(), harness.engine.session(2).timer()));
  CHECK(harness.engine.background_timer() >= at(27ms));
  CHECK(harness.engine.background_timer() <= at(53ms));
}

TEST_CASE("shutting_down_cancels_acquisitions_and_loses_the_leases_in_force") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto acquire = [&](Time now) {
    Ref<Acquisition> acquisition{new Acquisition{example_claim(), 3, Acquisition::Purpose::wait}};
    harness.engine.submit(Ref<Operation>{acquisition.get()}, now);
    return acquisition;
  };
  const auto waiting = acquire(at(1ms));
  const auto other = harness.submit({.answers = 3}, at(1ms));
  const auto held = example_lease(988ms);
  const auto released = example_lease(988ms);
  const auto past = example_lease(3ms);
  released->release(at(2ms));
  for (NodeIndex node = 0; node < 3; ++node) harness.take_bytes(node);

  harness.engine.shut_down({held, released, past}, at(5ms));
  CHECK(waiting->failure() == Errc::cancelled);
  CHECK_FALSE(other->done());
  CHECK(held->loss(at(5ms)) == redlock::Loss::shut_down);
  CHECK(released->loss(at(5ms)) == redlock::Loss::none);
  CHECK(past->loss(at(5ms)) == redlock::Loss::deadline_passed);
  // The release of the acquisition; leases that are held are released by their holders.
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(harness.take_bytes(node) == example_claim().release_command());

  harness.engine.finished().clear();
  const auto late = acquire(at(6ms));
  CHECK(late->failure() == Errc::cancelled);
  CHECK(harness.engine.finished().size() == 1);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(harness.take_bytes(node).empty());
}
