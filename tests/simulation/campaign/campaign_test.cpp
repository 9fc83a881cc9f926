#include "simulation/campaign/campaign.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/timeline/timeline.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"

using namespace redlock::simulation;

TEST_CASE("a_seed_determines_the_history") {
  for (const Profile profile : {Profile::within, Profile::beyond}) {
    const Schedule schedule = draw_schedule(11, profile);
    std::vector<Event> histories[2];
    for (auto& events : histories) {
      Interpreter interpreter;
      History history{true};
      static_cast<void>(World{schedule, interpreter, history, nullptr}.run());
      events = history.events();
    }
    CHECK(histories[0].size() > 100);
    CHECK(histories[0] == histories[1]);
  }
}

TEST_CASE("recording_a_history_does_not_change_it") {
  const Schedule schedule = draw_schedule(12, Profile::beyond);
  Interpreter interpreter;
  History read{true};
  History unread;
  const Outcome one = World{schedule, interpreter, read, nullptr}.run();
  const Outcome other = World{schedule, interpreter, unread, nullptr}.run();
  CHECK(one.figures.commands == other.figures.commands);
  CHECK(one.figures.grants == other.figures.grants);
}

TEST_CASE("the_first_failing_seed_is_reported_for_any_number_of_threads") {
  Campaign campaign{.schedules = 300, .mutant = mutant_named("unfolded-grants-count")};
  const CampaignResult alone = run(campaign);
  campaign.jobs = 4;
  const CampaignResult together = run(campaign);
  REQUIRE(alone.failed_seed);
  CHECK(alone.failed_seed == together.failed_seed);
  CHECK(alone.violation->text == together.violation->text);
}

// With this seed the first look of a client meets a gate that does not know the script yet. It must test all the same whether the
// client may publish: otherwise nobody knows that nobody is told.
TEST_CASE("members_of_a_line_look_often_if_they_may_not_publish") {
  CHECK_FALSE(run({.first_seed = 9, .schedules = 1, .profile = Profile::beyond}).violation);
}

// A holder hears from a majority that its value is gone, while an extension puts the value back on one of these nodes by a
// plain SET.
TEST_CASE("a_copy_that_was_put_back_just_now_does_not_make_the_report_of_a_loss_wrong") {
  CHECK_FALSE(run({.first_seed = 506994, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed a client is told of a loss while a majority has its value: one node has got that back as the copy of its
// master, which no client has set there.
TEST_CASE("a_copy_that_came_by_replication_does_not_make_the_report_of_a_loss_wrong") {
  CHECK_FALSE(run({.first_seed = 747609, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed a client checks a lease that is being released: one node has deleted its copy when the check begins, and
// another one gets its copy only afterwards. Each node of a majority shows the value, but not at one time.
TEST_CASE("a_check_during_a_release_is_judged_by_what_each_node_has_shown") {
  CHECK_FALSE(run({.first_seed = 2034533, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed a node comes back with readers who held the lock before the last writer, but with the counter that this
// writer has raised. A new reader joined them and got the writer's token.
TEST_CASE("readers_do_not_return_beside_a_newer_counter") {
  CHECK_FALSE(run({.first_seed = 2031364, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With these seeds the first one in line dies and the next one is paused, so that nobody raises the flag, and a call that
// stands behind for long gets the lock. The gate was honest, and must go on to order the line.
TEST_CASE("an_honest_gate_keeps_the_line_when_the_first_two_fall_silent") {
  CHECK_FALSE(run({.first_seed = 3168891, .schedules = 1, .profile = Profile::within}).violation);
  CHECK_FALSE(run({.first_seed = 3097079, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed a client's first call stands in line at another node than those of the others, because its connection to
// their gate is slow.
TEST_CASE("a_client_that_makes_its_first_connections_may_disturb_the_order") {
  CHECK_FALSE(run({.first_seed = 3565370, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed somebody in line dies, the clock of the gate is set back, and the gate stops before anybody looks again. So the
// dead one counts as alive for longer than anybody who dies.
TEST_CASE("a_gate_that_is_set_back_and_stops_may_delay_those_behind_the_dead") {
  CHECK_FALSE(run({.first_seed = 4584610, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed a node is away without its data, and the clients have not redialled it when it is back. A seat that was released
// with a minimum time is free on one of the other two nodes, and not on the other one, whose clock was set back.
TEST_CASE("nobody_in_line_takes_a_seat_of_a_node_that_was_not_redialled_yet") {
  CHECK_FALSE(run({.first_seed = 12292577, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed the first one in line has not redialled a node that has come back, and a copy lives on at another one, whose clock
// is set back. The client behind it has redialled, and could have the lock.
TEST_CASE("a_first_one_in_line_that_has_not_redialled_a_node_keeps_the_others_waiting") {
  CHECK_FALSE(run({.first_seed = 15034902, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed the clock of a node is set back. A lock of readers that had expired is there again, without the keys of its readers:
// their releases have deleted those.
TEST_CASE("an_expired_lock_of_readers_comes_back_when_a_clock_is_set_back") {
  CHECK_FALSE(run({.first_seed = 15264087, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed one client takes locks and the other one only watches. After all faults, the former made two calls within the
// time in which somebody has to get the lock, and cancelled both of them.
TEST_CASE("calls_that_the_application_cancels_do_not_count_as_locks_that_nobody_gets") {
  CHECK_FALSE(run({.first_seed = 15448926, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed a writer becomes a reader too late: its shared lock is over when it is granted. The thread's next lock is that of
// another call, for several locks.
TEST_CASE("who_became_a_reader_too_late_is_a_plain_writer_with_its_next_lock") {
  CHECK_FALSE(run({.first_seed = 16294808, .schedules = 1, .profile = Profile::within}).violation);
}

// With these seeds a client that only watches stands beside one that takes seats of a semaphore, in short holds.
TEST_CASE("seats_that_only_an_observer_could_take_may_stay_free") {
  CHECK_FALSE(run({.first_seed = 15445905, .schedules = 1, .profile = Profile::within}).violation);
  CHECK_FALSE(run({.first_seed = 15410807, .schedules = 1, .profile = Profile::beyond}).violation);
  CHECK_FALSE(run({.first_seed = 15527634, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed people delete the holder's copies on two nodes, and the holder puts one back. The client that watches was told
// that the holder has left, and names it again a quarter of a second later.
TEST_CASE("a_holder_that_gets_its_majority_back_is_named_again_a_little_later") {
  CHECK_FALSE(run({.first_seed = 12203056, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed releases keep the lock for its minimum time, and many calls in line give up meanwhile. Each one that becomes the
// first asks once.
TEST_CASE("attempts_of_those_who_become_the_first_in_line_of_a_kept_lock_are_no_polling") {
  CHECK_FALSE(run({.first_seed = 13244481, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed a reader asks for two locks and is paused until just before its deadline.
TEST_CASE("the_locks_of_one_call_end_together") {
  CHECK_FALSE(run({.first_seed = 13280446, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed operators delete markers, another client writes them again, and a client that only watches the lock has to
// look at them, too.
TEST_CASE("a_client_that_only_watches_a_lock_looks_again_at_nodes_that_do_not_vote") {
  CHECK_FALSE(run({.first_seed = 493, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed a holder's second round does not reach the one node with a smaller counter, and the holder's copy on another
// node is gone early. So two nodes show the holder, each with another counter, and nobody can read its token from them.
TEST_CASE("a_client_that_watches_a_lock_is_told_a_token_only_if_a_majority_shows_it") {
  CHECK_FALSE(run({.first_seed = 7337213, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed a node reports the run_id of another one, and both lose their data. A client that takes the two for one server
// marks only one of them, with the false run_id. Afterwards nobody asks for a lock, and a client that only watches marks no node.
TEST_CASE("a_client_that_watches_a_lock_knows_that_it_is_free_only_if_a_majority_has_valid_markers") {
  CHECK_FALSE(run({.first_seed = 7697527, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed a raise is followed by the loss of two nodes' data and a restart of the third one, whose marker thereby ends as
// well. Then a client that marks the nodes knows only its own, smaller option, and its quarantines are too short.
TEST_CASE("in_a_raise_one_node_keeps_its_marker") {
  CHECK_FALSE(run({.first_seed = 11106681, .schedules = 1, .profile = Profile::within}).violation);
}

// With this seed the only client beside an observer asks for the lock once after the faults, too early, and then only checks
// leases and asks holders.
TEST_CASE("while_nobody_has_got_the_free_lock_for_long_clients_ask_for_it_and_do_nothing_else") {
  CHECK_FALSE(run({.first_seed = 11184834, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed different seats are free on different nodes for a while, and none is free on a majority.
TEST_CASE("the_first_one_in_line_asks_for_a_seat_only_when_one_may_be_free_on_a_majority") {
  CHECK_FALSE(run({.first_seed = 6359, .schedules = 1, .profile = Profile::beyond}).violation);
}

// With this seed the nodes' markers name two deployments for a while, in which every attempt fails at once.
TEST_CASE("calls_cancelled_too_late_do_not_multiply_attempts") {
  Interpreter interpreter;
  History history;
  const Schedule schedule = draw_schedule(36840, Profile::within);
  const Outcome outcome = World{schedule, interpreter, history, nullptr}.run();
  CHECK_FALSE(outcome.violation);
  CHECK(outcome.figures.attempts < 2000);
}

TEST_CASE("a_copy_restored_after_its_release_is_detected") {
  for (const std::string_view mistake : {"renewal-after-release", "repair-after-failure"}) {
    INFO(mistake);
    const CampaignResult result = run({.schedules = 300, .mutant = mutant_named(mistake)});
    REQUIRE(result.violation);
    CHECK(result.violation->rule == Rule::ownership);
  }
}

TEST_CASE("a_failing_schedule_is_reduced_to_the_necessary_faults") {
  const Campaign campaign{.first_seed = 1459, .schedules = 1, .mutant = mutant_named("lost-grants-count")};
  const CampaignResult result = run(campaign);
  REQUIRE(result.failed_seed);
  const Schedule whole = draw_schedule(*result.failed_seed, campaign.profile_of(*result.failed_seed));
  const Schedule reduced = shrink(whole, result.violation->rule, campaign.mutant);
  CHECK(reduced.faults.size() < whole.faults.size() / 2);
  Interpreter interpreter;
  History history;
  const Outcome outcome = World{reduced, interpreter, history, campaign.mutant}.run();
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->rule == result.violation->rule);
}

TEST_CASE("the_documented_example_of_a_reduced_schedule_is_correct") {
  const std::string text = redlock::testing::read_project_file("docs/simulation.md");
  CHECK(text.find("redlock-sim --seed 1539 --profile within --mutant no-drift\n") != text.npos);
  CHECK(text.find("--faults 6,7,11,13\n") != text.npos);
  const Campaign campaign{
      .first_seed = 1539, .schedules = 1, .profile = Profile::within, .mutant = mutant_named("no-drift")};
  const CampaignResult result = run(campaign);
  REQUIRE(result.failed_seed == 1539);
  const Schedule whole = draw_schedule(1539, Profile::within);
  const Schedule reduced = shrink(whole, result.violation->rule, campaign.mutant);
  CHECK(reduced.faults == std::vector{whole.faults[6], whole.faults[7], whole.faults[11], whole.faults[13]});
}

// A table in the docs says which schedule finds each mistake first, and which promise is broken then.
TEST_CASE("every_mistake_is_found_by_the_schedule_that_the_docs_name") {
  const std::string text = redlock::testing::read_project_file("docs/simulation.md");
  for (const auto& mutant : mutants()) {
    INFO(mutant->name());
    const std::string column = "(`" + std::string{mutant->name()} + "`) | ";
    const std::size_t row = text.find(column);
    REQUIRE(row != text.npos);
    const std::size_t number = row + column.size();
    const std::size_t rule = text.find(" | ", number) + 3;
    const CampaignResult result =
        run({.first_seed = std::stoull(text.substr(number)), .schedules = 1, .mutant = mutant.get()});
    REQUIRE(result.violation);
    CHECK(name_of(result.violation->rule) == text.substr(rule, text.find(" |", rule) - rule));
  }
}

TEST_CASE("every_judged_event_occurs") {
  const CampaignResult within = run({.schedules = 300, .profile = Profile::within});
  REQUIRE_FALSE(within.violation);
  CHECK(within.figures.schedules == 300);
  CHECK(within.figures.faults > 1000);
  CHECK(within.figures.commands > 100000);
  CHECK(within.figures.attempts > 1000);
  CHECK(within.figures.grants > 1000);
  CHECK(within.figures.second_rounds > 100);
  CHECK(within.figures.adoptions > 10);
  CHECK(within.figures.shared > 100);
  CHECK(within.figures.downgrades > 10);
  CHECK(within.figures.extensions > 100);
  CHECK(within.figures.repairs > 10);
  CHECK(within.figures.kept > 10);
  CHECK(within.figures.checks > 100);
  CHECK(within.figures.requests > 100);
  CHECK(within.figures.requests_heard > 5);
  CHECK(within.figures.together > 100);
  CHECK(within.figures.holders_told > 1000);
  CHECK(within.figures.releases_in_callbacks > 5);
  CHECK(within.figures.bypasses > 5);
  CHECK(within.figures.overlaps == 0);
  const CampaignResult beyond = run({.schedules = 200, .profile = Profile::beyond});
  REQUIRE_FALSE(beyond.violation);
  CHECK(beyond.figures.breaks > 10);
  CHECK(beyond.figures.overlaps > 10);
  CHECK(beyond.figures.writes_refused > 10);
  CHECK(beyond.figures.writes_lost_unfenced > 10);
  CHECK(beyond.figures.reads_torn_unfenced > 0);
}

// The digests differ between two builds only if some history does. Whoever changes what happens in the world on purpose
// writes the new one here, after every build has printed the same: redlock-sim --digest --schedules 200
TEST_CASE("histories_are_the_same_with_every_compiler_and_every_option") {
  CHECK(digest_of_histories({.schedules = 200}) == 0x58d80fc5b49ef1feU);
}

TEST_CASE("schedules_vary_as_intended") {
  std::size_t faults = 0;
  std::size_t busy_worlds = 0;  // worlds about lines have few faults
  int fewest = 99;
  int most = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Schedule schedule = draw_schedule(seed, Profile::beyond);
    if (!schedule.is_about_lines) {
      ++busy_worlds;
      faults += schedule.faults.size();
    }
    fewest = std::min(fewest, schedule.clients);
    most = std::max(most, schedule.clients);
    CHECK((schedule.nodes == 3 || schedule.nodes == 5));
  }
  CHECK(faults >= 30 * busy_worlds);
  CHECK(fewest == 2);
  CHECK(most == 8);
}

TEST_CASE("every_kind_of_world_is_drawn") {
  std::map<std::string_view, int> worlds;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    for (const Profile profile : {Profile::within, Profile::beyond}) {
      const Schedule schedule = draw_schedule(seed, profile);
      const auto has = [&schedule](auto is_meant) {
        return std::any_of(schedule.faults.begin(), schedule.faults.end(), is_meant);
      };
      const auto has_kind = [&has](Fault::Kind kind) {
        return has([kind](const Fault& fault) { return fault.kind == kind; });
      };
      const auto has_only = [&schedule](std::initializer_list<Fault::Kind> kinds) {
        return std::ranges::all_of(schedule.faults, [kinds](const Fault& fault) {
          return std::ranges::find(kinds, fault.kind) != kinds.end();
        });
      };
      using Kind = Fault::Kind;
      worlds["guarded"] += schedule.guarded;
      worlds["automatic"] += schedule.automatic;
      worlds["deployed"] += schedule.deployed;
      worlds["with two teams"] += schedule.two_teams;
      worlds["with a strict client"] += schedule.strict_client >= 0;
      worlds["with an alias"] += schedule.alias >= 0;
      worlds["with an alias and the guard"] += schedule.alias >= 0 && schedule.guarded;
      worlds["of a rolling restart"] += schedule.reads_on_demand;
      worlds["of a raise"] += schedule.one_node_is_steady;
      worlds["of a first start"] += schedule.first_start;
      worlds["with clients that live for one call"] += schedule.brief_clients;
      worlds["with callbacks that release other leases"] += schedule.workload.releases_others > 0;
      worlds["with a semaphore"] += schedule.seats > 0;
      worlds["with a semaphore and the guard"] += schedule.seats > 0 && schedule.guarded;
      worlds["with a semaphore and a lock"] += schedule.seats > 0 && schedule.resources > schedule.seats;
      worlds["about lines with a semaphore"] += schedule.seats > 1 && schedule.is_about_lines;
      worlds["with checks of leases"] += schedule.workload.checks > 0;
      worlds["with requests to holders"] += schedule.workload.requests > 0;
      worlds["with requests to holders, without faults"] +=
          schedule.workload.requests > 0 && schedule.faults.empty();
      worlds["with broken locks"] += schedule.workload.breaks > 0;
      worlds["with watches"] += schedule.observer >= 0;
      worlds["with watches, without faults"] += schedule.observer >= 0 && schedule.faults.empty();
      worlds["with watches and the guard"] += schedule.observer >= 0 && schedule.guarded;
      worlds["about lines with watches"] += schedule.observer >= 0 && schedule.is_about_lines;
      worlds["about the lines of several locks"] += schedule.is_about_lines && schedule.workload.together > 0;
      worlds["with readers"] += schedule.workload.reads > 0;
      worlds["with readers and the guard"] += schedule.workload.reads > 0 && schedule.guarded;
      worlds["about lines with readers"] += schedule.workload.reads > 0 && schedule.is_about_lines;
      worlds["about lines"] += schedule.is_about_lines;
      worlds["about lines with a clock that is set"] += schedule.is_about_lines && has_kind(Kind::node_jump);
      worlds["about lines without faults"] += schedule.is_about_lines && schedule.faults.empty();
      worlds["about lines of crippled clients alone"] +=
          schedule.is_about_lines && has_kind(Kind::partition) && has_only({Kind::partition});
      worlds["about lines without PUBLISH"] += has_kind(Kind::no_publish);
      worlds["about lines with lost listeners"] += has_kind(Kind::cut_listener);
      worlds["with stray replies"] += has_kind(Kind::stray_replies);
      worlds["with a false run_id"] += has_kind(Kind::false_run_id);
      worlds["with a false run_id and the guard"] += has_kind(Kind::false_run_id) && schedule.guarded;
      worlds["with rolled back nodes"] += has_kind(Fault::Kind::roll_back);
      worlds["with false counters"] += has_kind(Fault::Kind::false_counters);
      worlds["with foreign markers"] += has_kind(Fault::Kind::foreign_marker);
      worlds["of replicas alone"] +=
          has_kind(Kind::replica) && has_kind(Kind::partition) && has_only({Kind::replica, Kind::partition});
      worlds["with replicas"] += has_kind(Fault::Kind::replica);
      worlds["with floods"] += has_kind(Fault::Kind::flood);
      worlds["with deleted quarantines"] += has([](const Fault& fault) {
        return fault.kind == Fault::Kind::delete_marker && fault.amount == Fault::quarantine_alone;
      });
      worlds["of operators alone"] +=
          !schedule.faults.empty() && has_only({Kind::delete_marker, Kind::foreign_marker, Kind::replica});
    }
  }
  for (const auto& [kind, number] : worlds) {
    CAPTURE(kind, number);
    CHECK(number >= 5);
  }
}
