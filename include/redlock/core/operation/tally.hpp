// The votes of one fan-out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/core/wire/vote.hpp"
#include "redlock/fencing_token.hpp"

namespace redlock::inline v1::core {

/// What every node has said so far, and what follows from it under any answer of the others.
class Tally {
 public:
  enum class Mark : std::uint8_t { pending, yes, no, unknown };
  struct Ballot {
    Mark mark = Mark::pending;
    Trouble trouble;                               // of an unknown; of a no, where there is more to say
    std::optional<std::string> owner;              // where it was asked for
    std::optional<std::chrono::milliseconds> ttl;  // likewise
    std::optional<FencingToken> counter;           // likewise
  };

  explicit Tally(std::size_t nodes) : ballots_(nodes) { counts_[index(Mark::pending)] = nodes; }

  /// The latest word counts: a vote may become unknown when its connection is lost.
  void mark(NodeIndex node, Mark mark, Trouble trouble = {}) {
    Ballot& ballot = ballots_[node];
    --counts_[index(ballot.mark)];
    ++counts_[index(mark)];
    ballot.mark = mark;
    ballot.trouble = std::move(trouble);
  }
  void mark(NodeIndex node, Vote vote) {
    constexpr Mark marks[] = {Mark::yes, Mark::no, Mark::unknown};
    mark(node, marks[static_cast<std::size_t>(vote.kind)], std::move(vote.trouble));
  }
  /// Gives up on those who have not answered.
  void close(const Trouble& trouble) {
    for (NodeIndex node = 0; node < nodes(); ++node)
      if (is(node, Mark::pending)) mark(node, Mark::unknown, trouble);
  }

  [[nodiscard]] std::size_t nodes() const noexcept { return ballots_.size(); }
  [[nodiscard]] bool is(NodeIndex node, Mark mark) const noexcept { return ballots_[node].mark == mark; }
  [[nodiscard]] std::size_t count(Mark mark) const noexcept { return counts_[index(mark)]; }
  [[nodiscard]] std::size_t votes() const noexcept { return count(Mark::yes) + count(Mark::no); }

  /// A majority said so.
  [[nodiscard]] bool majority(Mark mark) const noexcept { return count(mark) >= quorum(nodes()); }
  /// A majority may still say so.
  [[nodiscard]] bool majority_possible(Mark mark) const noexcept {
    return count(mark) + count(Mark::pending) >= quorum(nodes());
  }
  /// So many said so that no majority can say anything else.
  [[nodiscard]] bool prevents_majority(Mark mark) const noexcept { return count(mark) > tolerated(nodes()); }

  /// A majority said no, and named the same owner, or nobody.
  [[nodiscard]] bool majority_has_one_owner() const {
    return std::any_of(ballots_.begin(), ballots_.end(), [this](const Ballot& one) {
      const auto names_the_same = [&one](const Ballot& other) {
        return other.mark == Mark::no && other.owner == one.owner;
      };
      return one.owner && static_cast<std::size_t>(std::count_if(ballots_.begin(), ballots_.end(),
                                                                 names_the_same)) >= quorum(nodes());
    });
  }

  [[nodiscard]] std::size_t misconfigured() const noexcept {
    std::size_t sum = 0;
    for (const Ballot& ballot : ballots_)
      sum += ballot.mark == Mark::unknown && is_misconfiguration(ballot.trouble.status) ? 1 : 0;
    return sum;
  }
  /// No retry helps: a majority is misconfigured, or one server stands in the list twice, so that the
  /// majority is not one.
  [[nodiscard]] bool is_hopeless() const noexcept {
    if (count(Mark::unknown) == 0) return false;
    for (const Ballot& ballot : ballots_)
      if (ballot.mark == Mark::unknown && ballot.trouble.status == NodeStatus::same_node) return true;
    return misconfigured() >= quorum(nodes());
  }

  [[nodiscard]] Ballot& operator[](NodeIndex node) noexcept { return ballots_[node]; }
  [[nodiscard]] const Ballot& operator[](NodeIndex node) const noexcept { return ballots_[node]; }

 private:
  static constexpr std::size_t index(Mark mark) noexcept { return static_cast<std::size_t>(mark); }

  std::vector<Ballot> ballots_;
  std::size_t counts_[4] = {};
};

}  // namespace redlock::inline v1::core
