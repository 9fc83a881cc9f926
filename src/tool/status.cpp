#include "tool/status.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/line_text.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/semaphore/seats.hpp"
#include "tool/semaphore/semaphore_status.hpp"
#include "tool/table.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using StatusTable = Table<6>;

std::string_view state_of(const NodeReport& report) {
  const Holder holder{report.owner.value_or("")};
  if (report.status == NodeStatus::held && holder.is_kept()) return to_string(LockState::Kind::kept);
  if (report.status == NodeStatus::held && holder.is_shared()) return to_string(LockState::Kind::shared);
  return to_string(report.status);
}

std::string holder_of(const NodeReport& report) {
  const Holder holder{report.owner.value_or("")};
  if (!report.owner || holder.is_kept()) return "-";
  return holder.is_shared() ? number_of_readers(report.reader_count) : holder_text(*report.owner);
}

StatusTable::Row row_of(const NodeReport& report) {
  return {report.node,
          std::string{state_of(report)},
          holder_of(report),
          report.ttl ? readable(*report.ttl) : "-",
          report.counter ? std::to_string(report.counter->value()) : "-",
          printable(report.message)};
}

void print(std::span<const NodeReport> reports) {
  std::vector<StatusTable::Row> rows{{"NODE", "STATE", "HOLDER", "TTL", "COUNTER", ""}};
  for (const NodeReport& report : reports) rows.push_back(row_of(report));
  StatusTable{}.print(rows);
}

nlohmann::json json_of(const NodeReport& report) {
  nlohmann::json node{{"node", report.node}, {"state", state_of(report)}};
  if (report.owner) add_holder(node, *report.owner);
  if (state_of(report) == to_string(LockState::Kind::shared))
    add_readers(node, std::vector<Holder>(report.readers.begin(), report.readers.end()), report.reader_count);
  if (report.ttl) node["ttl_ms"] = milliseconds_of(*report.ttl);
  if (report.counter) node["counter"] = report.counter->value();
  if (report.votes_in) node["votes_in_ms"] = milliseconds_of(*report.votes_in);
  if (!report.message.empty()) node["message"] = report.message;
  return node;
}

void print_json(const std::string& resource, const LockState& state, std::span<const NodeReport> reports,
                std::span<const InLine> line, std::optional<std::size_t> seats_taken) {
  nlohmann::json all = lock_json(resource, state, reports);
  if (has_life(state) && state.ttl != std::chrono::nanoseconds::max())
    all["ttl_ms"] = milliseconds_of(state.ttl);
  if (seats_taken) all["seats_taken_at_least"] = *seats_taken;
  all["line"] = line_json(line);
  all["nodes"] = nlohmann::json::array();
  for (const NodeReport& report : reports) all["nodes"].push_back(json_of(report));
  std::cout << json_text(all, 2) << '\n';
}

}  // namespace

int status(const StatusArguments& arguments) {
  if (arguments.seats > 0) return semaphore_status(arguments);
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<NodeReport> reports = locks.inspect(arguments.resource);
  const LockState state = lock_state_of(reports);
  const std::vector<InLine> line = line_for(locks, arguments.resource, reports);
  std::optional<std::size_t> seats_taken;
  if (state.kind == LockState::Kind::free) seats_taken = taken_among_first(locks, arguments.resource);
  if (arguments.json) {
    print_json(arguments.resource, state, reports, line, seats_taken);
  } else {
    print(reports);
    const std::string text = describe(state, name_with_semaphore(arguments.resource, state), reports) +
                             describe_seats(arguments.resource, seats_taken.value_or(0));
    std::cout << printable(text, std::string::npos) << '\n' << line_table(line);
  }
  if (state.kind != LockState::Kind::unknown) return success;
  return without_majority(misconfigured(reports), reports.size());
}

}  // namespace redlock::tool
