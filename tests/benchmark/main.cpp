// redlock-bench: what a lock costs, beside the least that it could cost.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <variant>

#include "benchmark/measure/measurements.hpp"

namespace {

namespace bench = redlock::benchmark;

constexpr int usage_error = 64;  // EX_USAGE of sysexits.h

struct Arguments {
  unsigned nodes = 5;
  unsigned callers = 64;
  std::size_t cycles = 0;
  unsigned stop = 0;
  unsigned kill = 0;
  unsigned busy = 16;
  unsigned leases = 10'000;
  unsigned seconds = 30;
  bool json = false;
};

/// A subcommand with the options that all have.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      Arguments& arguments) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("--nodes", arguments.nodes, "Redis servers to start, 1 to 31 (default 5)")
      ->check(CLI::Range(1, 31));
  command->add_flag("--json", arguments.json, "print JSON instead of a table");
  return command;
}

/// One that runs cycles. `cycles`: how many unless told.
CLI::App* add_measurement(CLI::App& app, const std::string& name, const std::string& description,
                          std::size_t cycles, Arguments& arguments) {
  CLI::App* command = add_command(app, name, description, arguments);
  command->preparse_callback([&arguments, cycles](std::size_t) { arguments.cycles = cycles; });
  command
      ->add_option("--cycles", arguments.cycles,
                   "lock and release cycles of every contestant (default " + std::to_string(cycles) + ")")
      ->check(CLI::Range(20, 100'000'000));
  return command;
}

bench::Report measure_degraded(const Arguments& arguments) {
  const unsigned hit = arguments.stop + arguments.kill;
  if (hit > (arguments.nodes - 1) / 2)
    throw CLI::ValidationError{"no majority is left of " + std::to_string(arguments.nodes) +
                               " nodes without " + std::to_string(hit)};
  const auto outage = arguments.stop > 0 ? bench::Outage::stop : bench::Outage::kill;
  return bench::degraded(arguments.nodes, outage, hit, arguments.cycles);
}

void add_measurements(CLI::App& app, Arguments& arguments,
                      std::variant<bench::Report, bench::Facts>& report) {
  add_measurement(app, "latency", "One caller, beside the raw floor, on all nodes and on one", 20'000,
                  arguments)
      ->callback([&] { report = bench::latency(arguments.nodes, arguments.cycles); });

  CLI::App* throughput = add_measurement(
      app, "throughput", "Many callers on one client, beside the pipelined raw floor", 100'000, arguments);
  throughput->add_option("--callers", arguments.callers, "threads, 1 to 1024 (default 64)")
      ->check(CLI::Range(1, 1024));
  throughput->callback(
      [&] { report = bench::throughput(arguments.nodes, arguments.callers, arguments.cycles); });

  add_measurement(app, "start", "The command redlock, from its start to its end, and a client's first lock",
                  200, arguments)
      ->callback([&] { report = bench::start(arguments.nodes, arguments.cycles); });

  CLI::App* loss = add_measurement(
      app, "loss", "How late a loss is told, beside a thread that sleeps until the deadline", 100, arguments);
  loss->add_option("--busy", arguments.busy,
                   "threads that keep the cores busy meanwhile, 0 to 1024 (default 16)")
      ->check(CLI::Range(0, 1024));
  loss->callback([&] { report = bench::loss(arguments.nodes, arguments.busy, arguments.cycles); });

  CLI::App* renew = add_command(app, "renew", "What many leases that renew themselves take", arguments);
  renew->add_option("--leases", arguments.leases, "how many, 1 to 1000000 (default 10000)")
      ->check(CLI::Range(1, 1'000'000));
  renew->add_option("--seconds", arguments.seconds, "how long they are watched (default 30)")
      ->check(CLI::Range(1, 86'400));
  renew->callback([&] { report = bench::renew(arguments.nodes, arguments.leases, arguments.seconds); });

  CLI::App* degraded = add_measurement(
      app, "degraded", "One caller, before and after a minority of the nodes fails", 5'000, arguments);
  CLI::Option_group* failure = degraded->add_option_group("failure", "one of");
  failure->add_option("--stop", arguments.stop, "nodes to stop with SIGSTOP: they hang")
      ->check(CLI::Range(1, 15));
  failure->add_option("--kill", arguments.kill, "nodes to kill: they refuse connections")
      ->check(CLI::Range(1, 15));
  failure->require_option(1);
  degraded->callback([&] { report = measure_degraded(arguments); });
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Measures lock and release cycles on local Redis servers that it starts itself, beside raw hiredis\n"
      "sending the same commands, by turns in one run. Fails when any cycle fails.",
      "redlock-bench"};
  Arguments arguments;
  std::variant<bench::Report, bench::Facts> report;
  app.require_subcommand(0, 1);
  add_measurements(app, arguments, report);
  try {
    app.parse(argc, argv);
    // Asked for here: CLI11 would ask before it tells which word it does not know.
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  std::visit(
      [&](const auto& printed) {
        arguments.json ? bench::print_json(std::cout, printed) : bench::print_table(std::cout, printed);
      },
      report);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "redlock-bench: " << error.what() << '\n';
  return 1;
}
