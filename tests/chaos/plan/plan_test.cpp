// The faults of chaos are drawn beforehand, and keep to what their profile allows.
#include "chaos/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "support/catch.hpp"

namespace {

using namespace redlock::chaos;
using namespace std::chrono_literals;

constexpr Shape long_run{.seed = 7, .nodes = 5, .clients = 12, .length = std::chrono::seconds{600}};

Shape shape(std::uint64_t seed, Profile profile) {
  Shape shape = long_run;
  shape.seed = seed;
  shape.profile = profile;
  return shape;
}
std::set<int> nodes_that_lose_data(const Plan& plan) {
  std::set<int> nodes;
  for (const Fault& fault : plan.faults)
    if (loses_data(fault.kind)) nodes.insert(fault.target);
  return nodes;
}
bool has(const Plan& plan, Kind kind) {
  return std::ranges::any_of(plan.faults, [kind](const Fault& fault) { return fault.kind == kind; });
}

}  // namespace

TEST_CASE("one_seed_gives_one_plan_and_another_seed_another_one") {
  CHECK(draw_plan(long_run).faults == draw_plan(long_run).faults);
  CHECK(draw_plan(long_run).faults != draw_plan(shape(8, Profile::within)).faults);
  CHECK(draw_plan(long_run).faults != draw_plan(shape(7, Profile::beyond)).faults);
}

TEST_CASE("within_the_assumptions_a_fixed_minority_loses_data_or_the_clocks_of_clients_are_wrong") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = draw_plan(shape(seed, Profile::within));
    const bool some_lose = seed % 2 == 1;
    CHECK(nodes_that_lose_data(plan).size() == (some_lose ? 2 : 0));
    CHECK(has(plan, Kind::client_clock) != some_lose);
    CHECK_FALSE(has(plan, Kind::node_clock));
  }
}

TEST_CASE("beyond_the_assumptions_all_nodes_lose_data_or_the_clocks_of_clients_are_wrong") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = draw_plan(shape(seed, Profile::beyond));
    const bool all_lose = seed % 2 == 0;
    CHECK(nodes_that_lose_data(plan).size() == (all_lose ? 5 : 0));
    CHECK(has(plan, Kind::client_clock) != all_lose);
    CHECK(has(plan, Kind::node_clock));
  }
}

TEST_CASE("a_client_that_runs_commands_is_stopped_and_killed_in_each_process_that_it_starts") {
  Shape with_commands = shape(8, Profile::within);
  with_commands.running = {1};
  std::map<std::pair<Kind, int>, std::set<Part>> parts;
  for (const Fault& fault : draw_plan(with_commands).faults)
    parts[{fault.kind, fault.target}].insert(fault.part);
  const std::set started{Part::run, Part::watchdog, Part::command};
  CHECK(parts[{Kind::client_stop, 1}] == started);
  CHECK(parts[{Kind::client_kill, 1}] == started);
  CHECK(parts[{Kind::client_clock, 1}] == std::set{Part::client});
  CHECK(parts[{Kind::client_kill, 0}] == std::set{Part::client});
  CHECK(describe({.kind = Kind::client_kill, .at = 0s, .length = 1s, .target = 1, .part = Part::watchdog},
                 3) == "client-kill of the watchdog of client B");
}

TEST_CASE("a_kill_of_a_process_of_redlock_run_looks_for_it_for_three_seconds_at_most") {
  Shape running = long_run;
  running.running = {1};
  for (const Fault& fault : draw_plan(running).faults)
    if (fault.kind == Kind::client_kill && fault.part != Part::client)
      CHECK((fault.length == longest_fault || fault.at + fault.length == long_run.length));
}

TEST_CASE("a_throttled_link_slows_commands_or_replies_or_both") {
  std::map<Kind, std::set<Way>> ways;
  for (const Fault& fault : draw_plan(long_run).faults) ways[fault.kind].insert(fault.way);
  CHECK(ways[Kind::throttle] == std::set{Way::both, Way::commands, Way::replies});
  CHECK(ways[Kind::delay] == std::set{Way::both});
  CHECK(describe(
            {.kind = Kind::throttle, .at = 0s, .length = 1s, .target = 5, .amount = 3, .way = Way::replies},
            3) == "throttle 3 of replies between node 2 and half 1");
}

TEST_CASE("packets_are_lost_only_where_the_machine_can_do_that") {
  Shape lossy = long_run;
  lossy.loses_packets = true;
  for (const Kind kind : {Kind::lost, Kind::lost_to_node, Kind::lost_to_client}) {
    CHECK(has(draw_plan(lossy), kind));
    CHECK_FALSE(has(draw_plan(long_run), kind));
  }
}

TEST_CASE("clients_that_last_are_stopped_and_never_killed") {
  Shape lasting = long_run;
  lasting.lasting = 4;
  std::map<Kind, std::set<int>> targets;
  for (const Fault& fault : draw_plan(lasting).faults) targets[fault.kind].insert(fault.target);
  CHECK(*targets[Kind::client_kill].rbegin() == 7);
  CHECK(*targets[Kind::client_stop].rbegin() == 11);
}

TEST_CASE("long_plans_have_faults_of_every_kind_and_those_of_one_target_do_not_overlap") {
  std::set<Kind> kinds;
  for (const std::uint64_t seed : {1U, 2U}) {
    Shape lossy = shape(seed, Profile::beyond);
    lossy.loses_packets = true;
    std::map<std::pair<Place, int>, std::chrono::milliseconds> ends;
    for (const Fault& fault : draw_plan(lossy).faults) {
      kinds.insert(fault.kind);
      std::chrono::milliseconds& end = ends[{place_of(fault.kind), fault.target}];
      CHECK(fault.at >= end);
      end = fault.at + fault.length;
      CHECK(fault.length > 0ms);
      CHECK(fault.length <= longest_fault);
      CHECK(end <= long_run.length);
    }
  }
  CHECK(kinds.size() == 27);
}

TEST_CASE("clients_are_stopped_unless_they_are_to_keep_their_deadlines") {
  Shape punctual = long_run;
  punctual.stops_clients = false;
  CHECK(has(draw_plan(long_run), Kind::client_stop));
  CHECK_FALSE(has(draw_plan(punctual), Kind::client_stop));
  CHECK(has(draw_plan(punctual), Kind::client_kill));
}

TEST_CASE("a_plan_of_restarts_cuts_one_half_off_from_one_node_and_lets_another_one_forget") {
  const Plan plan = draw_plan_of_restarts(long_run);
  CHECK(plan.faults == draw_plan_of_restarts(long_run).faults);
  CHECK(plan.faults != draw_plan_of_restarts(shape(8, Profile::within)).faults);
  CHECK(plan.faults.front() == Fault{.kind = Kind::reset, .at = 0s, .length = long_run.length, .target = 2});
  CHECK(plan.faults.size() > 200);
  CHECK(nodes_that_lose_data(plan) == std::set{1});
}
