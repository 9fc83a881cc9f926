#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "tool/locks/holder_text.hpp"
#include "tool/nodes/report.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using std::chrono::duration;

template <class Value>
void put(nlohmann::json& to, const char* name, const std::optional<Value>& value) {
  if (value) to[name] = *value;
}

nlohmann::json json_of(const ClockFacts& clock) {
  const auto ms = [](std::chrono::nanoseconds time) { return duration<double, std::milli>{time}.count(); };
  return {{"offset_ms", ms(clock.offset)},
          {"offset_uncertainty_ms", ms(clock.offset_uncertainty)},
          {"rate", clock.rate},
          {"rate_uncertainty", clock.rate_uncertainty}};
}

nlohmann::json json_of(const NodeView& view, const Survey& survey) {
  const NodeFacts& facts = view.facts;
  nlohmann::json node{{"node", view.report.node},
                      {"state", state_of(view)},
                      {"status", to_string(view.report.status)},
                      {"votes", view.votes()},
                      {"unseen", unseen_on(view, survey.options)}};
  if (view.report.votes_in) node["votes_in_ms"] = milliseconds_of(*view.report.votes_in);
  if (!view.report.message.empty()) node["message"] = view.report.message;
  if (facts.certificate_end) node["certificate_end"] = facts.certificate_end->time_since_epoch().count();
  if (facts.own_certificate_end)
    node["client_certificate_end"] = facts.own_certificate_end->time_since_epoch().count();
  put(node, "version", facts.version);
  put(node, "run_id", facts.run_id);
  put(node, "mode", facts.mode);
  put(node, "role", facts.role);
  if (facts.uptime) node["uptime_s"] = facts.uptime->count();
  put(node, "appends", facts.appends);
  put(node, "appendfsync", facts.appendfsync);
  put(node, "save", facts.save);
  put(node, "eviction_policy", facts.eviction_policy);
  put(node, "memory_used", facts.memory_used);
  put(node, "memory_limit", facts.memory_limit);
  if (facts.marker) {
    node["deployment"] = facts.marker->deployment;
    node["max_ttl_ms"] = facts.marker->limits.max_ttl.count();
  }
  if (facts.clock) node["clock"] = json_of(*facts.clock);
  if (facts.round_trip) node["round_trip_ms"] = duration<double, std::milli>{*facts.round_trip}.count();
  if (facts.missing) node["missing_rights"] = nlohmann::json::array();
  for (const MissingRight& right : facts.missing.value_or(std::vector<MissingRight>{}))
    node["missing_rights"].push_back(right.rule);
  return node;
}

nlohmann::json json_of(const Finding& finding) {
  nlohmann::json object{{"severity", to_string(finding.severity)},
                        {"id", finding.id},
                        {"text", finding.text},
                        {"advice", finding.advice}};
  if (!finding.node.empty()) object["node"] = finding.node;
  return object;
}

}  // namespace

void print_report_as_json(const Survey& survey, const std::vector<Finding>& findings) {
  constexpr const char* states[] = {"healthy", "degraded", "unsafe"};
  nlohmann::json all{{"state", states[static_cast<std::size_t>(worst(findings))]},
                     {"votes", survey.votes()},
                     {"needed", survey.quorum()},
                     {"node_timeout_ms", duration<double, std::milli>{survey.node_timeout()}.count()},
                     {"nodes", nlohmann::json::array()},
                     {"findings", nlohmann::json::array()}};
  if (const auto deployment = survey.deployment()) {
    all["deployment"] = deployment->deployment;
    all["max_ttl_ms"] = deployment->limits.max_ttl.count();
  }
  for (const NodeView& node : survey.nodes) all["nodes"].push_back(json_of(node, survey));
  for (const Finding& finding : findings) all["findings"].push_back(json_of(finding));
  std::cout << json_text(all, 2) << '\n';
}

}  // namespace redlock::tool
