// Checks what must hold for those who wait in line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "simulation/judge/rule.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// Knows which calls stand in line, and when faults may have disturbed the lines. A fault excuses what happens until a time
/// that depends on its kind; after that everything must be as if there had been none.
class LineJudge {
 public:
  using Report = std::function<void(Rule, Instant now, std::string text)>;

  LineJudge(const Schedule& schedule, Report report);

  // ── faults ─────────────────────────────────────────────────────────────────────────────────────────────────

  /// Called at the begin of a fault and at its end.
  void disturbed(const Fault& fault, Instant now);
  /// The client makes its first connections.
  void client_began(Instant now);

  // ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────

  /// A thread of a client.
  using Caller = std::pair<int, int>;
  /// `flag_stands`: on so many nodes that no newcomer gets a majority.
  void called(Caller caller, int resource, bool flag_stands, Instant now, bool is_readers = false);
  /// The call stands in line from now on, or does not any more.
  void stands(Caller caller, bool stands, Instant now);
  /// Likewise, a call for all locks. It stands in the first of their lines, and maybe in others.
  void called_for_all(Caller caller, bool flag_stands, Instant now);
  void stands_for_all(Caller caller, bool stands, Instant now);
  /// A node has put the client into the line.
  void enqueued(int client, int resource, int node, Instant now);
  /// This client is the first one in the line of this node.
  void is_first(int client, int resource, int node, Instant now);
  /// Nobody is left in the line of this node.
  void emptied(int resource, int node, Instant now);
  /// The node tells the client that the order of its line has changed.
  void told(int client, int resource, int node, Instant now);
  /// The call, which stands in line, makes an attempt.
  void asks(Caller caller, Instant now);
  void granted(Caller caller, Instant now);
  /// A call has got all locks.
  void granted_together(Caller caller, Instant now);
  void ended(Caller caller);
  void died(int client);

  // ── the state of a lock ────────────────────────────────────────────────────────────────────────────────────

  /// Whether somebody for whom this is true stands in this line, or in several.
  template <class Can>
  [[nodiscard]] bool any_standing(int line, const Can& can) const {
    return any_joint(can) || std::ranges::any_of(calls_, [&](const auto& each) {
             return each.second.stands && each.second.resource == line && can(each.first.first);
           });
  }
  /// Whether a call for one lock in this line could have it now, and is not kept from it by a first one that could not. A first
  /// one may not be able to until all have redialled the nodes that they reach.
  template <class Can>
  [[nodiscard]] bool any_able(int line, const Can& can, Instant now) const {
    return std::ranges::any_of(calls_, [&](const auto& each) {
      return each.second.resource == line && is_able(each.first.first, each.second, can, now);
    });
  }
  /// Likewise, of those who stand in line for several locks.
  template <class Can>
  [[nodiscard]] bool any_able_joint(const Can& can, Instant now) const {
    return std::ranges::any_of(
        joint_calls_, [&](const auto& each) { return is_able(each.first.first, each.second, can, now); });
  }
  /// Whether somebody for whom this is true stands in line for several locks.
  template <class Can>
  [[nodiscard]] bool any_joint(const Can& can) const {
    return std::ranges::any_of(joint_calls_,
                               [&](const auto& each) { return each.second.stands && can(each.first.first); });
  }
  /// To be called often, for the lock or for each seat. `is_idle`: it is free, and somebody in line could take it. Not while calls
  /// for several locks stand in line: those that wait for one lock let the others lie idle.
  void look_at(int resource, bool is_idle, Instant now);
  /// The client that is the first one in this line for readers alone, if this is true for it.
  [[nodiscard]] std::optional<int> first_readers(int resource, const std::function<bool(int)>& can) const;
  /// Likewise, for a lock that no writer has. `client`: the first one in line, for readers who could have the lock now. Not
  /// while calls for several locks stand in line.
  void look_at_readers(int resource, std::optional<int> client, Instant now);
  /// Likewise, for all locks together. `are_idle`: all are free, and a call for all could take them.
  void look_at_all(bool are_idle, Instant now);
  /// Likewise, for the first line. `is_left`: the flag is up although nobody stands in line. `is_up`: the flag keeps newcomers from a
  /// majority.
  void look(bool is_left, bool is_up, Instant now);

  /// At the end. `changes`: what changes a lock's key or its readers while it is held, and when it is released with a minimum
  /// time. The first one in line may ask in vain after each of them, and so may the next one if it gives up.
  void judge_attempts(std::uint64_t changes, Instant now);

  /// Before this time a client may not have redialled a node that it reaches again.
  [[nodiscard]] Instant redialled_at() const noexcept { return redialled_at_; }
  [[nodiscard]] std::uint64_t bypasses() const noexcept { return bypasses_; }

 private:
  struct Call {
    int resource;
    Instant called;
    bool flag_stood;  // when it was called
    bool is_readers;
    bool stands = false;
    Instant stands_since = 0;
    Instant enqueued = 0;  // 0: not yet
    int gate = -1;
    bool is_granted = false;
  };
  struct First {
    int client = -1;
    Instant since = 0;
    int before = -1;         // who was the first one until the last change,
    Instant changed_at = 0;  // which may have left nobody there
  };
  /// The first one in line, for readers who could have the lock.
  struct FirstReaders {
    std::optional<int> client;
    Instant since = 0;  // with the same calls, and without a grant
  };
  [[nodiscard]] Instant soon() const;
  using Calls = std::map<Caller, Call>;
  /// Whether a call has stood in the first line for so long that the first one has raised the flag.
  [[nodiscard]] bool any_settled(Instant now) const;
  [[nodiscard]] bool is_bypassed(const Call& earlier, const Call& granted) const;
  /// The gate of a call that has just joined is not known, so the first one of any line may be before it.
  template <class Can>
  [[nodiscard]] bool is_able(int client, const Call& call, const Can& can, Instant now) const {
    if (!call.stands || !can(client)) return false;
    const auto keeps_it_waiting = [&](const auto& each) {
      const Call& other = each.second;
      return other.stands && other.resource == call.resource && other.gate >= 0 &&
             (call.gate < 0 || call.gate == other.gate) && !can(each.first.first) &&
             first_.at({other.resource, other.gate}).client == each.first.first;
    };
    return now >= redialled_at_ || (std::ranges::none_of(calls_, keeps_it_waiting) &&
                                    std::ranges::none_of(joint_calls_, keeps_it_waiting));
  }
  void stand(Caller caller, Call& call, bool stands, Instant now);
  void judge_order(const Call& granted, Instant now);

  const Schedule& schedule_;
  Report report_;
  const Instant there_;       // the longest way of a message
  const bool only_cripples_;  // all faults keep clients from nodes that do not order the line
  Calls calls_;
  Calls joint_calls_;                           // for all locks; they have the first of their lines
  std::map<std::pair<int, int>, First> first_;  // by resource and node
  Instant wake_up_excused_until_ = 0;
  Instant redialled_at_ = 0;
  Instant order_excused_until_ = 0;
  Instant told_excused_until_ = 0;
  Instant flag_excused_until_ = 0;
  std::map<int, Instant> crippled_until_;
  std::set<int> died_;                  // their successors have other names in lines
  std::map<int, Instant> paused_;       // until when this client may not have redialled nodes after a pause
  Instant away_ = 0;                    // the length of all faults that end connections
  Instant longest_pause_ = 0;           // before a client redials a node after them
  Instant silent_until_ = 0;            // somebody who died or was paused may stand in line
  std::optional<Instant> silenced_at_;  // when that began or ended last
  Instant silences_end_ = 0;            // the end of the last pause
  Instant unheard_until_ = 0;           // a node may not publish
  Instant all_busy_at_ = 0;             // when any lock was not idle
  std::array<Instant, most_resources> busy_at_{};  // when the lock, or the seat, was not idle
  std::array<FirstReaders, most_resources> first_readers_;
  Instant guarded_at_ = 0;      // when the flag was up, or nobody needed it
  Instant in_order_at_ = 0;     // when no flag was left
  std::uint64_t attempts_ = 0;  // by calls in line
  std::uint64_t grants_ = 0;    // to calls in line
  std::uint64_t gave_up_ = 0;   // calls that left a line as the first one, without a grant
  std::uint64_t bypasses_ = 0;
};

}  // namespace redlock::simulation
