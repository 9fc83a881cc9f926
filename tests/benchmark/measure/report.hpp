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

/// Figures that are not compared with anything.
using Facts = std::vector<std::pair<std::string, double>>;

void print_json(std::ostream& out, const Facts& facts);
void print_table(std::ostream& out, const Facts& facts);
void print_json(std::ostream& out, const Report& report);
void print_table(std::ostream& out, const Report& report);

}  // namespace redlock::benchmark
