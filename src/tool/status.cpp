#include "tool/status.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
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
#include "tool/table.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using StatusTable = Table<6>;

bool is_kept(const NodeReport& report) { return report.owner && Holder{*report.owner}.is_kept(); }

std::string_view state_of(const NodeReport& report) {
  return is_kept(report) && report.status == NodeStatus::held ? to_string(LockState::Kind::kept)
                                                              : to_string(report.status);
}

StatusTable::Row row_of(const NodeReport& report) {
  return {report.node,
          std::string{state_of(report)},
          report.owner && !is_kept(report) ? holder_text(*report.owner) : "-",
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
  if (report.ttl) node["ttl_ms"] = milliseconds_of(*report.ttl);
  if (report.counter) node["counter"] = report.counter->value();
  if (report.votes_in) node["votes_in_ms"] = milliseconds_of(*report.votes_in);
  if (!report.message.empty()) node["message"] = report.message;
  return node;
}

void print_json(const std::string& resource, const LockState& state, std::span<const NodeReport> reports) {
  nlohmann::json all{{"resource", resource}, {"state", to_string(state.kind)}};
  if (state.kind == LockState::Kind::held) add_holder(all, state.owner);
  if (state.kind == LockState::Kind::held || state.kind == LockState::Kind::kept) {
    if (state.ttl != std::chrono::nanoseconds::max()) all["ttl_ms"] = milliseconds_of(state.ttl);
  }
  all["line"] = line_json(line_in(reports));
  all["nodes"] = nlohmann::json::array();
  for (const NodeReport& report : reports) all["nodes"].push_back(json_of(report));
  std::cout << json_text(all, 2) << '\n';
}

}  // namespace

int status(const StatusArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<NodeReport> reports = locks.inspect(arguments.resource);
  const LockState state = lock_state_of(reports);
  if (arguments.json) {
    print_json(arguments.resource, state, reports);
  } else {
    print(reports);
    std::cout << printable(describe(state, arguments.resource, reports), std::string::npos) << '\n'
              << line_table(line_in(reports));
  }
  if (state.kind != LockState::Kind::unknown) return success;
  return without_majority(misconfigured(reports), reports.size());
}

}  // namespace redlock::tool
