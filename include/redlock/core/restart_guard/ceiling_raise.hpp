// Allows longer locks on the nodes of a deployment.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/restart_guard/deployment_name.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/wire/marker.hpp"

namespace redlock::inline v1::core {

/// Raises the limits in the markers of all nodes, in two phases:
///
///     reading ── all intact ─▶ ceiling ── on all nodes ─▶ pause ── nothing has changed ─▶ max_ttl ── on all ─▶ done
///                                 ▲────── changed ──────────┘
///
/// A client that marks a node takes the ceiling from an intact marker that it asked for after it saw the node's loss, and
/// its mark counts for a second (`mark_script`). So after the pause no mark with the old ceiling is under way, and none can
/// follow: a node that loses its data from then on waits for the longest lock under the new limit. Only then may such a
/// lock be taken. In one phase, a node that was marked meanwhile could forget one too early.
///
/// All nodes must be reached and have intact markers, or the operation fails; then some nodes may have the new ceiling, so
/// they wait longer than necessary after a loss of data. Repeating it is safe.
class CeilingRaise final : public Operation {
 public:
  /// `durable`: as for the restart guard. `reply_time`: how long to wait for a node's reply.
  CeilingRaise(std::chrono::milliseconds max_ttl, std::size_t nodes, bool durable, Span reply_time)
      : max_ttl_{max_ttl}, durable_{durable}, reply_time_{reply_time}, nodes_(nodes), tally_{nodes} {}

  /// Longer than a mark counts after the look that it is based on, also if the server's clock is set back a little.
  static constexpr Span pause = std::chrono::seconds{2};

  void start(Time now, Outbox& outbox) override { look_at_all(now, outbox); }
  void answered(NodeIndex index, Step, const Reply& reply, Time now, Outbox& outbox) override {
    if (done()) return;
    nodes_[index].run_id = outbox.run_id(index);
    nodes_[index].read(reply, *outbox.marker_keys(), durable_, 0, now);
    if (--due_ == 0) proceed(now, outbox);
  }
  void disconnected(NodeIndex node, const Trouble& trouble, Time, Outbox&) override {
    if (done()) return;
    tally_.mark(node, Tally::Mark::unknown, trouble);
    finish();
  }
  void timed_out(Time now, Outbox& outbox) override {
    if (done()) return;
    if (due_ == 0) return look_at_all(now, outbox);
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_asked) tally_.mark(node, Tally::Mark::unknown, no_answer_within(reply_time_));
    finish();
  }
  void abandon(Errc, Time, Outbox&) override { finish(); }

  [[nodiscard]] std::size_t connections_wanted(std::size_t nodes) const override { return nodes; }
  /// Valid once done. Then all nodes are marked `yes` if the limits were raised; else some are `unknown`, and say why.
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  /// Valid once done: the least `max_ttl` of the nodes, which may have been greater before. Precondition: all are `yes`.
  [[nodiscard]] std::chrono::milliseconds max_ttl() const {
    const auto least = std::ranges::min_element(
        nodes_, {}, [](const GuardedNode& node) { return node.marker->limits.max_ttl; });
    return least->marker->limits.max_ttl;
  }

 private:
  static constexpr int most_rounds = 20;

  void ask(NodeIndex node, const std::string& command, Time now, Outbox& outbox) {
    set_deadline(later(now, reply_time_));
    if (const Trouble* const refused = outbox.send(node, command, *this, {.send_by = deadline()}))
      return tally_.mark(node, Tally::Mark::unknown, *refused);
    nodes_[node].is_asked = true;
    ++due_;
  }
  void look_at_all(Time now, Outbox& outbox) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      ask(node, look_command(*outbox.marker_keys()), now, outbox);
    if (tally_.count(Tally::Mark::unknown) > 0) finish();
  }

  /// All replies are there: takes the next step.
  void proceed(Time now, Outbox& outbox) {
    if (!all_intact(outbox)) return finish();
    if (max_ttl() >= max_ttl_) return succeed();
    if (++rounds_ > most_rounds) return fail_all({NodeStatus::not_awaited, "the markers keep changing"});
    if (raise(&TtlLimits::ceiling, now, outbox)) {
      is_covered_ = false;
      settled_.clear();
      return;
    }
    const std::vector<std::string> before = std::exchange(settled_, texts());
    is_covered_ = is_covered_ || before == settled_;
    if (!is_covered_)
      return set_deadline(later(now, pause));  // also if a marker has changed during the pause
    raise(&TtlLimits::max_ttl, now, outbox);
  }
  void succeed() {
    for (NodeIndex node = 0; node < nodes_.size(); ++node) tally_.mark(node, Tally::Mark::yes);
    finish();
  }
  /// Raises one of the limits where it is lower. Returns false if it is lower nowhere.
  bool raise(std::chrono::milliseconds TtlLimits::*limit, Time now, Outbox& outbox) {
    bool is_lower = false;
    for (NodeIndex index = 0; index < nodes_.size(); ++index) {
      const GuardedNode& node = nodes_[index];
      TtlLimits limits = node.marker->limits;
      if (limits.*limit >= max_ttl_) continue;
      limits.*limit = max_ttl_;
      is_lower = true;
      const std::string text = node.new_marker(node.marker->deployment, nodes_.size(), limits);
      ask(index, mark_command(*outbox.marker_keys(), node.text, text, quarantine_stays, node.looked_at), now,
          outbox);
    }
    if (tally_.count(Tally::Mark::unknown) > 0) finish();
    return is_lower;
  }

  /// Marks the nodes that have no intact marker of one deployment.
  bool all_intact(Outbox& outbox) {
    const Naming naming = naming_of(nodes_, {.nodes = nodes_.size(), .deployment = {}});
    const ExpectedMarker expected{.nodes = nodes_.size(), .deployment = naming.name, .is_durable = durable_};
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (Trouble trouble; !is_usable(node, expected, outbox, trouble))
        tally_.mark(node, Tally::Mark::unknown, std::move(trouble));
    return tally_.count(Tally::Mark::unknown) == 0;
  }
  bool is_usable(NodeIndex index, const ExpectedMarker& expected, Outbox& outbox, Trouble& trouble) const {
    const GuardedNode& node = nodes_[index];
    if (node.is_intact(expected)) return true;
    const Trouble* const known = outbox.caveat(index);
    if (node.failure)
      trouble = *node.failure;
    else if (node.belongs(expected))
      trouble = {NodeStatus::quarantined,
                 "the node has restarted and was not marked since; take a lock first"};
    else if (known)
      trouble = *known;
    else if (node.text.empty())
      trouble = {NodeStatus::quarantined, "the node has no marker; take a lock first"};
    else
      trouble = {NodeStatus::other_deployment, "the node's marker is not that of the other nodes"};
    return false;
  }
  void fail_all(const Trouble& trouble) {
    tally_.close(trouble);
    finish();
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const GuardedNode& node : nodes_) texts.push_back(node.text);
    return texts;
  }

  const std::chrono::milliseconds max_ttl_;
  const bool durable_;
  const Span reply_time_;
  std::vector<GuardedNode> nodes_;
  Tally tally_;
  std::size_t due_ = 0;  // replies
  int rounds_ = 0;
  std::vector<std::string> settled_;  // the markers when all nodes had the ceiling
  bool is_covered_ = false;           // the pause is over
};

}  // namespace redlock::inline v1::core
