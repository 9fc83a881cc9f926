// redlock-sim: runs the library's core in a simulated world with many kinds of faults.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "simulation/campaign/campaign.hpp"
#include "simulation/scenario/scenarios.hpp"
#include "simulation/timeline/timeline.hpp"

using namespace redlock::simulation;

namespace {

struct Arguments {
  Campaign campaign;
  bool many = false;
  bool digest = false;
  std::string mutant;
  std::string scenario;
  std::string svg;
  std::optional<std::vector<std::size_t>> faults;  // numbers of the schedule's faults to apply; empty: all
};

const char* name_of(Profile profile) { return profile == Profile::within ? "within" : "beyond"; }

void print(const Figures& figures) {
  std::cout << figures.faults << " faults, " << figures.commands << " commands, " << figures.attempts
            << " attempts, " << figures.grants << " locks taken (" << figures.second_rounds
            << " by a second round, " << figures.adoptions << " adopted, " << figures.shared
            << " by readers, " << figures.downgrades << " downgraded, " << figures.together
            << " calls for all locks), " << figures.extensions << " extensions, " << figures.repairs
            << " copies put back, " << figures.kept << " releases that keep the lock, " << figures.checks
            << " checks, " << figures.requests << " requests to holders (" << figures.requests_heard
            << " heard), " << figures.breaks << " locks broken, " << figures.releases_in_callbacks
            << " released in callbacks\n"
            << "bypasses of calls in line, with and without faults: " << figures.bypasses
            << "; two holders at once, beyond the assumptions: " << figures.overlaps
            << "; writes refused by the fenced store: " << figures.writes_refused
            << "; writes lost by its unfenced twin: " << figures.writes_lost_unfenced
            << "; reads torn there: " << figures.reads_torn_unfenced << '\n';
}

/// The numbers that the remaining faults have in the whole schedule.
std::string numbers_of(const Schedule& left, const Schedule& whole) {
  std::string numbers;
  std::size_t at = 0;
  for (const Fault& fault : left.faults) {
    while (!(whole.faults[at] == fault)) ++at;
    numbers += (numbers.empty() ? "" : ",") + std::to_string(at++);
  }
  return numbers.empty() ? "none" : numbers;
}

bool write_picture(const std::string& file, const std::string& picture) {
  if (file.empty() || std::ofstream{file} << picture) return true;
  std::cerr << "redlock-sim: cannot write " << file << '\n';
  return false;
}

int show(const Schedule& schedule, const Arguments& arguments, const std::string& title) {
  Interpreter interpreter;
  History history{true};
  const Outcome outcome = World{schedule, interpreter, history, arguments.campaign.mutant}.run();
  std::string verdict = "no promise was broken";
  if (outcome.violation)
    verdict = std::string{name_of(outcome.violation->rule)} + " was broken: " + outcome.violation->text;
  const Picture picture{title, verdict, schedule.clients, schedule.nodes, history.events()};
  std::cout << text_timeline(picture);
  print(outcome.figures);
  std::cout << verdict << '\n';
  const bool is_written = write_picture(arguments.svg, svg_timeline(picture));
  return outcome.violation || !is_written ? EXIT_FAILURE : EXIT_SUCCESS;
}

/// Runs a scenario and compares its outcome with the expected one.
int show_scenario(const Arguments& arguments) {
  const Scenario* scenario = find_scenario(arguments.scenario);
  if (!scenario) {
    std::string names;
    for (const Scenario& known : scenarios()) names += " " + std::string{known.name};
    throw CLI::ValidationError{"--scenario",
                               "unknown scenario " + arguments.scenario + "; known scenarios:" + names};
  }
  const ScenarioRun result = run_scenario(*scenario, arguments.campaign.mutant);
  std::cout << text_timeline({.title = std::string{scenario->title},
                              .verdict = {},
                              .clients = scenario->schedule.clients,
                              .nodes = scenario->schedule.nodes,
                              .events = result.events});
  print(result.outcome.figures);
  const std::string wrong = differences(scenario->expected, result.outcome);
  std::cout << (wrong.empty() ? "The outcome is as expected." : wrong) << '\n';
  return write_picture(arguments.svg, picture_of(*scenario)) && wrong.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int show_seed(const Arguments& arguments) {
  const Campaign& campaign = arguments.campaign;
  const Profile profile = campaign.profile_of(campaign.first_seed);
  Schedule schedule = draw_schedule(campaign.first_seed, profile);
  if (arguments.faults) {
    std::vector<Fault> chosen;
    for (const std::size_t number : *arguments.faults)
      if (number < schedule.faults.size()) chosen.push_back(schedule.faults[number]);
    schedule.faults = std::move(chosen);
  }
  return show(schedule, arguments, "seed " + std::to_string(campaign.first_seed) + ", " + name_of(profile));
}

/// Shows the reduced failing schedule and the command that repeats it.
int show_failure(const Arguments& arguments, const CampaignResult& result) {
  const Profile profile = arguments.campaign.profile_of(*result.failed_seed);
  const Schedule whole = draw_schedule(*result.failed_seed, profile);
  const Schedule reduced = shrink(whole, result.violation->rule, arguments.campaign.mutant);
  const std::string seed = std::to_string(*result.failed_seed);
  show(reduced, arguments, "seed " + seed + ", " + name_of(profile) + ", reduced");
  std::cout << "\nTo repeat it:\n  redlock-sim --seed " << seed << " --profile " << name_of(profile)
            << (arguments.mutant.empty() ? "" : " --mutant " + arguments.mutant)
            << "\nWith only the necessary faults, add:\n  --faults " << numbers_of(reduced, whole) << '\n';
  return EXIT_FAILURE;
}

int run_many(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const CampaignResult result = run(arguments.campaign);
  const auto seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
  std::cout << result.figures.schedules << " schedules from seed " << arguments.campaign.first_seed << " in "
            << static_cast<int>(seconds) << " s\n";
  print(result.figures);
  if (result.violation) return show_failure(arguments, result);
  std::cout << "no promise was broken\n";
  return EXIT_SUCCESS;
}

/// Fails if a mutant is not caught.
int catch_all(Arguments arguments) {
  int missed = 0;
  for (const auto& mutant : mutants()) {
    arguments.campaign.mutant = mutant.get();
    const CampaignResult result = run(arguments.campaign);
    std::cout << mutant->name() << ": ";
    if (result.violation)
      std::cout << "caught after " << *result.failed_seed - arguments.campaign.first_seed + 1
                << " schedules (" << name_of(result.violation->rule) << ": " << result.violation->text << ")"
                << std::endl;
    else
      std::cout << "not caught" << std::endl;
    missed += result.violation ? 0 : 1;
  }
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

const Mutant* find_mutant(const std::string& name) {
  const Mutant* const found = mutant_named(name);
  if (!found) throw CLI::ValidationError{"--mutant", "unknown mutant " + name};
  return found;
}

int act(const Arguments& arguments) {
  if (arguments.digest) {
    std::cout << std::hex << digest_of_histories(arguments.campaign) << '\n';
    return EXIT_SUCCESS;
  }
  if (!arguments.scenario.empty()) return show_scenario(arguments);
  if (arguments.mutant == "all") return catch_all(arguments);
  return arguments.many ? run_many(arguments) : show_seed(arguments);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Runs the core of redlock in a simulated world. A seed determines the whole history."};
  Arguments arguments;
  Campaign& campaign = arguments.campaign;
  campaign.jobs = std::max(1U, std::thread::hardware_concurrency());
  app.add_option("--seed", campaign.first_seed, "Seed of the schedule, or of the first of many")
      ->capture_default_str();
  const auto* schedules = app.add_option("--schedules", campaign.schedules,
                                         "Number of schedules to run; shows only one that breaks a promise");
  app.add_option("--profile", campaign.profile,
                 "Faults within or beyond the lock's assumptions; default: both alternate")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Profile>{{"within", Profile::within}, {"beyond", Profile::beyond}}));
  app.add_option("--mutant", arguments.mutant,
                 "Run with a deliberate mistake; `all` checks that each mistake is caught");
  app.add_option("--scenario", arguments.scenario,
                 "Run a scenario from the literature, see docs/failure-gallery.md");
  std::vector<std::string> faults;
  app.add_option("--faults", faults, "Apply only these faults of the schedule, by number, or `none`")
      ->delimiter(',')
      ->check(CLI::TypeValidator<unsigned>{"NUMBER"} | CLI::IsMember({"none"}));
  app.add_option("--svg", arguments.svg, "Write the timeline as a picture to this file");
  app.add_option("--jobs", campaign.jobs, "Number of threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--digest", arguments.digest, "Print a hash of all histories");
  try {
    app.parse(argc, argv);
    arguments.many = schedules->count() > 0;
    if (!faults.empty()) arguments.faults.emplace();
    for (const std::string& number : faults)
      if (number != "none") arguments.faults->push_back(std::stoul(number));
    if (!arguments.mutant.empty() && arguments.mutant != "all")
      campaign.mutant = find_mutant(arguments.mutant);
    return act(arguments);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
} catch (const std::exception& error) {
  std::cerr << "redlock-sim: " << error.what() << '\n';
  return EXIT_FAILURE;
}
