#include "simulation/scenario/scenarios.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/project_file.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;
using redlock::testing::project;
using redlock::testing::read_project_file;

/// The outcome of a scenario with a deliberate mistake.
Outcome outcome_with(std::string_view mistake, std::string_view name) {
  const Mutant* mutant = mutant_named(mistake);
  const Scenario* scenario = find_scenario(name);
  REQUIRE(mutant);
  REQUIRE(scenario);
  return run_scenario(*scenario, mutant).outcome;
}

}  // namespace

TEST_CASE("every_scenario_ends_as_expected") {
  for (const Scenario& scenario : scenarios()) {
    const std::string wrong = differences(scenario.expected, run_scenario(scenario).outcome);
    INFO(scenario.name << ": " << wrong);
    CHECK(wrong.empty());
  }
}

TEST_CASE("a_repeated_scenario_has_the_same_history") {
  for (const Scenario& scenario : scenarios()) {
    INFO(scenario.name);
    CHECK(run_scenario(scenario).events == run_scenario(scenario).events);
  }
}

TEST_CASE("any_other_outcome_of_a_scenario_is_reported") {
  for (const Scenario& scenario : scenarios()) {
    INFO(scenario.name);
    const Outcome outcome = run_scenario(scenario).outcome;
    const auto notices = [&](auto change) {
      Expected expected = scenario.expected;
      change(expected);
      return !differences(expected, outcome).empty();
    };
    CHECK(notices([](Expected& expected) { ++expected.overlaps; }));
    CHECK(notices([](Expected& expected) { ++expected.writes_refused; }));
    CHECK(notices([](Expected& expected) { ++expected.writes_lost; }));
    CHECK(notices([](Expected& expected) { expected.grants.pop_back(); }));
    CHECK(notices([](Expected& expected) { expected.grants.push_back(expected.grants.back()); }));
    CHECK(notices([](Expected& expected) { expected.grants.back().client = 7; }));
    CHECK(notices([](Expected& expected) { expected.grants.front().to = 0; }));
    CHECK(notices([](Expected& expected) { expected.grants.front().from = second; }));
  }
}

TEST_CASE("a_token_that_does_not_increase_is_reported") {
  const Scenario& scenario = *find_scenario("client-paused");
  Outcome outcome = run_scenario(scenario).outcome;
  outcome.leases.back().token = outcome.leases.front().token;
  CHECK(differences(scenario.expected, outcome) == "token 1 after 1\n");
}

TEST_CASE("without_a_clock_check_replies_read_too_late_yield_a_lock") {
  const Outcome outcome = outcome_with("no-elapsed-check", "pause-before-reply");
  REQUIRE(outcome.leases.size() == 2);
  CHECK(outcome.leases[1].client == 0);
  CHECK(outcome.leases[1].begun > 400 * millisecond);
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->rule == Rule::honesty);
}

TEST_CASE("without_releases_a_split_vote_lasts_for_a_ttl") {
  const Outcome outcome = outcome_with("nothing-is-given-back", "split-vote");
  REQUIRE(!outcome.leases.empty());
  CHECK(outcome.leases[0].begun > 300 * millisecond);
}

TEST_CASE("a_late_copy_stays_if_it_is_released_too_early_or_not_at_all") {
  CHECK(outcome_with("nothing-is-given-back", "late-set").leases.empty());
  CHECK(outcome_with("releases-overtake", "late-set").leases.empty());
}

TEST_CASE("the_gallery_matches_the_simulation") {
  for (const Scenario& scenario : scenarios()) {
    const std::string name{scenario.name};
    INFO("docs/failures/" << name << ".svg is out of date. To write it again:\n"
                          << "build/bin/redlock-sim --scenario " << name << " --svg docs/failures/" << name
                          << ".svg");
    const bool is_same = read_project_file("docs/failures/" + name + ".svg") == picture_of(scenario);
    CHECK(is_same);
  }
}

TEST_CASE("the_gallery_has_one_section_and_one_picture_per_scenario") {
  const std::string text = read_project_file("docs/failure-gallery.md");
  std::set<std::string> pictures;
  for (const Scenario& scenario : scenarios()) {
    const std::string picture = std::string{scenario.name} + ".svg";
    CHECK_THAT(text, contains("## " + std::string{scenario.title} + "\n"));
    CHECK_THAT(text, contains("(failures/" + picture + ")"));
    pictures.insert(picture);
  }
  for (const auto& entry : std::filesystem::directory_iterator{project / "docs/failures"}) {
    INFO(entry.path());
    CHECK(pictures.count(entry.path().filename().string()) == 1);
  }
}
