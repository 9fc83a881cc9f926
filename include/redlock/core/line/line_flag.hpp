// The flag that keeps newcomers behind those who stand in line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/line/line_context.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

/// The flag of a line on all nodes. It has the line's name, so that whoever leaves the line as the last one can take it
/// down.
///
/// A slow node may execute a client's command to raise the flag when this client has left the line, and also those behind
/// it, who have taken the flag down by then. Then the flag is in doubt: its sender has to ask the gate whether that line
/// still exists.
class LineFlag {
 public:
  enum : Step { raised, lowered, steps };

  LineFlag(const std::string& key, std::size_t nodes, LineContext& context)
      : key_{key}, context_{context}, nodes_(nodes) {}

  /// Names the line whose flag is raised from now on, and its gate. A raise overwrites the flags of earlier lines.
  void belongs_to(const std::string& line, NodeIndex gate) {
    if (line_ != line) {
      doubts_ = 0;
      for (Node& node : nodes_) node.raised_at = {}, node.late = 0;
    }
    line_ = line;
    gate_ = gate;
  }

  /// Raises the flag, or prolongs its life. It outlives a head that died, so that the next one keeps it up.
  void raise(NodeIndex index, Operation& sender, Time now, Outbox& outbox) {
    const LineTimes& times = context_.times();
    Node& node = nodes_[index];
    if (node.raised_at != Time{} && now - node.raised_at < times.life / 5) return;
    node.raised_at = now;
    const std::string raise = command({"SET", key_, line_, "PX", std::to_string(times.flag_life().count())});
    if (!outbox.send(index, raise, sender, {.step = raised, .always_read = true})) ++node.unanswered;
  }
  /// Takes down the flag of the line with this name.
  void lower(const std::string& line, Operation& sender, Time now, Outbox& outbox, Form form = Form::digest) {
    lowered_line_ = line;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      outbox.send(node, lower_command(form), sender, kept(lowered, now));
  }
  /// The command of the last `lower`.
  [[nodiscard]] std::string lower_command(Form form) const {
    return release_script.call({key_}, {lowered_line_}, form);
  }
  /// For commands without which a key stays behind: a node without a connection gets them later.
  [[nodiscard]] SendOptions kept(Step step, Time now) const noexcept {
    return {.step = step, .send_by = later(now, context_.times().life), .is_release = true};
  }

  /// The client leaves the line.
  void left() {
    for (Node& node : nodes_) node.late = node.unanswered;
  }
  /// A node has raised the flag.
  void answered(NodeIndex index) {
    Node& node = nodes_[index];
    if (node.unanswered > 0) --node.unanswered;
    if (node.late == 0) return;
    --node.late;
    ++doubts_;
  }
  /// The node may still execute what it was sent.
  void disconnected(NodeIndex node) {
    if (nodes_[node].unanswered > 0) ++doubts_;
    nodes_[node] = {};
  }
  [[nodiscard]] bool awaits_answers() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.unanswered > 0; });
  }
  /// The gate to be asked for the line; none if the flag is not in doubt.
  [[nodiscard]] std::optional<NodeIndex> doubtful_at() const noexcept {
    return doubts_ > 0 ? gate_ : std::nullopt;
  }
  /// The gate has told which line it has now: takes the flag down if that is another one.
  void resolve_doubt(const std::string& line, Operation& sender, Time now, Outbox& outbox) {
    if (doubts_ == 0) return;
    --doubts_;
    // By source, since another flag may be lowered next, whose name a NOSCRIPT would repeat.
    if (line != line_) lower(line_, sender, now, outbox, Form::source);
  }

 private:
  struct Node {
    Time raised_at{};  // zero: not on this connection
    std::uint32_t unanswered = 0;
    std::uint32_t late = 0;  // so many of these were sent before the client left the line
  };

  const std::string& key_;
  LineContext& context_;
  std::vector<Node> nodes_;
  std::string line_;  // its name
  std::optional<NodeIndex> gate_;
  std::uint32_t doubts_ = 0;
  std::string lowered_line_;
};

}  // namespace redlock::inline v1::core
