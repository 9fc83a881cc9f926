#include "tool/nodes/survey.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "os/random.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/error.hpp"
#include "redlock/redlock.hpp"
#include "tool/lock_state.hpp"
#include "tool/probe/probe.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

/// Where the server of this node is. The address of a node that is not reachable is that of the others under its name.
std::string host_of(std::size_t node, const std::vector<Endpoint>& nodes,
                    const std::vector<NodeFacts>& facts) {
  if (nodes[node].transport() == Endpoint::Transport::unix_socket) return "this machine";
  if (!facts[node].address.empty()) return facts[node].address;
  for (std::size_t other = 0; other < nodes.size(); ++other)
    if (nodes[other].host() == nodes[node].host() && !facts[other].address.empty())
      return facts[other].address;
  return nodes[node].host();
}

/// Inspects with more patience than other clients have, so that a pause of this process does not look like nodes that hang.
std::vector<NodeReport> inspect(const Nodes& nodes, const std::string& resource, Clock::duration patience) {
  Options options = nodes.options;
  options.node_timeout = std::min<Clock::duration>(patience, std::chrono::minutes{1});
  return Redlock{nodes.endpoints, options}.inspect(resource);
}

/// A node that answers, but refuses writes, does not vote.
void heed_refusal(NodeReport& report, const NodeFacts& facts) {
  if (!has_voted(report) || !facts.refusal) return;
  report.status = facts.refusal->status;
  report.message = facts.refusal->message;
}

/// A node that always takes longer than other clients wait does not vote for them.
void heed_speed(NodeView& node, std::chrono::nanoseconds timeout) {
  if (!has_voted(node.report) || node.facts.round_trip.value_or(timeout) <= timeout) return;
  node.report.status = NodeStatus::timed_out;
  node.report.message = "its fastest answer took " + readable(*node.facts.round_trip) +
                        ", and clients wait for " + readable(timeout);
}

}  // namespace

std::string NodeView::missing(Use use) const {
  std::string rules;
  for (const MissingRight& right : facts.missing.value_or(std::vector<MissingRight>{}))
    if (right.use == use) rules += (rules.empty() ? "" : " ") + core::printable(right.rule);
  return rules;
}

bool NodeView::votes() const { return has_voted(report) && missing(Use::locking).empty(); }

std::size_t Survey::votes() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes, &NodeView::votes));
}

std::size_t Survey::quorum() const { return core::quorum(nodes.size()); }

std::chrono::nanoseconds Survey::node_timeout() const {
  constexpr std::chrono::milliseconds usual{250};
  return options.node_timeout ? options.node_timeout->get() : usual;
}

std::optional<core::Marker> Survey::deployment() const {
  std::map<std::string, std::size_t> counts;
  std::optional<core::Marker> commonest;
  for (const NodeView& node : nodes) {
    if (!node.facts.marker || !node.facts.marker->is_named()) continue;
    const std::size_t count = ++counts[node.facts.marker->deployment];
    if (!commonest || count > counts[commonest->deployment]) commonest = node.facts.marker;
  }
  return commonest;
}

std::string made_up_resource() { return "redlock-nodes-" + detail::random_owner_value(); }

Survey survey(const Nodes& nodes, const std::string& resource, std::chrono::nanoseconds between_readings) {
  Survey survey{{}, nodes.options, resource.empty()};
  const std::string name = resource.empty() ? made_up_resource() : resource;
  const Clock::duration patience = 4 * survey.node_timeout();  // as long as a client keeps a connection
  std::vector<NodeReport> reports = inspect(nodes, name, patience);
  std::vector<NodeFacts> facts = probe(
      with_login(nodes), {.lock_key = nodes.options.key_prefix + name,
                          .unused_key = nodes.options.key_prefix + name + '-' + detail::random_owner_value(),
                          .key_prefix = nodes.options.key_prefix,
                          .is_guarded = nodes.options.restart_guard != RestartGuard::off,
                          .connect_timeout = nodes.options.connect_timeout,
                          .answer_timeout = patience,
                          .between_readings = between_readings});
  for (std::size_t node = 0; node < facts.size(); ++node) {
    if (resource.empty() && facts[node].refuses_resource)
      throw Error{Errc::misconfigured, "the user of " + reports[node].node + " may not use the made-up key " +
                                           core::printable(nodes.options.key_prefix + name) +
                                           ": name a lock that it may take with --resource NAME"};
    std::string host = host_of(node, nodes.endpoints, facts);
    survey.nodes.push_back({std::move(reports[node]), facts[node], std::move(host)});
    heed_refusal(survey.nodes.back().report, survey.nodes.back().facts);
    heed_speed(survey.nodes.back(), survey.node_timeout());
  }
  return survey;
}

}  // namespace redlock::tool
