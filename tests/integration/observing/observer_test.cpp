// The events that an observer receives from a client on real servers.
#include "redlock/metrics/observer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/metrics/prometheus.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/metrics_text.hpp"
#include "support/own_process.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Loss;
using redlock::Observer;
using redlock::Options;
using redlock::Prometheus;
using redlock::Redlock;
using redlock::Release;
using redlock::RestartGuard;
using redlock::State;
using NodeState = Observer::NodeState;

/// A client whose observer records all events. After `end()` all events have been delivered.
struct Fixture {
  explicit Fixture(int count = 3) : nodes{count} {}
  void end() { locks.reset(); }

  LocalNodes nodes;
  Observers servers{nodes};
  std::shared_ptr<RecordingObserver> recorder = std::make_shared<RecordingObserver>();
  std::optional<Redlock> locks{
      std::in_place, endpoints(nodes),
      Options{.restart_guard = RestartGuard::off, .key_prefix = "app:", .observer = recorder}};
};

template <class Event, class Predicate>
std::ptrdiff_t count(const std::vector<Event>& events, Predicate predicate) {
  return std::count_if(events.begin(), events.end(), predicate);
}

}  // namespace

// ── attempts and waits ─────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_call_that_stands_in_line_is_reported_with_its_place") {
  Fixture f;
  Redlock others{endpoints(f.nodes), Options{.restart_guard = RestartGuard::off, .key_prefix = "app:"}};
  // A client that reaches other nodes than another one may stand in another line.
  for (Redlock* const client : {&others, &*f.locks})
    REQUIRE(eventually([&] {
      const auto warm_up = client->try_lock("warm up");
      return warm_up &&
             eventually([&] { return f.servers.holding("app:warm up", warm_up->owner_value()) == 3; }, 50ms);
    }));
  auto lease = others.try_lock("r");
  REQUIRE(lease);
  auto first = std::async(std::launch::async, [&] { return others.lock("r"); });
  REQUIRE(eventually([&] { return line_in(others.inspect("r")).size() == 1; }));
  auto second = std::async(std::launch::async, [&] { return f.locks->lock("r"); });
  REQUIRE(eventually([&] { return line_in(others.inspect("r")).size() == 2; }));
  CHECK(f.locks->try_lock("r").is_held());
  CHECK(lease->release() == Release::released);
  CHECK(first.get().value().release() == Release::released);
  CHECK(second.get().value().release() == Release::released);
  f.end();
  const auto lines = f.recorder->lines();
  REQUIRE(lines.size() >= 2);
  CHECK(lines.front().resource == "r");
  CHECK(lines.front().step == Observer::LineStep::entered);
  CHECK(lines.front().position == 2);
  CHECK(lines.front().length == 2);
  CHECK(lines.back().step == Observer::LineStep::granted);
  CHECK(lines.back().waited > lines.front().waited);
}

TEST_CASE("every_event_of_a_lock_has_its_kind") {
  using Kind = Observer::Kind;
  Fixture f;
  Redlock others{endpoints(f.nodes), Options{.restart_guard = RestartGuard::off, .key_prefix = "app:"}};
  std::vector<redlock::Lease> held;  // by the other client
  // Each call stands in line first, until the other client has released its locks.
  const auto use = [&](const std::string& resource, auto call) {
    auto got = std::async(std::launch::async, call);
    CHECK(eventually([&] {
      return count(f.recorder->lines(), [&](const auto& one) { return one.resource.starts_with(resource); }) >
             0;
    }));
    held.clear();
    redlock::Lease lease = got.get();
    CHECK(lease.extend());
    lease.release();
  };
  held.push_back(others.lock("plain").value());
  use("plain", [&] { return f.locks->try_lock_for("plain", 20s).value(); });
  held.push_back(others.lock("readers").value());
  use("readers", [&] { return f.locks->try_lock_for("readers", 20s, {.shared = true}).value(); });
  for (int seat = 0; seat < 2; ++seat) held.push_back(others.lock("gpu", {.seats = 2}).value());
  use("gpu", [&] { return f.locks->try_lock_for("gpu", 20s, {.seats = 2}).value(); });
  held.push_back(redlock::Election{others, "cron"}.campaign().value());
  use("cron", [&] { return redlock::Election{*f.locks, "cron"}.campaign().value(); });
  held.push_back(others.lock("b").value());
  use("b", [&] { return std::move(f.locks->try_lock_all_for({"a", "b"}, 20s).value()[0]); });
  f.end();
  const auto check = [](const auto& events) {
    const std::map<std::string, Kind> kinds{{"plain", Kind::exclusive}, {"readers", Kind::shared},
                                            {"gpu", Kind::seat},        {"cron", Kind::leader},
                                            {"a", Kind::exclusive},     {"b", Kind::exclusive}};
    std::set<std::string> names;
    for (const auto& event : events) {
      CAPTURE(event.resource);
      const std::string name = event.resource.starts_with("gpu") ? "gpu" : event.resource;
      REQUIRE(kinds.contains(name));
      CHECK(event.kind == kinds.at(name));
      names.insert(name);
    }
    return names;
  };
  const std::set<std::string> all{"plain", "readers", "gpu", "cron", "a", "b"};
  CHECK(check(f.recorder->attempts()) == all);
  CHECK(check(f.recorder->waits()) == all);
  CHECK(check(f.recorder->holds()) == all);
  CHECK(check(f.recorder->lines()) == all);
  CHECK(check(f.recorder->extensions()) == std::set<std::string>{"plain", "readers", "gpu", "cron", "a"});
}

TEST_CASE("a_lock_that_only_others_in_line_keep_from_a_caller_says_so") {
  Fixture f;
  f.servers.command({"SET", "redlock:qw:{app:r}", "a line", "PX", "60000"});
  const auto denied = f.locks->try_lock("r");
  CHECK(denied.is_held());
  CHECK_FALSE(denied.holder());
  CHECK(denied.message().find("others stand in line for it") != std::string::npos);
  CHECK_FALSE(denied.nodes().front().owner);
}

TEST_CASE("attempts_are_reported_with_their_outcomes") {
  const std::string label = "the first one";
  Fixture f;
  const auto before = Clock::now();
  {
    const auto lease = f.locks->try_lock("r", {.label = label});
    REQUIRE(lease);
    REQUIRE(f.locks->try_lock("r").is_held());
    for (const int node : {0, 1}) f.nodes.kill(node);
    REQUIRE(f.locks->try_lock("other").code() == Errc::no_quorum);
  }
  f.end();
  const auto attempts = f.recorder->attempts();
  REQUIRE(attempts.size() == 3);
  CHECK(attempts[0].resource == "r");
  CHECK(attempts[0].failure == std::nullopt);
  CHECK(attempts[0].holder == std::nullopt);
  CHECK(attempts[1].failure == Errc::held);
  REQUIRE(attempts[1].holder);
  CHECK(attempts[1].holder->label == label);
  CHECK(attempts[1].holder->ttl.value_or(0ns) > 1s);
  CHECK(attempts[2].resource == "other");
  CHECK(attempts[2].failure == Errc::no_quorum);
  for (const Observer::Attempt& attempt : attempts) {
    CHECK(attempt.took > 0ns);
    CHECK(attempt.took < Clock::now() - before);
  }
  CHECK(f.recorder->waits().empty());
}

TEST_CASE("a_wait_is_reported_with_its_outcome_and_total_time") {
  Fixture f;
  f.servers.command({"SET", "app:r", "somebody", "PX", "2000"});
  const auto before = Clock::now();
  REQUIRE(f.locks->try_lock_for("r", 500ms).is_held());
  const auto between = Clock::now();
  REQUIRE(is_granted(f.locks->try_lock_for("r", 20s)));
  const auto after = Clock::now();
  std::stop_source stopped;
  stopped.request_stop();
  REQUIRE(f.locks->lock("r", {}, stopped.get_token()).code() == Errc::cancelled);
  f.end();
  const auto waits = f.recorder->waits();
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].resource == "r");
  CHECK(waits[0].failure == Errc::timed_out);
  CHECK(waits[0].waited >= 50ms);
  CHECK(waits[0].waited <= between - before);
  CHECK(waits[1].failure == std::nullopt);
  CHECK(waits[1].waited >= 300ms);
  CHECK(waits[1].waited <= after - between);
  CHECK(waits[2].failure == Errc::cancelled);
  CHECK(count(f.recorder->attempts(), [](const auto& attempt) { return !attempt.failure; }) == 1);
  CHECK(f.recorder->attempts().size() >= 2);
}

TEST_CASE("a_second_round_is_reported") {
  Fixture f;
  // All counters differ.
  for (std::size_t node = 0; node < 3; ++node)
    f.servers[node].command(
        {"SET", "redlock:f:{app:r}", std::to_string(4'000'000'000'000'000 + 1000 * node)});
  REQUIRE(is_granted(f.locks->try_lock("r")));
  f.end();
  REQUIRE(f.recorder->attempts().size() == 1);
  CHECK(f.recorder->attempts()[0].second_round);
}

// ── holds and losses ───────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_released_lease_is_reported_with_its_hold_time_and_remaining_validity") {
  Fixture f;
  const auto before = Clock::now();
  auto lease = f.locks->try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  const auto deadline = lease->deadline();
  const auto got = Clock::now();
  std::this_thread::sleep_for(30ms);
  const auto releasing = Clock::now();
  CHECK(lease->release() == Release::released);
  const auto released = Clock::now();
  *lease = {};
  f.end();
  const auto holds = f.recorder->holds();
  REQUIRE(holds.size() == 1);
  CHECK(holds[0].resource == "r");
  CHECK(holds[0].release == Release::released);
  CHECK(holds[0].loss == Loss::none);
  CHECK(holds[0].held >= releasing - got);
  CHECK(holds[0].held <= released - before);
  CHECK(holds[0].validity_left <= deadline - releasing);
  CHECK(holds[0].validity_left >= deadline - released);
}

TEST_CASE("a_loss_is_reported_once_at_the_deadline_even_without_listeners") {
  Fixture f;
  const auto before = Clock::now();
  auto lease = f.locks->try_lock("r", {.ttl = 1s, .renewal = redlock::Renewal::none});
  const auto got = Clock::now();
  REQUIRE(lease);
  const auto deadline = lease->deadline();
  REQUIRE(eventually([&] { return f.recorder->holds().size() == 1; }));
  CHECK(Clock::now() >= deadline);
  *lease = {};
  f.end();
  const auto holds = f.recorder->holds();
  REQUIRE(holds.size() == 1);
  CHECK(holds[0].release == Release::already_lost);
  CHECK(holds[0].loss == Loss::deadline_passed);
  CHECK(holds[0].validity_left == 0ns);
  CHECK(holds[0].held >= deadline - got);
  CHECK(holds[0].held <= deadline - before);
}

TEST_CASE("a_loss_is_reported_with_its_reason") {
  Fixture f;
  auto lease = f.locks->try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  const bool taken = GENERATE(false, true);
  f.servers.command({"DEL", "app:r"});
  if (taken) f.servers.command({"SET", "app:r", "somebody else"});
  REQUIRE_FALSE(lease->extend());
  REQUIRE(eventually([&] { return f.recorder->holds().size() == 1; }));
  CHECK(f.recorder->holds()[0].loss == (taken ? Loss::taken : Loss::deleted));
  CHECK(f.recorder->holds()[0].held < 60s);
  CHECK(f.recorder->extensions().at(0).state == State::lost);
}

TEST_CASE("a_release_without_answers_is_reported_as_unknown") {
  Fixture f;
  auto lease = f.locks->try_lock("r");
  REQUIRE(lease);
  for (const int node : {0, 1}) f.nodes.kill(node);
  CHECK(lease->release() == Release::unknown);
  *lease = {};
  f.end();
  REQUIRE(f.recorder->holds().size() == 1);
  CHECK(f.recorder->holds()[0].release == Release::unknown);
  CHECK(f.recorder->holds()[0].validity_left > 0ns);
}

// ── extensions ─────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("renewals_are_reported_with_their_lateness_and_explicit_extensions_without") {
  Fixture f;
  auto lease = f.locks->try_lock("r", {.ttl = 1s});
  auto by_hand = f.locks->try_lock("by hand");
  REQUIRE((lease && by_hand));
  REQUIRE(by_hand->extend());
  REQUIRE(eventually([&] { return f.recorder->extensions().size() >= 5; }));
  *lease = {};
  *by_hand = {};
  f.end();
  const auto extensions = f.recorder->extensions();
  for (const Observer::Extension& extension : extensions) {
    CHECK(extension.late.has_value() == (extension.resource == "r"));
    CHECK(extension.late.value_or(0ns) >= 0ns);
    CHECK(extension.late.value_or(0ns) < 1s);
    CHECK(extension.took > 0ns);
  }
  CHECK(count(extensions, [](const auto& one) { return one.resource == "by hand"; }) == 1);
  CHECK(extensions[0].state == State::held);
}

TEST_CASE("a_renewal_without_a_majority_is_reported_in_doubt") {
  Fixture f;
  const auto lease = f.locks->try_lock("r", {.ttl = 1s});
  REQUIRE(lease);
  for (const int node : {0, 1}) f.nodes.pause(node);
  REQUIRE(eventually([&] { return !f.recorder->holds().empty(); }));
  CHECK(f.recorder->holds()[0].loss == Loss::no_quorum);
  CHECK(count(f.recorder->extensions(), [](const auto& one) { return one.state == State::in_doubt; }) > 0);
  for (const int node : {0, 1}) f.nodes.resume(node);
}

// ── nodes ──────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("connections_and_reconnections_are_reported_per_node") {
  Fixture f;
  REQUIRE(is_granted(f.locks->try_lock("r")));
  const auto ready = [&](bool again) {
    return count(f.recorder->nodes(), [&](const Observer::Node& one) {
      return one.state == NodeState::ready && one.reconnected == again;
    });
  };
  REQUIRE(eventually([&] { return ready(false) == 3; }));
  CHECK(ready(true) == 0);
  f.servers.command({"CLIENT", "KILL", "TYPE", "normal"});
  REQUIRE(eventually([&] {
    static_cast<void>(f.locks->try_lock_for("r", 20s));
    return ready(true) == 3;
  }));
  CHECK(ready(false) == 3);
}

TEST_CASE("a_node_that_lost_its_data_is_reported_as_barred") {
  LocalNodes nodes{3};
  const auto recorder = std::make_shared<RecordingObserver>();
  Redlock locks{endpoints(nodes), {.observer = recorder}};
  REQUIRE(is_granted(locks.try_lock("r")));
  nodes.restart_empty(1);
  CHECK(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return count(recorder->nodes(), [&](const Observer::Node& one) {
             return one.node == nodes.url(1) && one.state == NodeState::barred &&
                    one.trouble == redlock::NodeStatus::quarantined;
           }) == 1;
  }));
}

TEST_CASE("a_node_that_dies_and_returns_is_reported_down_with_a_reason_and_then_reconnected") {
  Fixture f;
  REQUIRE(is_granted(f.locks->try_lock("r")));
  const auto events_of_node = [&](auto what) {
    return count(f.recorder->nodes(),
                 [&](const auto& one) { return one.node == f.nodes.url(2) && what(one); });
  };
  REQUIRE(eventually(
      [&] { return events_of_node([](const auto& one) { return one.state == NodeState::ready; }) == 1; }));
  f.nodes.kill(2);
  const auto is_down = [](const Observer::Node& one) { return one.state == NodeState::down; };
  REQUIRE(eventually([&] {
    static_cast<void>(f.locks->try_lock_for("r", 20s));
    return events_of_node(is_down) > 0;
  }));
  f.nodes.restart_empty(2);
  REQUIRE(eventually([&] { return events_of_node([](const auto& one) { return one.reconnected; }) == 1; }));
  const auto nodes = f.recorder->nodes();
  const auto down = std::find_if(nodes.begin(), nodes.end(), is_down);
  CHECK(down->trouble);
  CHECK_FALSE(down->message.empty());
}

// ── all together ────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("every_lease_of_a_busy_client_with_many_threads_is_counted") {
  LocalNodes nodes{3};
  const auto metrics = std::make_shared<Prometheus>();
  std::atomic<int> leases = 0;
  {
    Redlock locks{endpoints(nodes), {.observer = metrics}};
    std::vector<std::thread> threads;
    for (int caller = 0; caller < 4; ++caller)
      threads.emplace_back([&, caller] {
        for (int i = 0; i < 50; ++i)
          if (const auto lease = locks.try_lock_for("r " + std::to_string(caller / 2), 20s)) ++leases;
      });
    for (int i = 0; i < 20; ++i) static_cast<void>(metrics->text());
    for (std::thread& thread : threads) thread.join();
  }
  const MetricsText text{metrics->text()};
  CHECK(leases == 200);
  CHECK(text["redlock_attempt_duration_seconds_count{kind=\"exclusive\",outcome=\"acquired\"}"] == 200);
  CHECK(text["redlock_wait_duration_seconds_count{kind=\"exclusive\",outcome=\"acquired\"}"] == 200);
  CHECK(text["redlock_hold_duration_seconds_count{kind=\"exclusive\",end=\"released\"}"] == 200);
  CHECK(text["redlock_validity_left_seconds_count{kind=\"exclusive\"}"] == 200);
  CHECK(text["redlock_observer_dropped_total"] == 0);
  for (const std::string& url : nodes.urls()) CHECK(text["redlock_node_ready{node=\"" + url + "\"}"] == 1);
}

TEST_CASE("nothing_is_reported_in_a_forked_child") {
  Fixture f;
  auto lease = f.locks->try_lock("r");
  REQUIRE(lease);
  REQUIRE(eventually([&] { return f.recorder->attempts().size() == 1 && f.recorder->nodes().size() == 6; }));
  CHECK(in_child([&] {
          *lease = {};
          f.end();
          return f.recorder->holds().empty() ? 17 : 1;
        }) == 17);
  *lease = {};
  f.end();
  CHECK(f.recorder->holds().size() == 1);
}
