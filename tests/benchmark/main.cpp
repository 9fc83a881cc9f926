// redlock-bench: measures the cost of a lock beside the least possible cost.
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/waiting/plot.hpp"

namespace {

namespace bench = redlock::benchmark;

constexpr int usage_error = 64;  // EX_USAGE of sysexits.h

using AnyReport = std::variant<bench::Report, bench::Facts, bench::Outages, bench::Contention>;

struct Arguments {
  unsigned nodes = 5;
  unsigned callers = 64;
  std::size_t cycles = 0;
  unsigned stop = 0;
  unsigned kill = 0;
  unsigned busy = 16;
  unsigned leases = 10'000;
  unsigned observers = 64;
  unsigned terms = 50;
  unsigned ttl = 30;
  unsigned seconds = 30;
  unsigned max_ttl = 60;
  std::vector<unsigned> waiters{1, 2, 8, 64, 256};
  std::size_t holds = 640;
  unsigned idle = 3;
  std::vector<double> delays;
  std::string svg;
  bench::Flood flood = bench::Flood::invalidations;
  bool tls = false;
  unsigned connections = 400;
  bool json = false;
};

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file{path};
  if (!(file << content << std::flush)) throw std::runtime_error{"cannot write to " + path};
}

/// A subcommand with the options that all subcommands have.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      Arguments& arguments) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("--nodes", arguments.nodes, "Redis servers to start, 1 to 31 (default 5)")
      ->check(CLI::Range(1, 31));
  command->add_flag("--json", arguments.json, "print JSON instead of a table");
  return command;
}

/// A subcommand that runs cycles. `cycles` is the default for `--cycles`.
CLI::App* add_measurement(CLI::App& app, const std::string& name, const std::string& description,
                          std::size_t cycles, Arguments& arguments) {
  CLI::App* command = add_command(app, name, description, arguments);
  command->preparse_callback([&arguments, cycles](std::size_t) { arguments.cycles = cycles; });
  command
      ->add_option("--cycles", arguments.cycles,
                   "measured cycles per row of the report (default " + std::to_string(cycles) + ")")
      ->check(CLI::Range(20, 100'000'000));
  return command;
}

bench::Report measure_degraded(const Arguments& arguments) {
  const unsigned hit = arguments.stop + arguments.kill;
  if (hit > (arguments.nodes - 1) / 2)
    throw CLI::ValidationError{std::to_string(hit) + " failed nodes leave no majority of " +
                               std::to_string(arguments.nodes)};
  const auto failure = arguments.stop > 0 ? bench::Failure::stop : bench::Failure::kill;
  return bench::degraded(arguments.nodes, failure, hit, arguments.cycles);
}

void add_handshakes(CLI::App& app, Arguments& arguments, AnyReport& report) {
  CLI::App* handshakes = app.add_subcommand(
      "handshakes", "Rate, CPU and memory of connections with and without TLS, to one server for each");
  handshakes->add_flag("--json", arguments.json, "print JSON instead of a table");
  handshakes
      ->add_option("--connections", arguments.connections, "connections of each kind, 1 to 400 (default 400)")
      ->check(CLI::Range(1, 400));
  handshakes->callback([&] { report = bench::handshakes(arguments.connections); });
}

void add_outages(CLI::App& app, Arguments& arguments, AnyReport& report) {
  CLI::App* outages = app.add_subcommand(
      "outages", "For how long no lock can be had while people restart, flush and replace nodes");
  outages->add_flag("--json", arguments.json, "print JSON instead of a table in Markdown");
  outages
      ->add_option("--max-ttl", arguments.max_ttl, "max_ttl of all clients in seconds, 1 to 600 (default 60)")
      ->check(CLI::Range(1, 600));
  outages->callback([&] { report = bench::outages(arguments.max_ttl); });
}

void add_hostile(CLI::App& app, Arguments& arguments, AnyReport& report) {
  static const std::map<std::string, bench::Flood> floods{{"invalidations", bench::Flood::invalidations},
                                                          {"replies", bench::Flood::replies},
                                                          {"greetings", bench::Flood::greetings},
                                                          {"errors", bench::Flood::errors}};
  CLI::App* hostile =
      add_measurement(app, "hostile", "Throughput of one caller before and while one node floods the client",
                      20'000, arguments);
  hostile->add_option("--flood", arguments.flood, "invalidations (default), replies, greetings or errors")
      ->transform(CLI::CheckedTransformer(floods));
  hostile
      ->add_option("--leases", arguments.leases, "leases that the client holds, 0 to 100000 (default 10000)")
      ->check(CLI::Range(0, 100'000));
  hostile->callback(
      [&] { report = bench::hostile(arguments.nodes, arguments.flood, arguments.leases, arguments.cycles); });
}

void add_election(CLI::App& app, Arguments& arguments, AnyReport& report) {
  CLI::App* election = add_command(
      app, "election", "How soon observers are told of a new leader after the old one resigned", arguments);
  election->add_option("--observers", arguments.observers, "number of observers, 1 to 256 (default 64)")
      ->check(CLI::Range(1, 256));
  election->add_option("--terms", arguments.terms, "how many leaders resign, 1 to 100000 (default 50)")
      ->check(CLI::Range(1, 100'000));
  election->callback(
      [&] { report = bench::election(arguments.nodes, arguments.observers, arguments.terms); });
}

void add_contention(CLI::App& app, Arguments& arguments, AnyReport& report) {
  CLI::App* contention = add_command(
      app, "contention",
      "How fast a lock passes from holder to holder, compared with a round trip and with polling", arguments);
  contention
      ->add_option("--waiters", arguments.waiters,
                   "numbers of waiters, each 1 to 1024 (default 1,2,8,64,256)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  contention->add_option("--holds", arguments.holds, "holds per row of the report (default 640)")
      ->check(CLI::Range(2, 10'000'000));
  contention->add_option("--idle", arguments.idle, "seconds in which all wait, 1 to 3600 (default 3)")
      ->check(CLI::Range(1, 3600));
  contention
      ->add_option(
          "--delays", arguments.delays,
          "milliseconds by which the round trip to each node takes longer, each 0 to 1000: 1,5,15 starts "
          "three nodes")
      ->delimiter(',')
      ->check(CLI::Range(0, 1000))
      ->excludes("--nodes");
  contention->add_option("--svg", arguments.svg, "also draw the hand-overs to this file");
  contention->callback([&] {
    const bench::Contention table = bench::contention(
        {arguments.nodes, arguments.waiters, arguments.holds, arguments.idle, arguments.delays});
    if (!arguments.svg.empty()) write_file(arguments.svg, bench::svg_plot(table));
    report = table;
  });
}

void add_measurements(CLI::App& app, Arguments& arguments, AnyReport& report) {
  CLI::App* latency = add_measurement(
      app, "latency", "Latency of one caller, compared with raw hiredis, on all nodes and on one", 20'000,
      arguments);
  latency->add_flag("--tls", arguments.tls, "over TLS, compared with raw hiredis and OpenSSL");
  latency->callback([&] { report = bench::latency(arguments.nodes, arguments.tls, arguments.cycles); });

  CLI::App* throughput = add_measurement(
      app, "throughput", "Throughput of many callers on one client, compared with pipelined raw hiredis",
      100'000, arguments);
  throughput->add_option("--callers", arguments.callers, "threads, 1 to 1024 (default 64)")
      ->check(CLI::Range(1, 1024));
  throughput->callback(
      [&] { report = bench::throughput(arguments.nodes, arguments.callers, arguments.cycles); });

  CLI::App* start = add_measurement(
      app, "start", "Run time of the command redlock, and of the first lock of a new client", 200, arguments);
  start->add_flag("--tls", arguments.tls, "also the first lock over TLS");
  start->callback([&] { report = bench::start(arguments.nodes, arguments.tls, arguments.cycles); });

  CLI::App* loss = add_measurement(
      app, "loss", "Delay of loss notifications, compared with a thread that sleeps until the deadline", 100,
      arguments);
  loss->add_option("--busy", arguments.busy,
                   "threads that keep the cores busy during the measurement, 0 to 1024 (default 16)")
      ->check(CLI::Range(0, 1024));
  loss->callback([&] { report = bench::loss(arguments.nodes, arguments.busy, arguments.cycles); });

  CLI::App* renew =
      add_command(app, "renew", "CPU, memory and traffic of many leases with automatic renewal", arguments);
  renew->add_option("--leases", arguments.leases, "number of leases, 1 to 1000000 (default 10000)")
      ->check(CLI::Range(1, 1'000'000));
  renew
      ->add_option("--ttl", arguments.ttl,
                   "of the leases in seconds, 1 to 60 (default 30); each is extended after a third of it")
      ->check(CLI::Range(1, 60));
  renew->add_option("--seconds", arguments.seconds, "duration of the measurement (default 30)")
      ->check(CLI::Range(1, 86'400));
  renew->callback([&] {
    report = bench::renew(arguments.nodes, arguments.leases, std::chrono::seconds{arguments.ttl},
                          arguments.seconds);
  });

  CLI::App* seats = add_measurement(
      app, "seats", "Round trips until a client has a seat of a semaphore, of which others have half", 200,
      arguments);
  seats->callback([&] { report = bench::seat_trips(arguments.nodes, arguments.cycles); });

  CLI::App* degraded =
      add_measurement(app, "degraded", "Latency of one caller before and after a minority of the nodes fails",
                      5'000, arguments);
  CLI::Option_group* failure = degraded->add_option_group("failure", "exactly one of");
  failure->add_option("--stop", arguments.stop, "nodes to stop with SIGSTOP, so that they hang")
      ->check(CLI::Range(1, 15));
  failure->add_option("--kill", arguments.kill, "nodes to kill, so that they refuse connections")
      ->check(CLI::Range(1, 15));
  failure->require_option(1);
  degraded->callback([&] { report = measure_degraded(arguments); });
  add_hostile(app, arguments, report);
  add_contention(app, arguments, report);
  add_election(app, arguments, report);
  add_handshakes(app, arguments, report);
  add_outages(app, arguments, report);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Starts local Redis servers and measures lock and release cycles on them. Compares the library with\n"
      "raw hiredis, which sends the same commands, in alternating blocks of one run. Fails if any cycle "
      "fails.",
      "redlock-bench"};
  Arguments arguments;
  AnyReport report;
  app.require_subcommand(0, 1);
  add_measurements(app, arguments, report);
  try {
    app.parse(argc, argv);
    // Checked here, because CLI11 would report the missing subcommand rather than an unknown word.
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
