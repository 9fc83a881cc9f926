// The measured figures, and their output as a table or as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmark/measure/contest.hpp"

namespace redlock::benchmark {

struct Row {
  Row(const Contestant& contestant, double ratio_to_reference);

  std::string name;
  unsigned nodes;
  unsigned callers;
  double p50_us;
  double p99_us;
  double cycles_per_s;
  double ratio;
};

/// The rows, and the name of `Row::ratio` in the output.
struct Report {
  std::vector<Row> rows;
  std::string ratio_name = "ratio_to_floor";
};

/// The longest time, in seconds, in which a client that lives on and new clients got no lock.
struct OutageTimes {
  double living;
  double fresh;
};
/// What an operation on the nodes costs.
struct Outage {
  std::string operation;
  std::string kept;  // by the nodes, over a restart
  OutageTimes with_three_nodes;
  OutageTimes with_five_nodes;
};
using Outages = std::vector<Outage>;

/// Waiters of one kind that want one lock. A hand-over lasts from the call that releases the lock until the next one has it.
struct ContentionRow {
  std::string waiters;  // processes or threads
  std::string order;
  unsigned count;
  double p50_us = 0;  // of the hand-overs
  double p99_us = 0;
  double holds_per_s = 0;
  double longest_wait_us = 0;  // from the call, or from the moment in which the lock was first free
  double attempts_per_hold = 0;
  double idle_commands_per_s = 0;  // to each node, while all wait and nothing happens
};
/// How soon a waiter has a lock that nobody released.
struct WakeUps {
  double p50_us;
  double most_us;
};
struct Contention {
  double round_trip_us;  // to a majority of the nodes, which were idle as long as somebody holds the lock
  double busy_round_trip_us;  // the same without a pause before
  double fifo_cycle_us;       // lock and release of a lock that nobody else wants
  double none_cycle_us;
  WakeUps by_deletion;
  WakeUps by_expiry;
  std::vector<ContentionRow> rows;
};

/// Figures that are not compared with anything.
using Facts = std::vector<std::pair<std::string, double>>;

void print_json(std::ostream& out, const Facts& facts);
void print_table(std::ostream& out, const Facts& facts);
void print_json(std::ostream& out, const Contention& table);
void print_table(std::ostream& out, const Contention& table);
void print_json(std::ostream& out, const Outages& table);
void print_table(std::ostream& out, const Outages& table);  // in Markdown
void print_json(std::ostream& out, const Report& report);
void print_table(std::ostream& out, const Report& report);

}  // namespace redlock::benchmark
