// The restart guard: decides which nodes may grant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/deployment_name.hpp"
#include "redlock/core/restart_guard/guard_messages.hpp"
#include "redlock/core/restart_guard/guard_settings.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/restart_guard/known_limits.hpp"
#include "redlock/core/restart_guard/marked_nodes.hpp"
#include "redlock/core/restart_guard/waiting_time.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Prevents nodes that lost their data from granting a lock to a second holder. A node may grant if it has a marker of
/// this deployment with the run_id of its server, and no quarantine. If the marker is missing, or another run of the
/// server wrote it, the node may have forgotten locks. Such a node gets a new marker and a quarantine that is longer
/// than any lock.
///
///     lost ── marker and quarantine set ────────────▶ quarantined ── quarantine over ──▶ admitted
///       └──── deployment not known ──▶ quarantined ──── quarantine over ──▶ unassigned ─────▲
///                                          └──── all nodes are here, and none has a name ───┘
///
/// A missing marker counts as lost if it is still missing 200 ms later, because another client may be marking the nodes
/// right now. The guard writes nothing before the first acquisition.
///
/// It is an operation that is never done; the engine owns it.
class RestartGuard final : public Operation {
 public:
  using Settings = GuardSettings;
  explicit RestartGuard(const Settings& settings)
      : settings_{settings}, nodes_{settings.nodes, settings_.keys, *this} {}

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// An operation needs grants for a lock with this ttl. Starts whatever is missing for the nodes to be admitted. Looks again
  /// at each node that does not vote, at most once a second, as somebody may have deleted its keys. Looks at all nodes if the
  /// ttl is too long, and under the strict policy once a second, as somebody may have raised the limits.
  void want_grants(Time now, Outbox& outbox, std::chrono::milliseconds ttl = {}) {
    grants_wanted_ = true;
    const bool is_too_long = !limits_.allow(ttl);
    if (!is_too_long && !settings_.strict && nodes_.count(Standing::admitted) == nodes_.size()) return;
    nodes_.update(now, expected());
    for (NodeIndex index = 0; index < nodes_.size(); ++index) {
      const Node& node = nodes_[index];
      const bool is_due =
          (node.is_barred() || settings_.strict) && now >= later(node.read_at, settings_.between_visits);
      if (is_due || (is_too_long && node.standing == Standing::admitted))
        nodes_.look_from_now(index, now, outbox);
    }
    decide(now, outbox);
  }
  /// An operation is about to read what counts only if the node votes. What is known of the node stands until it answers.
  void look_again(NodeIndex index, Time now, Outbox& outbox) {
    Node& node = nodes_[index];
    const Standing standing = node.standing = node.standing_at(now, expected());
    if (!node.is_barred() && standing != Standing::lost) return;
    if (now < later(node.read_at, settings_.between_visits)) return;
    nodes_.look(index, now, outbox);
    if (node.standing == Standing::asked) node.standing = standing;
  }
  /// A connection is ready. `marker`: the reply of `mark_script` in the handshake.
  void connected(NodeIndex node, const Reply& marker, Time now, Outbox& outbox) {
    nodes_.connected(node, outbox.run_id(node));
    nodes_.read(node, marker, settings_.durable, now, outbox);
    decide(now, outbox);
  }
  /// The node has refused a grant because of its marker: reads the marker again.
  void grant_refused(NodeIndex node, Time now, Outbox& outbox) {
    if (nodes_[node].standing == Standing::asked) return;
    nodes_[node].standing = Standing::asked;
    nodes_.look(node, now, outbox);
    decide(now, outbox);
  }

  /// Whether the node may grant a lock with this ttl.
  [[nodiscard]] bool admits(NodeIndex node, std::chrono::milliseconds ttl = {}) const noexcept {
    return nodes_[node].standing == Standing::admitted && limits_.allow(ttl);
  }
  /// Returns true if the node may be admitted soon.
  [[nodiscard]] bool is_deciding(NodeIndex index, std::chrono::milliseconds ttl = {}) const noexcept {
    const Node& node = nodes_[index];
    if (node.standing == Standing::admitted) return node.is_asked && !limits_.allow(ttl);
    return grants_wanted_ && (node.standing == Standing::asked || node.standing == Standing::lost ||
                              node.needs_second_look(expected()) || may_begin_at_once_);
  }
  [[nodiscard]] Time admitted_at(NodeIndex node) const noexcept { return nodes_[node].read_at; }
  /// Until when a call may wait for pending decisions. A new deployment takes two checks.
  [[nodiscard]] Time decided_by() const noexcept {
    Time latest = Time::min();
    for (const Node& node : nodes_.all())
      if (node.unchanged_since != never && node.is_unnamed(expected()))
        latest = std::max(latest, later(node.unchanged_since, Node::between_looks + time_to_answer));
    return latest;
  }

  [[nodiscard]] const MarkerKeys& keys() const noexcept { return settings_.keys; }
  /// Its beginning is empty if no deployment is known; then no node is admitted. Its ending is empty for durable nodes:
  /// other clients may renew their markers at any time.
  [[nodiscard]] RequiredMarker required_marker(NodeIndex node = 0) const noexcept {
    return {beginning_, settings_.durable ? std::string_view{} : nodes_[node].ending()};
  }

  /// Why a connected node may not grant a lock with this ttl. Returns null if it may. The pointer is valid until the next
  /// call.
  [[nodiscard]] const Trouble* objection(NodeIndex index, Time now, std::chrono::milliseconds ttl = {}) {
    Node& node = nodes_[index];
    if (node.standing == Standing::quarantined) node.standing = node.standing_at(now, expected());
    if (node.standing == Standing::away || admits(index, ttl)) return nullptr;
    if (node.standing == Standing::failed) return &node.failure.value();
    objection_ = node.standing == Standing::admitted
                     ? trouble_of_long_ttl(ttl, limits_.confirmed.max_ttl, settings_.keys)
                     : objection_to(node, expected(), quarantine_of(node), now);
    return &objection_;
  }
  /// Like `objection`, for reports: returns null as well while no deployment is known and the node may be new.
  [[nodiscard]] const Trouble* caveat(NodeIndex index, Time now) {
    const Standing standing = nodes_[index].standing;
    const bool is_open = standing == Standing::asked || standing == Standing::lost;
    return is_open && id_.empty() ? nullptr : objection(index, now);
  }

  // ── as an operation ──────────────────────────────────────────────────────────────────────────────────────

  void start(Time, Outbox&) override {}
  void answered(NodeIndex node, Step, const Reply& reply, Time now, Outbox& outbox) override {
    nodes_.read(node, reply, settings_.durable, now, outbox);
    decide(now, outbox);
    nodes_.look_if_wanted(node, now, outbox);
  }
  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
    nodes_.disconnected(node, trouble.status == NodeStatus::same_node);
    decide(now, outbox);
  }
  void timed_out(Time now, Outbox& outbox) override {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (now >= nodes_[node].second_look(expected())) nodes_.look(node, now, outbox);
    decide(now, outbox);
  }
  void abandon(Errc, Time, Outbox&) override {}

 private:
  using Node = GuardedNode;
  using Standing = Node::Standing;
  static constexpr Span time_to_answer = std::chrono::seconds{2};  // four round trips

  [[nodiscard]] ExpectedMarker expected() const noexcept {
    return {.nodes = settings_.nodes,
            .deployment = id_,
            .uptime_counts = !settings_.strict,
            .is_durable = settings_.durable,
            .highest_ceiling = settings_.strict ? settings_.max_ttl : std::chrono::milliseconds::max(),
            .keys = &settings_.keys};
  }

  // ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────

  void decide(Time now, Outbox& outbox) {
    const Naming naming = naming_of(nodes_.all(), expected());
    if (!naming.name.empty()) adopt(naming.name, now);
    if (!id_.empty()) limits_ = limits_of(nodes_.all(), expected(), limits_);
    nodes_.update(now, expected());
    may_begin_at_once_ =
        !settings_.strict && id_.empty() && std::ranges::all_of(nodes_.all(), [this](const Node& node) {
          return node.is_reached() && node.is_unnamed(expected());
        });
    set_deadline(never);
    if (!grants_wanted_) return;
    if (id_.empty()) begin_deployment(now, outbox);
    if (!naming.name.empty()) rename_nodes(naming.is_contested, now, outbox);
    for (NodeIndex node = 0; node < nodes_.size() && !id_.empty(); ++node) mark_if_needed(node, now, outbox);
    for (const Node& node : nodes_.all()) set_deadline(std::min(deadline(), node.second_look(expected())));
    if (now < discovery_ends_at_) set_deadline(std::min(deadline(), discovery_ends_at_));
  }
  void adopt(const std::string& name, Time now) {
    if (id_ == name) return;
    id_ = name;
    beginning_ = Marker{id_, settings_.nodes, {}, {}, {}}.beginning();
    limits_ = {};
    discovery_ends_at_ = never;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)  // another client may be marking them right now
      if (nodes_[node].is_unnamed(expected())) nodes_[node].unchanged_since = now;
  }

  /// Starts a new deployment if that is safe. Precondition: the deployment is not known.
  void begin_deployment(Time now, Outbox& outbox) {
    const std::size_t lost = nodes_.count(Standing::lost);
    if (nodes_.count(Standing::asked) > 0) return;
    if (nodes_.count(Standing::foreign) + quorum(nodes_.size()) > nodes_.size()) return;
    if (may_begin_at_once_ && lost == 0) {
      // If all waited without a name at one moment, no node voted then. The name reaches only nodes that still wait.
      if (nodes_.were_so_at_one_moment(now, outbox)) name_nodes(quarantine_ends, now, outbox);
      return;
    }
    if (may_begin_at_once_ || lost == nodes_.size()) {
      if (std::ranges::all_of(nodes_.all(), &Node::is_certain)) let_wait(now, outbox);
      return;
    }
    if (nodes_.count(Standing::unassigned) >= quorum(nodes_.size()))
      return name_nodes(quarantine_stays, now, outbox);
    if (lost == 0) return;
    if (discovery_ends_at_ == never) discovery_ends_at_ = later(now, settings_.discovery_time);
    if (now >= discovery_ends_at_) let_wait(now, outbox);
  }
  /// Lets the nodes without a marker wait without a name.
  void let_wait(Time now, Outbox& outbox) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == Standing::lost && nodes_[node].is_certain())
        nodes_.mark(node, no_deployment, {settings_.max_ttl, settings_.max_ttl}, quarantine_of(nodes_[node]),
                    now, outbox);
  }
  /// Gives our name to nodes with other ones. They wait in full, as they may belong elsewhere.
  void rename_nodes(bool is_contested, Time now, Outbox& outbox) {
    if (nodes_.count(Standing::asked) > 0 || examined_ == nodes_.replies_read()) return;
    examined_ = nodes_.replies_read();
    const auto misnamed = misnamed_nodes(nodes_.all(), expected(), is_contested);
    if (misnamed.empty() || !nodes_.were_so_at_one_moment(now, outbox)) return;
    for (const NodeIndex node : misnamed)
      nodes_.mark(node, id_, limits_.of_new_marker(settings_.max_ttl), quarantine_of(nodes_[node]), now,
                  outbox);
  }
  /// Names the nodes that wait or have waited without a name.
  void name_nodes(std::chrono::milliseconds quarantine, Time now, Outbox& outbox) {
    std::vector<std::string> names;
    TtlLimits limits;
    for (const Node& node : nodes_.all()) {
      if (!node.waits_unnamed()) continue;
      names.push_back(node.marker->node);
      limits.max_ttl = limits.ceiling = std::max(limits.max_ttl, node.marker->limits.max_ttl);
    }
    const std::string name = name_of_deployment(std::move(names), limits.max_ttl);
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].waits_unnamed()) nodes_.mark(node, name, limits, quarantine, now, outbox);
  }

  /// Writes a marker to the node if it needs one. Precondition: the deployment is known.
  void mark_if_needed(NodeIndex index, Time now, Outbox& outbox) {
    const Node& node = nodes_[index];
    const bool is_lost = node.standing == Standing::lost && node.is_certain();
    // While it waits, another client may be naming it, and ending its quarantine.
    const bool joins =
        node.standing == Standing::unassigned ||
        (node.standing == Standing::quarantined && node.is_unnamed(expected()) && node.is_settled());
    const bool has_restarted =
        (node.standing == Standing::quarantined || node.standing == Standing::admitted) &&
        node.marker->is_named() && node.marker->run_id != node.run_id;
    if (has_restarted) return nodes_.mark(index, id_, node.marker->limits, quarantine_stays, now, outbox);
    if ((!is_lost && !joins) || !limits_are_known_for(node, now, outbox)) return;
    if (is_lost)
      return nodes_.mark(index, id_, limits_.of_new_marker(settings_.max_ttl),
                         waiting_time(node, nodes_.all(), expected(), quarantine_of(node)), now, outbox);
    const bool has_waited = node.marker->limits.ceiling >= limits_.in_reach.ceiling;
    nodes_.mark(index, id_, limits_.of_new_marker(settings_.max_ttl),
                has_waited ? quarantine_stays : quarantine_of(node), now, outbox);
  }
  /// Whether the known limits cover the locks that the node may have forgotten: the intact nodes were asked after this
  /// one was read. If none is known, a majority must be in reach, and the view must be of one moment, so that it does not
  /// miss one that is intact. Otherwise looks again. A mark counts for a second after the look at its node; so no mark
  /// with the limits of before a raise arrives after it (`CeilingRaise`).
  bool limits_are_known_for(const Node& node, Time now, Outbox& outbox) {
    const auto is_intact = [this](const Node& other) { return other.is_intact(expected()); };
    if (!std::ranges::any_of(nodes_.all(), is_intact))
      return nodes_.reached() >= quorum(nodes_.size()) && nodes_.were_so_at_one_moment(now, outbox);
    return nodes_.were_read_after(node.read_in, is_intact, now, outbox);
  }
  /// How long a node that lost its data has to wait: as long as a lock may last that it granted.
  [[nodiscard]] std::chrono::milliseconds quarantine_of(const Node& node) const {
    std::chrono::milliseconds longest = std::max(settings_.max_ttl, limits_.in_reach.ceiling);
    if (node.agrees_with(expected())) longest = std::max(longest, node.marker->limits.ceiling);
    return std::chrono::ceil<std::chrono::milliseconds>(longest +
                                                        settings_.drift.value_or(default_drift(longest)));
  }

  const Settings settings_;
  MarkedNodes nodes_;
  std::string id_;  // of the deployment; empty if not known
  std::string beginning_;
  KnownLimits limits_;
  Trouble objection_;
  Time discovery_ends_at_ = never;
  std::uint64_t examined_ = 0;  // replies, when the names were examined last
  bool grants_wanted_ = false;
  bool may_begin_at_once_ = false;  // all nodes are reached and none has a name
};

}  // namespace redlock::inline v1::core
