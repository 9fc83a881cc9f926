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
#include "redlock/core/restart_guard/guarded_node.hpp"
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
  struct Settings {
    std::size_t nodes = 0;
    std::chrono::milliseconds max_ttl{};
    std::chrono::milliseconds quarantine{};
    Span discovery_time{};  // how long to wait for the other nodes while no deployment is known
    bool strict = false;    // the nodes of a new deployment are quarantined as well
    bool durable = false;   // the servers keep all data over a restart
    MarkerKeys keys{};
  };
  explicit RestartGuard(const Settings& settings) : settings_{settings}, nodes_(settings.nodes) {}

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// An operation needs grants. Starts whatever is missing for the nodes to be admitted. Looks again at each node that
  /// does not vote, at most once a second, as somebody may have deleted its keys.
  void want_grants(Time now, Outbox& outbox) {
    grants_wanted_ = true;
    if (all_admitted_) return;
    for (Node& node : nodes_) node.standing = standing(node, now);
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_barred() && now >= later(nodes_[node].read_at, between_visits))
        ask(node, look_command(settings_.keys), now, outbox);
    decide(now, outbox);
  }
  /// A connection is ready. `marker`: the reply of `mark_script` in the handshake.
  void connected(NodeIndex node, const std::string& run_id, const Reply& marker, Time now, Outbox& outbox) {
    nodes_[node] = Node{};
    nodes_[node].run_id = run_id;
    nodes_[node].read(marker, settings_.durable, ++events_, now);
    decide(now, outbox);
  }
  /// The node has refused a grant because of its marker: reads the marker again.
  void grant_refused(NodeIndex node, Time now, Outbox& outbox) {
    if (nodes_[node].standing == Standing::asked) return;
    ask(node, look_command(settings_.keys), now, outbox);
    decide(now, outbox);
  }

  [[nodiscard]] bool admits(NodeIndex node) const noexcept {
    return nodes_[node].standing == Standing::admitted;
  }
  /// Returns true if the node may be admitted soon.
  [[nodiscard]] bool is_deciding(NodeIndex index) const noexcept {
    const Node& node = nodes_[index];
    return grants_wanted_ && (node.standing == Standing::asked || node.standing == Standing::lost ||
                              node.second_look(expected()) != never || may_begin_at_once_);
  }
  [[nodiscard]] Time admitted_at(NodeIndex node) const noexcept { return nodes_[node].read_at; }
  /// Until when a call may wait for pending decisions. A new deployment takes two checks.
  [[nodiscard]] Time decided_by() const noexcept {
    Time latest = Time::min();
    for (const Node& node : nodes_)
      if (node.unchanged_since != never && node.is_unnamed(expected()))
        latest = std::max(latest, later(node.unchanged_since, Node::between_looks + time_to_answer));
    return latest;
  }

  /// Its beginning is empty if no deployment is known; then no node is admitted.
  [[nodiscard]] RequiredMarker required_marker() const noexcept { return {beginning_, &settings_.keys}; }

  /// Why a connected node may not grant. Returns null if it may. The pointer is valid until the next call.
  [[nodiscard]] const Trouble* objection(NodeIndex index, Time now) {
    Node& node = nodes_[index];
    if (now >= node.quarantined_until) node.standing = standing(node, now);
    if (node.standing == Standing::away || node.standing == Standing::admitted) return nullptr;
    if (node.standing == Standing::failed) return &node.failure.value();
    objection_ = objection_to(node, expected(), settings_.quarantine, now);
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
    nodes_[node].read(reply, settings_.durable, ++events_, now);
    decide(now, outbox);
  }
  void disconnected(NodeIndex node, const Trouble&, Time now, Outbox& outbox) override {
    nodes_[node] = Node{};
    decide(now, outbox);
  }
  void timed_out(Time now, Outbox& outbox) override {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (now >= nodes_[node].second_look(expected())) ask(node, look_command(settings_.keys), now, outbox);
    decide(now, outbox);
  }
  void abandon(Errc, Time, Outbox&) override {}

 private:
  using Node = GuardedNode;
  using Standing = Node::Standing;
  static constexpr Span time_to_answer = std::chrono::seconds{2};  // four round trips
  static constexpr Span between_visits = std::chrono::seconds{1};

  [[nodiscard]] ExpectedMarker expected() const noexcept {
    return {settings_.nodes, settings_.max_ttl, id_, !settings_.strict, &settings_.keys};
  }

  // ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Standing standing(const Node& node, Time now) const {
    if (node.standing == Standing::away || node.standing == Standing::asked) return node.standing;
    if (node.failure) return Standing::failed;
    if (node.text.empty()) return Standing::lost;
    if (!node.agrees_with(expected())) return Standing::foreign;
    const bool is_of_earlier_run = node.marker->run_id != node.run_id && !settings_.durable;
    // Nobody uses a name that was given to an earlier run.
    if (node.marker->is_named() && node.marker->deployment != id_)
      return is_of_earlier_run && !id_.empty() ? Standing::lost : Standing::foreign;
    if (is_of_earlier_run) return Standing::lost;
    if (now < node.quarantined_until) return Standing::quarantined;
    return node.marker->is_named() ? Standing::admitted : Standing::unassigned;
  }
  [[nodiscard]] static auto is(Standing standing) noexcept {
    return [standing](const Node& node) { return node.standing == standing; };
  }
  [[nodiscard]] std::size_t count(Standing standing) const noexcept {
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), is(standing)));
  }

  void decide(Time now, Outbox& outbox) {
    const Naming naming = naming_of(nodes_, expected());
    is_contested_ = naming.is_contested;
    if (!naming.name.empty()) adopt(naming.name, now);
    for (Node& node : nodes_) node.standing = standing(node, now);
    all_admitted_ = count(Standing::admitted) == nodes_.size();
    may_begin_at_once_ = !settings_.strict && id_.empty() &&
                         std::all_of(nodes_.begin(), nodes_.end(), [this](const Node& node) {
                           return node.is_reached() && node.is_unnamed(expected());
                         });
    set_deadline(never);
    if (!grants_wanted_) return;
    if (id_.empty()) begin_deployment(now, outbox);
    if (is_contested_ && count(Standing::asked) == 0) settle_contest(now, outbox);
    for (NodeIndex node = 0; node < nodes_.size() && !id_.empty(); ++node) mark_if_needed(node, now, outbox);
    for (const Node& node : nodes_) set_deadline(std::min(deadline(), node.second_look(expected())));
    if (now < discovery_ends_at_) set_deadline(std::min(deadline(), discovery_ends_at_));
  }
  void adopt(const std::string& name, Time now) {
    if (id_ == name) return;
    id_ = name;
    beginning_ = Marker{id_, settings_.nodes, settings_.max_ttl, {}, {}}.beginning();
    discovery_ends_at_ = never;
    // Another client may have just begun it, and may be marking the other nodes.
    for (Node& node : nodes_)
      if (node.is_unnamed(expected())) node.unchanged_since = now;
  }

  /// Starts a new deployment if that is safe. Precondition: the deployment is not known.
  void begin_deployment(Time now, Outbox& outbox) {
    const std::size_t lost = count(Standing::lost);
    if (count(Standing::asked) > 0) return;
    if (count(Standing::foreign) + quorum(nodes_.size()) > nodes_.size()) return;
    if (may_begin_at_once_ && lost == 0) {
      // If all waited without a name at one moment, no node voted then. The name reaches only nodes that still wait.
      if (was_so_at_one_moment(now, outbox))
        name_nodes([](const Node&) { return true; }, quarantine_ends, now, outbox);
      return;
    }
    if (may_begin_at_once_ || lost == nodes_.size()) {
      if (std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return !node.is_certain(); }))
        return;
      if (settings_.strict) return name_nodes(is(Standing::lost), settings_.quarantine, now, outbox);
      return let_wait(now, outbox);
    }
    if (count(Standing::unassigned) >= quorum(nodes_.size()))
      return name_nodes(is(Standing::unassigned), quarantine_stays, now, outbox);
    if (lost == 0) return;
    if (discovery_ends_at_ == never) discovery_ends_at_ = later(now, settings_.discovery_time);
    if (now >= discovery_ends_at_) let_wait(now, outbox);
  }
  /// Lets the nodes without a marker wait without a name.
  void let_wait(Time now, Outbox& outbox) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == Standing::lost && nodes_[node].is_certain())
        mark(node, no_deployment, settings_.quarantine, now, outbox);
  }
  /// Whether all markers were, at one moment, as they were read: they were read again, unchanged, after the last of them
  /// was read for the first time, and a text that is lost never returns. Otherwise looks again.
  bool was_so_at_one_moment(Time now, Outbox& outbox) {
    std::uint64_t last_change = 0;
    for (const Node& node : nodes_) last_change = std::max(last_change, node.changed_in);
    bool was_so = true;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_reached() && nodes_[node].asked_in < last_change) {
        ask(node, look_command(settings_.keys), now, outbox);
        was_so = false;
      }
    return was_so;
  }
  /// Renames the nodes with other names than ours. They wait in full, as they may belong elsewhere.
  void settle_contest(Time now, Outbox& outbox) {
    if (!was_so_at_one_moment(now, outbox)) return;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].standing == Standing::foreign && nodes_[node].agrees_with(expected()))
        mark(node, id_, settings_.quarantine, now, outbox);
  }
  template <class Chosen>
  void name_nodes(Chosen is_chosen, std::chrono::milliseconds quarantine, Time now, Outbox& outbox) {
    std::vector<std::string> run_ids;
    for (const Node& node : nodes_)
      if (is_chosen(node)) run_ids.push_back(node.run_id);
    const std::string name = name_of(std::move(run_ids));
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (is_chosen(nodes_[node])) mark(node, name, quarantine, now, outbox);
  }

  /// Writes a marker to the node if it needs one. Precondition: the deployment is known.
  void mark_if_needed(NodeIndex index, Time now, Outbox& outbox) {
    Node& node = nodes_[index];
    if (node.standing == Standing::lost && node.is_certain())
      return mark(index, id_, waiting_time(node, nodes_, expected(), settings_.quarantine), now, outbox);
    // While it waits, another client may be naming it, and ending its quarantine.
    const bool joins =
        node.standing == Standing::unassigned ||
        (node.standing == Standing::quarantined && node.is_unnamed(expected()) && node.is_settled());
    const bool has_restarted =
        (node.standing == Standing::quarantined || node.standing == Standing::admitted) &&
        node.marker->is_named() && node.marker->run_id != node.run_id;
    if (joins || has_restarted) mark(index, id_, quarantine_stays, now, outbox);
  }

  void mark(NodeIndex index, std::string_view deployment, std::chrono::milliseconds quarantine, Time now,
            Outbox& outbox) {
    const Node& node = nodes_[index];
    const std::string text = node.new_marker(deployment, expected());
    ask(index, mark_command(settings_.keys, node.text, text, quarantine, node.looked_at), now, outbox);
  }
  void ask(NodeIndex index, const std::string& command, Time now, Outbox& outbox) {
    Node& node = nodes_[index];
    if (node.standing == Standing::away) return;
    node.standing = Standing::asked;
    node.asked_in = events_;
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
  std::uint64_t events_ = 0;  // replies that were read
  bool grants_wanted_ = false;
  bool all_admitted_ = false;
  bool is_contested_ = false;
  bool may_begin_at_once_ = false;  // all nodes are reached and none has a name
};

}  // namespace redlock::inline v1::core
