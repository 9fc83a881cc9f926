// redlock-chaos: real servers and real clients, to which a seed's faults happen; and what the judge says.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "chaos/field/packets.hpp"
#include "chaos/field/run.hpp"
#include "chaos/report/page.hpp"

namespace {

using redlock::chaos::Outcome;
using redlock::chaos::Profile;
using redlock::chaos::RunOptions;

struct Arguments {
  RunOptions run;
  std::string report;
  std::filesystem::path clients;
  bool loses_packets = false;
  int seconds = 60;
};

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "redlock-chaos-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error{"no temporary folder"};
  return name;
}

/// Says what came of the run. Returns the exit code.
int conclude(const Arguments& arguments, const Outcome& outcome) {
  std::cout << summary(arguments.run, outcome);
  if (!arguments.report.empty()) write_page(arguments.report, arguments.run, outcome);
  const auto& violation = outcome.verdict.violation;
  const bool is_search = !arguments.run.mutant.empty();
  if (violation && !is_search && !arguments.run.is_control) {
    std::cout << around_violation(outcome);
    return 1;
  }
  if (is_search && violation)
    std::cout << "found: " << around_violation(outcome).substr(0, around_violation(outcome).find('\n'))
              << '\n';
  else if (is_search)
    std::cout << "The mutant was not found.\n";
  if (is_search) return violation ? 0 : 1;
  if (!outcome.troubles.empty()) {
    std::cout << "Not every fault could be made, so the run says too little.\n";
    return 1;
  }
  if (!arguments.run.is_control) return 0;
  const bool lost = outcome.verdict.figures.writes_lost_unfenced > 0;
  std::cout << (lost ? "The control lost writes, as it should.\n" : "The control lost no write.\n");
  return lost ? 0 : 1;
}

/// Removes the folder of the run at the end, unless somebody should read what is in it. Returns the exit code.
int run_and_conclude(const Arguments& arguments) {
  int code = 1;
  try {
    code = conclude(arguments, redlock::chaos::run(arguments.run));
  } catch (const std::exception& error) {
    std::cerr << "redlock-chaos: " << error.what() << '\n';
  }
  if (code == 0)
    std::filesystem::remove_all(arguments.run.folder);
  else
    std::cout << "The logs are in " << arguments.run.folder << '\n';
  return code;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Lets real clients compete for locks on real servers while a seed's faults happen to both, and judges "
      "it",
      "redlock-chaos"};
  Arguments arguments;
  RunOptions& run = arguments.run;
  app.add_option("--seed", run.seed, "of the faults (default 1)");
  app.add_option("--seconds", arguments.seconds, "how long faults happen (default 60)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--nodes", run.nodes, "number of servers (default 3)")->check(CLI::Range(2, 9));
  app.add_option("--haste", run.haste, "faults come so many times as often (default 1)")
      ->check(CLI::Range(1, 20));
  const std::map<std::string, Profile> profiles{{"within", Profile::within}, {"beyond", Profile::beyond}};
  app.add_option("--profile", run.profile,
                 "within: all promises hold; beyond: fencing tokens still do (default within)")
      ->transform(CLI::CheckedTransformer(profiles));
  app.add_option("--report", arguments.report, "write an HTML page with what happened");
  app.add_option("--mutant", run.mutant, "make a mistake, and succeed as soon as it is found")
      ->check(CLI::IsMember({"only-reachable-count", "blind-delete", "marker-without-run-id"}));
  app.add_flag(
      "--full-load", run.is_full_load,
      "also clients that lock in many threads without a pause, whose memory and descriptors are judged");
  app.add_flag("--lose-packets", arguments.loses_packets,
               "also lose packets, in a network namespace with nftables, where the machine allows that");
  app.add_option("--clients", arguments.clients,
                 "the folder of a chaos-client and a redlock to be used, for example of a build with a "
                 "sanitizer; memory is not judged then");
  app.add_flag("--control", run.is_control,
               "without restart guard, and stores without tokens: succeed if writes are lost");
  CLI11_PARSE(app, argc, argv);
  run.length = std::chrono::seconds{arguments.seconds};
  if (run.mutant == "marker-without-run-id") run.nodes = 3;  // its plan is for three
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  run.is_memory_judged = arguments.clients.empty();
  if (arguments.clients.empty()) arguments.clients = own;
  arguments.clients = std::filesystem::absolute(arguments.clients);
  run.program = arguments.clients / "chaos-client";
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
