// Which nodes' copies of a lease count towards the majority of an extension.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "redlock/core/base/quorum.hpp"

namespace redlock::inline v1::core {

/// A node that lost our copy (it restarted empty, or the key was deleted) may get the copy back, but another client may
/// have held the lock in the meantime. So the copy counts again only after a round that *began after* the node was seen
/// to have it has got its majority from other nodes. These nodes have held our value all the time, so no other client
/// can have had a majority until then. Copies that the acquisition itself set count from the beginning, even if the
/// grant arrived late.
///
/// Shared by all extensions of a lease and its release. Guarded by the client's mutex.
class Copies {
 public:
  using Round = std::uint64_t;
  Round begin_round() noexcept { return ++round_; }
  /// This round has extended a majority of copies that count. Later rounds may have begun already.
  void end_round_with_majority(Round round) noexcept {
    for (Round& seen : seen_)
      if (seen < round) seen = always;
  }

  /// Returns true if this node's yes counts towards the majority.
  [[nodiscard]] bool counts(NodeIndex node) const noexcept {
    return node >= seen_.size() || seen_[node] == always;
  }
  /// Our value was not found there.
  void missing(NodeIndex node) {
    if (node >= seen_.size()) seen_.resize(node + 1, always);
    seen_[node] = not_yet;
  }
  /// Our value was found there.
  void there(NodeIndex node) noexcept {
    if (node < seen_.size() && seen_[node] == not_yet) seen_[node] = round_;
  }
  /// The copy was put back, so it was missing before, even if that was not known.
  void returned(NodeIndex node) {
    missing(node);
    there(node);
  }

  /// Stops putting copies back: releases are being sent.
  void give_up() noexcept { given_up_ = true; }
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }

 private:
  static constexpr Round always = 0;
  static constexpr Round not_yet = std::numeric_limits<Round>::max();

  std::vector<Round> seen_;  // by node: when the copy was first seen; empty until a copy is missing
  Round round_ = 0;
  bool given_up_ = false;
};

}  // namespace redlock::inline v1::core
