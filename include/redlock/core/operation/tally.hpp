// The votes of all nodes on one operation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/core/wire/vote.hpp"

namespace redlock::inline v1::core {

/// The vote of every node so far, and what follows from these votes whatever the remaining nodes answer.
class Tally {
 public:
  enum class Mark : std::uint8_t { pending, yes, no, unknown };
  struct Ballot {
    Mark mark = Mark::pending;
    Trouble trouble;                       // for unknown; for no, if there is more to say about it
    std::optional<std::string> owner;      // if the operation asks for it
    std::optional<Span> ttl;               // if the operation asks for it
    std::optional<std::uint64_t> counter;  // if the operation asks for it
  };

  explicit Tally(std::size_t nodes) : ballots_(nodes) { counts_[index(Mark::pending)] = nodes; }

  /// Replaces an earlier mark: a vote may become unknown when the node's connection is lost.
  void mark(NodeIndex node, Mark mark) {
    Ballot& ballot = ballots_[node];
    --counts_[index(ballot.mark)];
    ++counts_[index(mark)];
    // A pending vote has no trouble to clear. Nearly every mark replaces one, so this saves time.
    if (ballot.mark != Mark::pending) ballot.trouble = {};
    ballot.mark = mark;
  }
  void mark(NodeIndex node, Mark mark, Trouble trouble) {
    this->mark(node, mark);
    ballots_[node].trouble = std::move(trouble);
  }
  void mark(NodeIndex node, Vote vote) {
    if (vote.kind == Vote::Kind::unknown) return mark(node, Mark::unknown, std::move(vote.trouble));
    mark(node, vote.kind == Vote::Kind::yes ? Mark::yes : Mark::no);
    if (!vote.trouble.message.empty()) ballots_[node].trouble = std::move(vote.trouble);
  }
  /// Marks all nodes that have not answered as unknown.
  void close(const Trouble& trouble) {
    for (NodeIndex node = 0; node < nodes(); ++node)
      if (is(node, Mark::pending)) mark(node, Mark::unknown, trouble);
  }

  [[nodiscard]] std::size_t nodes() const noexcept { return ballots_.size(); }
  [[nodiscard]] bool is(NodeIndex node, Mark mark) const noexcept { return ballots_[node].mark == mark; }
  [[nodiscard]] std::size_t count(Mark mark) const noexcept { return counts_[index(mark)]; }
  [[nodiscard]] std::size_t votes() const noexcept { return count(Mark::yes) + count(Mark::no); }

  /// A majority has this mark.
  [[nodiscard]] bool majority(Mark mark) const noexcept { return count(mark) >= quorum(nodes()); }
  /// A majority has this mark or may still get it.
  [[nodiscard]] bool majority_possible(Mark mark) const noexcept {
    return count(mark) + count(Mark::pending) >= quorum(nodes());
  }
  /// So many nodes have this mark that no majority can get another one.
  [[nodiscard]] bool prevents_majority(Mark mark) const noexcept { return count(mark) > tolerated(nodes()); }

  /// The owner value, which may be empty (no owner), that a majority named when it said no. Null if there is none.
  [[nodiscard]] const std::string* owner_of_majority() const {
    for (const Ballot& one : ballots_) {
      const auto names_the_same = [&one](const Ballot& other) {
        return other.mark == Mark::no && other.owner == one.owner;
      };
      const auto count = std::count_if(ballots_.begin(), ballots_.end(), names_the_same);
      if (one.owner && static_cast<std::size_t>(count) >= quorum(nodes())) return &*one.owner;
    }
    return nullptr;
  }
  [[nodiscard]] bool majority_has_one_owner() const { return owner_of_majority() != nullptr; }

  [[nodiscard]] std::size_t misconfigured() const noexcept {
    std::size_t sum = 0;
    for (const Ballot& ballot : ballots_)
      sum += ballot.mark == Mark::unknown && is_misconfiguration(ballot.trouble.status) ? 1 : 0;
    return sum;
  }
  /// A retry cannot help: a majority is misconfigured, or so many nodes are further names of other nodes' servers that
  /// there are too few servers for a majority.
  [[nodiscard]] bool is_hopeless() const noexcept {
    if (count(Mark::unknown) == 0) return false;
    const auto is_further_name = [](const Ballot& ballot) {
      return ballot.mark == Mark::unknown && ballot.trouble.status == NodeStatus::same_node;
    };
    const auto further_names = std::count_if(ballots_.begin(), ballots_.end(), is_further_name);
    return static_cast<std::size_t>(further_names) > tolerated(nodes()) || misconfigured() >= quorum(nodes());
  }

  /// If so many nodes vote, or have said when they vote again, that they are a majority: when a majority votes, at the
  /// earliest.
  [[nodiscard]] std::optional<Span> majority_votes_in() const {
    std::vector<Span> times;
    for (const Ballot& ballot : ballots_) {
      if (ballot.mark == Mark::yes || ballot.mark == Mark::no) times.push_back(Span::zero());
      if (ballot.mark == Mark::unknown && ballot.trouble.votes_in) times.push_back(*ballot.trouble.votes_in);
    }
    return smallest(times, quorum(nodes()));
  }

  [[nodiscard]] Ballot& operator[](NodeIndex node) noexcept { return ballots_[node]; }
  [[nodiscard]] const Ballot& operator[](NodeIndex node) const noexcept { return ballots_[node]; }

 private:
  static constexpr std::size_t index(Mark mark) noexcept { return static_cast<std::size_t>(mark); }

  std::vector<Ballot> ballots_;
  std::size_t counts_[4] = {};
};

}  // namespace redlock::inline v1::core
