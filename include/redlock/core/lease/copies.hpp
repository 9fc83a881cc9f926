// What a lease remembers of its copies from one extension to the next.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "redlock/core/base/quorum.hpp"

namespace redlock::inline v1::core {

/// A node that lost our copy (restarted empty, or the key was deleted) may get it back, but meanwhile others may have
/// held the lock. So the copy counts again only when a round that *began after* the node was seen to have it got its
/// majority from other nodes: these have held our value all the time, so until then nobody else had a majority.
/// Copies that the acquisition itself set count from the first, also those whose grant came late.
///
/// Shared by all extensions of a lease and its release; under the client's mutex.
class Copies {
 public:
  using Round = std::uint64_t;
  Round begin_round() noexcept { return ++round_; }
  /// A majority of copies that count was extended in that round. Others may have begun since.
  void end_round_with_majority(Round round) noexcept {
    for (Round& seen : seen_)
      if (seen < round) seen = always;
  }

  /// Whether this node's yes is one for the majority.
  [[nodiscard]] bool counts(NodeIndex node) const noexcept {
    return node >= seen_.size() || seen_[node] == always;
  }
  void missing(NodeIndex node) {
    if (node >= seen_.size()) seen_.resize(node + 1, always);
    seen_[node] = not_yet;
  }
  /// Our value was found there.
  void there(NodeIndex node) noexcept {
    if (node < seen_.size() && seen_[node] == not_yet) seen_[node] = round_;
  }
  /// It was put back, so it was missing until then, whatever was known.
  void returned(NodeIndex node) {
    missing(node);
    there(node);
  }

  /// From now on nothing is put back: a release is on its way, or the lease is lost.
  void give_up() noexcept { given_up_ = true; }
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }

 private:
  static constexpr Round always = 0;
  static constexpr Round not_yet = std::numeric_limits<Round>::max();

  std::vector<Round> seen_;  // in which round for the first time; empty as long as nothing was missing
  Round round_ = 0;
  bool given_up_ = false;
};

}  // namespace redlock::inline v1::core
