// The flag that keeps newcomers behind those who stand in line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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
/// it, who have taken the flag down by then. Such a raise is late: its sender has to find out whether anybody stands there.
class LineFlag {
 public:
  enum : Step { raised, lowered, steps };

  LineFlag(const std::string& key, std::size_t nodes, LineContext& context)
      : key_{key}, context_{context}, nodes_(nodes) {}

  /// Names the line whose flag is raised from now on.
  void belongs_to(const std::string& line) {
    if (line_ != line)
      for (Node& node : nodes_) node.raised_at = {};
    line_ = line;
  }
  [[nodiscard]] const std::string& line() const noexcept { return line_; }

  /// Raises the flag, or prolongs its life. It outlives a head that died, so that the next one keeps it up.
  void raise(NodeIndex index, Operation& sender, Time now, Outbox& outbox) {
    const LineTimes& times = context_.times();
    Node& node = nodes_[index];
    if (node.raised_at != Time{} && now - node.raised_at < times.life / 5) return;
    node.raised_at = now;
    const std::string life = std::to_string(times.flag_life().count());
    if (!outbox.send(index, command({"SET", key_, line_, "PX", life}), sender, {.step = raised}))
      ++node.unanswered;
  }
  /// Takes down the flag of the line with this name.
  void lower(const std::string& line, Operation& sender, Time now, Outbox& outbox) {
    lowered_line_ = line;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      outbox.send(node, lower_command(Form::digest), sender, kept(lowered, now));
  }
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
  /// A node has raised the flag. Returns true if the client has left the line since it sent the command.
  [[nodiscard]] bool answered(NodeIndex index) {
    Node& node = nodes_[index];
    if (node.unanswered > 0) --node.unanswered;
    return node.late > 0 && node.late-- > 0;
  }
  [[nodiscard]] bool awaits_answers() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.unanswered > 0; });
  }
  void disconnected(NodeIndex node) { nodes_[node] = {}; }

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
  std::string lowered_line_;
};

}  // namespace redlock::inline v1::core
