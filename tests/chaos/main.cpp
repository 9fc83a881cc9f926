// redlock-chaos: real servers and real clients, to which a seed's faults happen; and what the judge says.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "chaos/field/packets.hpp"
#include "chaos/field/run.hpp"
#include "chaos/report/page.hpp"

namespace {

using redlock::chaos::Control;
using redlock::chaos::Mutant;
using redlock::chaos::Outcome;
using redlock::chaos::Profile;
using redlock::chaos::RunOptions;

struct Arguments {
  RunOptions run;
  std::string report;
  std::filesystem::path clients;
  std::optional<std::size_t> mutant;
  bool loses_packets = false;
  int seconds = 60;
};

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "redlock-chaos-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error{"no temporary folder"};
  return name;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether the mistake was found by the rule that it breaks. Says so.
bool is_found(const Mutant& mutant, const Outcome& outcome) {
  const auto& violation = outcome.verdict.violation;
  if (!violation) {
    std::cout << "The mutant was not found.\n";
    return false;
  }
  const bool is_expected = violation->rule == mutant.breaks;
  std::cout << (is_expected ? "found: " : "The mutant breaks another rule than it should: ")
            << first_line(around_violation(outcome)) << '\n';
  return is_expected;
}

/// Whether writes were lost, without a restart guard and tokens. Says so.
bool are_writes_lost(const Outcome& outcome) {
  const bool are_lost = outcome.verdict.figures.writes_lost_unfenced > 0;
  std::cout << (are_lost ? "The control lost writes, as it should.\n" : "The control lost no write.\n");
  return are_lost;
}

/// Whether every promise was kept, every fault made, and something done. Says what was not.
bool is_clean(const RunOptions& options, const Outcome& outcome) {
  const bool wrote = options.control == Control::none || outcome.written_unfenced > 0;
  if (outcome.verdict.violation)
    std::cout << around_violation(outcome);
  else if (!outcome.troubles.empty())
    std::cout << "Not every fault could be made, so the run says too little.\n";
  else if (!wrote)
    std::cout << "Nobody has written, so the run says too little.\n";
  return !outcome.verdict.violation && outcome.troubles.empty() && wrote;
}

/// Says what came of the run. Returns whether it is what it should be.
bool conclude(const Arguments& arguments, const Outcome& outcome) {
  std::cout << summary(arguments.run, outcome);
  if (!arguments.report.empty()) write_page(arguments.report, arguments.run, outcome);
  if (arguments.run.mutant) return is_found(*arguments.run.mutant, outcome);
  if (arguments.run.control == Control::unguarded) return are_writes_lost(outcome);
  return is_clean(arguments.run, outcome);
}

/// Removes the folder of the run at the end, unless somebody should read what is in it. Returns the exit code.
int run_and_conclude(const Arguments& arguments) {
  bool is_good = false;
  try {
    is_good = conclude(arguments, redlock::chaos::run(arguments.run));
  } catch (const std::exception& error) {
    std::cerr << "redlock-chaos: " << error.what() << '\n';
  }
  if (is_good)
    std::filesystem::remove_all(arguments.run.folder);
  else
    std::cout << "The logs are in " << arguments.run.folder << '\n';
  return is_good ? 0 : 1;
}

void add_options(CLI::App& app, Arguments& arguments) {
  RunOptions& run = arguments.run;
  app.add_option("--seed", run.seed, "of the faults (default 1)");
  app.add_option("--seconds", arguments.seconds, "how long faults happen (default 60)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--nodes", run.nodes, "number of servers (default 3)")->check(CLI::Range(2, 9));
  CLI::Option* const haste =
      app.add_option("--haste", run.haste, "faults come so many times as often (default 1)");
  haste->check(CLI::Range(1, 20));
  const std::map<std::string, Profile> profiles{{"within", Profile::within}, {"beyond", Profile::beyond}};
  CLI::Option* const profile =
      app.add_option("--profile", run.profile,
                     "within: all promises hold; beyond: fencing tokens still do (default within)");
  profile->transform(CLI::CheckedTransformer(profiles));
  app.add_option("--report", arguments.report, "write an HTML page with what happened");
  std::map<std::string, std::size_t> mutants;
  for (const Mutant& each : redlock::chaos::mutants) mutants.emplace(each.name, mutants.size());
  CLI::Option* const mutant = app.add_option(
      "--mutant", arguments.mutant,
      "clients with this mistake in their core: succeed as soon as it breaks the rule that it should break");
  mutant->transform(CLI::CheckedTransformer(mutants));
  app.add_flag(
      "--full-load", run.is_full_load,
      "also clients that lock in many threads without a pause, whose memory and descriptors are judged");
  std::map<std::string, redlock::chaos::Kind> kinds;
  for (const redlock::chaos::Kind kind : redlock::chaos::all_kinds()) kinds.emplace(name_of(kind), kind);
  CLI::Option* const only = app.add_option("--only", run.only, "only these faults, separated by commas");
  only->delimiter(',')->transform(CLI::CheckedTransformer(kinds));
  CLI::Option* const loss =
      app.add_flag("--lose-packets", arguments.loses_packets,
                   "also lose packets, in a network namespace with nftables, where the machine allows that");
  app.add_flag(
         "--restarts", run.is_about_restarts,
         "other faults: one half of the clients never reaches one of three servers, and another one loses "
         "its locks again and again")
      ->excludes(haste, profile, only, loss);
  app.add_option("--clients", arguments.clients,
                 "the folder of a chaos-client and a redlock to be used, for example of a build with a "
                 "sanitizer; memory is not judged then")
      ->excludes(mutant);
  const std::map<std::string, Control> controls{{"guarded", Control::guarded},
                                                {"unguarded", Control::unguarded}};
  app.add_option("--control", run.control,
                 "a store without tokens, whose writers keep their deadlines; guarded: no write may be lost; "
                 "unguarded: without restart guard, succeed as soon as one is lost")
      ->transform(CLI::CheckedTransformer(controls))
      ->excludes(mutant, profile);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Lets real clients compete for locks on real servers while a seed's faults happen to both, and judges "
      "it",
      "redlock-chaos"};
  Arguments arguments;
  RunOptions& run = arguments.run;
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  if (run.is_about_restarts && run.nodes != 3) throw std::runtime_error{"--restarts is for three nodes"};
  if (arguments.mutant) run.mutant = &redlock::chaos::mutants.at(*arguments.mutant);
  run.length = std::chrono::seconds{arguments.seconds};
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  run.is_memory_judged = arguments.clients.empty();
  if (arguments.clients.empty()) arguments.clients = own;
  arguments.clients = std::filesystem::absolute(arguments.clients);
  run.program = arguments.clients / (run.mutant ? "chaos-mutant" : "chaos-client");
  run.tool = arguments.clients / "redlock";
  run.clock_library = own / "libredlock-chaos-clock.so";
  if (arguments.loses_packets) {
    // Before any thread is started.
    const std::string refusal = redlock::chaos::enter_own_network();
    if (!refusal.empty()) std::cout << "No packets are lost here: " << refusal << '\n';
    run.loses_packets = refusal.empty();
  }
  run.folder = make_folder();
  return run_and_conclude(arguments);
} catch (const std::exception& error) {
  std::cerr << "redlock-chaos: " << error.what() << '\n';
  return 1;
}
