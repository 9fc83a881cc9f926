// Which node orders the line of a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/core/line/line_context.hpp"

namespace redlock::inline v1::core {

/// How well a node is suited to order the line of a key. All clients choose the ready node with the greatest number, so
/// those that reach the same nodes agree (rendezvous hashing: Thaler and Ravishankar, 1998).
[[nodiscard]] inline std::uint64_t suitability(std::string_view server, std::string_view key) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::string_view text : {server, std::string_view{"\n"}, key})
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return next_random(hash);  // FNV-1a alone mixes the last bytes badly
}

/// The best suited of so many nodes. `server_of(node)` names its server; a node without a name is left out.
template <class ServerOf>
[[nodiscard]] std::optional<NodeIndex> best_suited(std::size_t nodes, std::string_view key,
                                                   const ServerOf& server_of) {
  std::optional<NodeIndex> best;
  std::uint64_t greatest = 0;
  for (NodeIndex node = 0; node < nodes; ++node) {
    const auto& server = server_of(node);
    const std::uint64_t number = server.empty() ? 0 : suitability(server, key);
    if (number > greatest) best = node;
    greatest = std::max(greatest, number);
  }
  return best;
}

/// The nodes as possible gates of one line, and the commands of the line that they have not answered.
class Gates {
 public:
  struct Node {
    std::uint32_t looks = 0;
    std::uint32_t leaves = 0;
    bool is_deaf = false;  // it did not answer a look in time
    bool tested_publishing = false;
  };

  explicit Gates(std::size_t nodes) : nodes_(nodes) {}

  [[nodiscard]] Node& operator[](NodeIndex node) noexcept { return nodes_[node]; }
  [[nodiscard]] const Node& operator[](NodeIndex node) const noexcept { return nodes_[node]; }
  void try_all_again() noexcept {
    for (Node& node : nodes_) node.is_deaf = false;
  }
  [[nodiscard]] bool await_leaves() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.leaves > 0; });
  }

  /// None if too few nodes are ready for a majority: who stands in line without one keeps others waiting.
  [[nodiscard]] std::optional<NodeIndex> best(std::string_view key, const LineContext& context,
                                              Time now) const {
    std::size_t ready = 0;
    for (NodeIndex node = 0; node < nodes_.size(); ++node) ready += context.is_ready(node) ? 1 : 0;
    if (ready < quorum(nodes_.size())) return std::nullopt;
    return best_suited(nodes_.size(), key, [&](NodeIndex node) {
      const bool is_left_out = nodes_[node].is_deaf || context.is_distrusted(node, now);
      return context.is_ready(node) && !is_left_out ? context.server(node) : std::string_view{};
    });
  }

 private:
  std::vector<Node> nodes_;
};

}  // namespace redlock::inline v1::core
