#include "benchmark/measure/report.hpp"

#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>

namespace redlock::benchmark {
namespace {

double rounded(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit;
}

}  // namespace

Row::Row(const Contestant& contestant, double ratio_to_reference)
    : name{contestant.name},
      nodes{contestant.nodes},
      callers{contestant.callers},
      p50_us{contestant.samples.percentile_us(0.50)},
      p99_us{contestant.samples.percentile_us(0.99)},
      cycles_per_s{contestant.samples.cycles_per_second()},
      ratio{ratio_to_reference} {}

void print_json(std::ostream& out, const Facts& facts) {
  nlohmann::ordered_json object;
  for (const auto& [name, value] : facts) object[name] = rounded(value, 100);
  out << object.dump(2) << '\n';
}

void print_table(std::ostream& out, const Facts& facts) {
  out << std::fixed << std::setprecision(2);
  for (const auto& [name, value] : facts)
    out << std::left << std::setw(28) << name << std::right << std::setw(12) << value << '\n';
}

void print_json(std::ostream& out, const Contention& table) {
  const auto both = [](const WakeUps& times) {
    return nlohmann::ordered_json{{"p50_us", rounded(times.p50_us, 10)},
                                  {"most_us", rounded(times.most_us, 10)}};
  };
  auto rows = nlohmann::ordered_json::array();
  for (const ContentionRow& row : table.rows)
    rows.push_back({{"waiters", row.waiters},
                    {"order", row.order},
                    {"count", row.count},
                    {"p50_us", rounded(row.p50_us, 10)},
                    {"p99_us", rounded(row.p99_us, 10)},
                    {"p50_round_trips", rounded(row.p50_us / table.round_trip_us, 100)},
                    {"p99_round_trips", rounded(row.p99_us / table.round_trip_us, 100)},
                    {"holds_per_s", rounded(row.holds_per_s, 10)},
                    {"longest_wait_us", rounded(row.longest_wait_us, 10)},
                    {"attempts_per_hold", rounded(row.attempts_per_hold, 1000)},
                    {"idle_commands_per_s", rounded(row.idle_commands_per_s, 10)}});
  out << nlohmann::ordered_json{{"round_trip_us", rounded(table.round_trip_us, 10)},
                                {"busy_round_trip_us", rounded(table.busy_round_trip_us, 10)},
                                {"fifo_cycle_us", rounded(table.fifo_cycle_us, 10)},
                                {"none_cycle_us", rounded(table.none_cycle_us, 10)},
                                {"held_after_deletion", both(table.by_deletion)},
                                {"held_after_expiry", both(table.by_expiry)},
                                {"rows", rows}}
             .dump(2)
      << '\n';
}

void print_table(std::ostream& out, const Contention& table) {
  const auto line = [&out](const auto& waiters, const auto& order, const auto& count) -> std::ostream& {
    return out << std::left << std::setw(10) << waiters << std::setw(6) << order << std::right << std::setw(6)
               << count;
  };
  out << std::fixed << std::setprecision(1) << "majority round trip: " << table.round_trip_us
      << " us after a pause as long as a hold, " << table.busy_round_trip_us << " us without a pause\n"
      << "lock and release that nobody else wants: " << table.fifo_cycle_us << " us in order, "
      << table.none_cycle_us << " us with Order::none\n";
  const auto wake_ups = [&out](const char* event, const WakeUps& times) {
    out << "held after " << event << ": p50 " << times.p50_us << " us, at most " << times.most_us << " us\n";
  };
  wake_ups("a deletion", table.by_deletion);
  wake_ups("the end of a ttl", table.by_expiry);
  line("waiters", "order", "count")
      << "    p50_us    p99_us  p50_trips  p99_trips  holds/s  longest_wait_us  "
         "attempts/hold  idle_commands/s\n";
  for (const ContentionRow& row : table.rows)
    line(row.waiters, row.order, row.count)
        << std::setw(10) << row.p50_us << std::setw(10) << row.p99_us << std::setw(11)
        << row.p50_us / table.round_trip_us << std::setw(11) << row.p99_us / table.round_trip_us
        << std::setw(9) << row.holds_per_s << std::setw(17) << row.longest_wait_us << std::setw(15)
        << std::setprecision(2) << row.attempts_per_hold << std::setprecision(1) << std::setw(17)
        << row.idle_commands_per_s << '\n';
}

void print_json(std::ostream& out, const Outages& table) {
  auto rows = nlohmann::ordered_json::array();
  const auto both = [](const OutageTimes& times) {
    return nlohmann::ordered_json{{"living_s", rounded(times.living, 10)},
                                  {"new_s", rounded(times.fresh, 10)}};
  };
  for (const Outage& row : table)
    rows.push_back({{"operation", row.operation},
                    {"kept", row.kept},
                    {"3_nodes", both(row.with_three_nodes)},
                    {"5_nodes", both(row.with_five_nodes)}});
  out << nlohmann::ordered_json{{"rows", rows}}.dump(2) << '\n';
}

void print_table(std::ostream& out, const Outages& table) {
  out << "| operation | persistence | 3 nodes: living client | new client | 5 nodes: living client | new "
         "client |\n"
         "|---|---|---|---|---|---|\n"
      << std::fixed << std::setprecision(1);
  for (const Outage& row : table) {
    out << "| " << row.operation << " | " << row.kept;
    for (const OutageTimes& times : {row.with_three_nodes, row.with_five_nodes})
      out << " | " << times.living << " s | " << times.fresh << " s";
    out << " |\n";
  }
}

void print_json(std::ostream& out, const Report& report) {
  auto rows = nlohmann::ordered_json::array();
  for (const Row& row : report.rows)
    rows.push_back({{"name", row.name},
                    {"nodes", row.nodes},
                    {"callers", row.callers},
                    {"p50_us", rounded(row.p50_us, 100)},
                    {"p99_us", rounded(row.p99_us, 100)},
                    {"cycles_per_s", rounded(row.cycles_per_s, 10)},
                    {report.ratio_name, rounded(row.ratio, 1000)}});
  out << nlohmann::ordered_json{{"rows", rows}}.dump(2) << '\n';
}

void print_table(std::ostream& out, const Report& report) {
  const auto line = [&out](const auto& name, const auto& nodes, const auto& callers, const auto& p50,
                           const auto& p99, const auto& rate) -> std::ostream& {
    return out << std::left << std::setw(24) << name << std::right << std::setw(6) << nodes << std::setw(9)
               << callers << std::setw(10) << p50 << std::setw(10) << p99 << std::setw(14) << rate << "  ";
  };
  line("name", "nodes", "callers", "p50_us", "p99_us", "cycles_per_s") << report.ratio_name << '\n';
  out << std::fixed << std::setprecision(1);
  for (const Row& row : report.rows)
    line(row.name, row.nodes, row.callers, row.p50_us, row.p99_us, row.cycles_per_s)
        << std::setprecision(3) << row.ratio << std::setprecision(1) << '\n';
}

}  // namespace redlock::benchmark
