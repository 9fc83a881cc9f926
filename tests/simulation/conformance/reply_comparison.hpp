// Decides whether the simulated server answers as the real one does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/conformance/operation.hpp"
#include "simulation/server/server.hpp"

namespace redlock::simulation {

/// What the real server did with an operation, between two readings of its clock.
struct Observation {
  std::int64_t before_us = 0;
  std::int64_t after_us = 0;
  Reply reply;
  std::vector<Reply>
      scores;  // of the sorted sets in which it may have stored its time, right after the operation
  std::vector<Reply> expiries;  // of its keys, after that
};

/// The command that observes the scores of a sorted set.
[[nodiscard]] std::vector<std::string> scores_of(const std::string& key);

/// Runs the same operations on the simulated server.
///
/// The real server ran an operation at some time between two readings of its clock, which are mostly two microseconds apart.
/// The servers agree if the simulated one gives the same reply, and stores the same scores, at one of these times.
class ReplyComparison {
 public:
  /// `compares_texts`: whole error texts must be equal, as between equal versions. Otherwise only their codes, the first
  /// words.
  ReplyComparison(Server& ours, bool compares_texts) : ours_{ours}, compares_texts_{compares_texts} {}

  /// Returns what differs, or an empty string.
  std::string differs(const Operation& operation, const Observation& real);
  /// The same for what a connection received.
  [[nodiscard]] std::string differs(const std::string& what, const std::vector<Reply>& ours,
                                    const std::vector<Reply>& real) const;

 private:
  [[nodiscard]] bool same(const Reply& ours, const Reply& real) const;
  [[nodiscard]] bool is_same_text(const std::string& ours, const std::string& real) const;
  /// Of the reply to ROLE only the role is compared: a real server adds the state of its replication. The members of a set
  /// may come in any order.
  [[nodiscard]] bool same(const Operation& operation, const Reply& ours, const Reply& real) const;
  std::string differing_expiry(const std::string& key, const Observation& real, const Reply& expiry);
  Reply execute(const std::vector<std::string>& words, std::int64_t now_us);
  bool stores_same_times(const Operation& operation, const Observation& real);

  Server& ours_;
  bool compares_texts_;
};

}  // namespace redlock::simulation
