// How the granting nodes agree on a fencing token.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/operation/tally.hpp"

namespace redlock::inline v1::core {

/// The greatest counter among the first majority of grants becomes the *token*. Nodes whose counter equals the token
/// have acknowledged it; the others are asked to raise their counters. The lock is granted when a majority has
/// acknowledged the token. Any two such majorities share a node, and on that node the later grant is greater than the
/// earlier token. So tokens increase without relying on any clock (docs/fencing.md).
///
/// A node refuses a token that is too far ahead of its clock, and keeps its counter. If that makes a majority impossible,
/// the nodes that have the token are left out, and the others agree on a smaller one.
class TokenAgreement {
 public:
  explicit TokenAgreement(std::size_t nodes) : granted_(nodes) {}

  /// What a grant is worth. Once the token is settled, a greater counter is useless: raising the token would invalidate
  /// the existing acknowledgements.
  enum class Grant : std::uint8_t { counts, to_be_confirmed, in_vain };
  Grant add(NodeIndex node, std::uint64_t counter) {
    granted_[node] = counter;
    if (!settled() || counter == token_) return Grant::counts;
    return counter < token_ ? Grant::to_be_confirmed : Grant::in_vain;
  }

  /// Settles the token. Precondition: a majority of the tally is yes. Returns the nodes that have not acknowledged the
  /// token. From then on, a yes means that the node has acknowledged it.
  std::vector<NodeIndex> settle(const Tally& tally) {
    std::vector<NodeIndex> behind;
    for (NodeIndex node = 0; node < tally.nodes(); ++node)
      if (tally.is(node, Tally::Mark::yes)) token_ = std::max(token_, granted_[node]);
    for (NodeIndex node = 0; node < tally.nodes(); ++node)
      if (tally.is(node, Tally::Mark::yes) && granted_[node] < token_) behind.push_back(node);
    return behind;
  }

  /// The node refuses the token; its counter is still what it granted.
  void refuse(NodeIndex node) noexcept { refused_ |= set_of(node); }
  /// The connection to the node was lost, and with it its grant.
  void lose(NodeIndex node) noexcept { refused_ &= ~set_of(node); }
  /// The node refused the last token and can acknowledge a smaller one.
  [[nodiscard]] bool refuses(NodeIndex node) const noexcept { return (refused_ & set_of(node)) != 0; }
  [[nodiscard]] std::size_t refusals() const noexcept {
    return static_cast<std::size_t>(std::popcount(refused_));
  }
  /// Gives up the token. The nodes that refused it may take part in settling another one; those that have it must not.
  void unsettle() noexcept {
    token_ = 0;
    refused_ = 0;
  }

  [[nodiscard]] bool settled() const noexcept { return token_ != 0; }
  [[nodiscard]] std::uint64_t token() const noexcept { return token_; }
  [[nodiscard]] std::uint64_t granted(NodeIndex node) const noexcept { return granted_[node]; }

 private:
  std::vector<std::uint64_t> granted_;  // counters; 0 where nothing was granted
  NodeSet refused_ = 0;                 // the nodes that refuse the token
  std::uint64_t token_ = 0;             // 0 until it is settled
};

}  // namespace redlock::inline v1::core
