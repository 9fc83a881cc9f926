// The restart guard: decides which nodes may grant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/guard_messages.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Prevents nodes that lost their data from granting a lock to a second holder. A node may grant if it has a marker of
/// this deployment with the run_id of its server, and no quarantine. If the marker is missing, or another run of the
/// server wrote it, the node may have forgotten locks. Such a node gets a new marker and a quarantine that is longer
/// than any lock.
///
///     lost ── marker and quarantine set ───────────────────────▶ quarantined ── quarantine over ──▶ admitted
///       ├──── all nodes lost in two checks: a new deployment ─────────────────────────────────────▶ admitted
///       └──── deployment not known ──▶ quarantined ── quarantine over ──▶ unassigned ─────────────▶ admitted
///
/// A missing marker counts as lost if it is still missing 200 ms later, because another client may be marking the nodes
/// right now. The guard writes nothing before the first acquisition. It does not repeat a command that failed; the next
/// acquisition does.
///
/// It is an operation that is never done; the engine owns it.
class RestartGuard final : public Operation {
 public:
  struct Settings {
    std::size_t nodes = 0;
    std::chrono::milliseconds max_ttl{};
    std::chrono::milliseconds quarantine{};
    Span discovery_time{};  // how long to wait for the other nodes while no deployment is known
    bool strict = false;    // the nodes of a new deployment are quarantined as well
    bool durable = false;   // the servers keep all data over a restart
  };
  explicit RestartGuard(const Settings& settings) : settings_{settings}, nodes_(settings.nodes) {}

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// An operation needs grants. Starts whatever is missing for the nodes to be admitted.
  void want_grants(Time now, Outbox& outbox) {
    grants_wanted_ = true;
    if (all_admitted_) return;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == Standing::failed && now >= later(nodes_[node].read_at, retry_after))
        ask(node, look_command(), now, outbox);
    decide(now, outbox);
  }
  /// A connection is ready. `marker`: the reply of `mark_script` in the handshake.
  void connected(NodeIndex node, const std::string& run_id, const Reply& marker, Time now, Outbox& outbox) {
    nodes_[node] = Node{};
    nodes_[node].run_id = run_id;
    nodes_[node].read(marker, settings_.durable, now);
    decide(now, outbox);
  }
  /// The node has refused a grant because of its marker: reads the marker again.
  void grant_refused(NodeIndex node, Time now, Outbox& outbox) {
    if (nodes_[node].standing == Standing::asked) return;
    ask(node, look_command(), now, outbox);
    decide(now, outbox);
  }

  [[nodiscard]] bool admits(NodeIndex node) const noexcept {
    return nodes_[node].standing == Standing::admitted;
  }
  /// Returns true if the node may be admitted soon.
  [[nodiscard]] bool is_deciding(NodeIndex node) const noexcept {
    const Standing standing = nodes_[node].standing;
    return grants_wanted_ && (standing == Standing::asked || standing == Standing::lost);
  }
  [[nodiscard]] Time admitted_at(NodeIndex node) const noexcept { return nodes_[node].read_at; }
  /// Until when a call may wait for pending decisions. A new deployment takes two checks.
  [[nodiscard]] Time decided_by() const noexcept {
    Time latest = Time::min();
    for (const Node& node : nodes_)
      if (node.missing_since != never)
        latest = std::max(latest, later(node.missing_since, Node::between_looks + time_to_answer));
    return latest;
  }

  /// What the markers of this deployment begin with. Empty if no deployment is known; then no node is admitted.
  [[nodiscard]] std::string_view beginning() const noexcept { return beginning_; }

  /// Why a connected node may not grant. Returns null if it may. The pointer is valid until the next call.
  [[nodiscard]] const Trouble* objection(NodeIndex index, Time now) {
    Node& node = nodes_[index];
    if (now >= node.quarantined_until) node.standing = standing(node, now);
    if (node.standing == Standing::away || node.standing == Standing::admitted) return nullptr;
    if (node.standing == Standing::failed) return &node.failure.value();
    objection_ = objection_to(node, {settings_.nodes, settings_.max_ttl, id_}, settings_.quarantine, now);
    return &objection_;
  }
  /// Like `objection`, but for reports: returns null as well while no deployment is known and the node may be new.
  [[nodiscard]] const Trouble* caveat(NodeIndex index, Time now) {
    const Standing standing = nodes_[index].standing;
    const bool is_open = standing == Standing::asked || standing == Standing::lost;
    return is_open && id_.empty() ? nullptr : objection(index, now);
  }

  // ── as an operation ──────────────────────────────────────────────────────────────────────────────────────

  void start(Time, Outbox&) override {}
  void answered(NodeIndex node, Step, const Reply& reply, Time now, Outbox& outbox) override {
    nodes_[node].read(reply, settings_.durable, now);
    decide(now, outbox);
  }
  void disconnected(NodeIndex node, const Trouble&, Time now, Outbox& outbox) override {
    nodes_[node] = Node{};
    decide(now, outbox);
  }
  void timed_out(Time now, Outbox& outbox) override {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (now >= nodes_[node].second_look()) ask(node, look_command(), now, outbox);
    decide(now, outbox);
  }
  void abandon(Errc, Time, Outbox&) override {}

 private:
  using Node = GuardedNode;
  using Standing = Node::Standing;
  static constexpr std::string_view no_deployment = "none";
  static constexpr Span time_to_answer = std::chrono::milliseconds{250};
  static constexpr Span retry_after = std::chrono::seconds{1};

  // ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────

  /// Derives the standing from what was read.
  [[nodiscard]] Standing standing(const Node& node, Time now) const {
    if (node.standing == Standing::away || node.standing == Standing::asked) return node.standing;
    if (node.failure) return Standing::failed;
    if (node.text.empty()) return Standing::lost;
    if (!has_our_settings(node)) return Standing::foreign;
    if (!names_our_deployment(node.marker) && node.marker->deployment != no_deployment)
      return Standing::foreign;
    if (node.marker->run_id != node.run_id && !settings_.durable) return Standing::lost;
    if (now < node.quarantined_until) return Standing::quarantined;
    return node.marker->deployment == no_deployment ? Standing::unassigned : Standing::admitted;
  }
  [[nodiscard]] bool has_our_settings(const Node& node) const noexcept {
    return node.marker && node.marker->nodes == settings_.nodes && node.marker->max_ttl == settings_.max_ttl;
  }
  [[nodiscard]] bool names_our_deployment(const std::optional<Marker>& marker) const noexcept {
    return marker && !id_.empty() && marker->deployment == id_;
  }

  void decide(Time now, Outbox& outbox) {
    learn_deployment(now);
    all_admitted_ = true;
    for (Node& node : nodes_) {
      node.standing = standing(node, now);
      all_admitted_ = all_admitted_ && node.standing == Standing::admitted;
    }
    set_deadline(never);
    if (!grants_wanted_) return;
    if (id_.empty()) begin_deployment(now, outbox);
    for (NodeIndex node = 0; node < nodes_.size() && !id_.empty(); ++node) mark_if_needed(node, now, outbox);
    for (const Node& node : nodes_) set_deadline(std::min(deadline(), node.second_look()));
    if (now < discovery_ends_at_) set_deadline(std::min(deadline(), discovery_ends_at_));
  }

  /// Adopts the deployment that all markers name, or that the markers of a majority of the nodes name. If the markers
  /// differ and there is no majority, an operator has to decide.
  void learn_deployment(Time now) {
    std::map<std::string, std::size_t> names;
    for (const Node& node : nodes_)
      if (!node.text.empty() && has_our_settings(node) && node.marker->deployment != no_deployment)
        ++names[node.marker->deployment];
    for (const auto& [name, count] : names)
      if (count >= quorum(nodes_.size()) || (names.size() == 1 && id_.empty())) adopt(name, now);
  }
  void adopt(const std::string& name, Time now) {
    if (id_ == name) return;
    id_ = name;
    beginning_ = Marker{id_, settings_.nodes, settings_.max_ttl, {}, {}}.beginning();
    discovery_ends_at_ = never;
    // Another client may have just begun it, and may be marking the other nodes.
    for (Node& node : nodes_) {
      if (node.missing_since != never) node.missing_since = now;
      node.was_missing_twice = false;
    }
  }

  /// Starts a new deployment if that is safe. Precondition: no marker names a deployment.
  void begin_deployment(Time now, Outbox& outbox) {
    const std::size_t lost = count(Standing::lost);
    if (count(Standing::asked) > 0 || count(Standing::foreign) > 0) return;
    if (lost == nodes_.size()) {
      if (std::all_of(nodes_.begin(), nodes_.end(), std::mem_fn(&Node::is_certain)))
        begin_with(Standing::lost, now, outbox);
      return;
    }
    if (count(Standing::unassigned) >= quorum(nodes_.size()))
      return begin_with(Standing::unassigned, now, outbox);
    if (lost == 0) return;
    // Wait for nodes that are just starting.
    if (discovery_ends_at_ == never) discovery_ends_at_ = later(now, settings_.discovery_time);
    if (now < discovery_ends_at_) return;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == Standing::lost && nodes_[node].is_certain())
        mark(node, no_deployment, settings_.quarantine, now, outbox);
  }
  void begin_with(Standing standing, Time now, Outbox& outbox) {
    std::vector<std::string> run_ids;
    for (const Node& node : nodes_)
      if (node.standing == standing) run_ids.push_back(node.run_id);
    adopt(name_of(run_ids), now);
    const bool at_once = standing == Standing::unassigned || !settings_.strict;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == standing)
        mark(node, id_, at_once ? std::chrono::milliseconds::zero() : settings_.quarantine, now, outbox);
  }

  /// Writes a marker to the node if it needs one. Precondition: the deployment is known.
  void mark_if_needed(NodeIndex index, Time now, Outbox& outbox) {
    Node& node = nodes_[index];
    const bool has_data = node.standing == Standing::quarantined || node.standing == Standing::unassigned ||
                          node.standing == Standing::admitted;
    if (node.standing == Standing::lost && node.is_certain())
      return mark(index, id_, settings_.quarantine, now, outbox);
    // A quarantine stays as it is.
    if (has_data && (node.marker->deployment == no_deployment || node.marker->run_id != node.run_id))
      mark(index, id_, std::chrono::milliseconds::zero(), now, outbox);
  }

  [[nodiscard]] std::size_t count(Standing standing) const noexcept {
    return static_cast<std::size_t>(std::count_if(
        nodes_.begin(), nodes_.end(), [standing](const Node& node) { return node.standing == standing; }));
  }

  void mark(NodeIndex index, std::string_view deployment, std::chrono::milliseconds quarantine, Time now,
            Outbox& outbox) {
    const Node& node = nodes_[index];
    const Marker marker{.deployment = std::string{deployment},
                        .nodes = settings_.nodes,
                        .max_ttl = settings_.max_ttl,
                        .node = node.marker ? node.marker->node : name_of({node.run_id}),
                        .run_id = node.run_id};
    ask(index, mark_command(node.text, marker.text(), quarantine), now, outbox);
  }
  void ask(NodeIndex index, const std::string& command, Time now, Outbox& outbox) {
    Node& node = nodes_[index];
    if (node.standing == Standing::away) return;
    node.standing = Standing::asked;
    all_admitted_ = false;
    const Trouble* refused = outbox.send(index, command, *this, {.always_read = true});
    if (!refused) return;
    node.read_at = now;
    node.failure = *refused;
    node.standing = Standing::failed;
  }

  const Settings settings_;
  std::vector<Node> nodes_;
  std::string id_;  // of the deployment; empty if not known
  std::string beginning_;
  Trouble objection_;
  Time discovery_ends_at_ = never;
  bool grants_wanted_ = false;
  bool all_admitted_ = false;
};

}  // namespace redlock::inline v1::core
