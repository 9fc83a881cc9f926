// Whether the simulated server answers as the real one does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/conformance/operation.hpp"
#include "simulation/server/server.hpp"

namespace redlock::simulation {

/// An operation as the real server did it, between two readings of its clock.
struct Observation {
  std::int64_t before_us = 0;
  std::int64_t after_us = 0;
  Reply reply;
  std::vector<Reply> expiries;  // of the operation's keys, right after it
};

/// Has the simulated server do the same.
///
/// When the real one did it is known to lie between two readings of its clock, mostly two microseconds apart, and nothing
/// else: it is equal when there is such a moment at which the reply is the same.
class Judge {
 public:
  /// `texts`: errors are the same to the last letter, as between equal versions; otherwise their codes are, the first
  /// words.
  Judge(Server& ours, bool texts) : ours_{ours}, texts_{texts} {}

  /// Empty: they are the same. Otherwise what differs.
  std::string differs(const Operation& operation, const Observation& real);

 private:
  [[nodiscard]] bool same(const Reply& ours, const Reply& real) const;
  /// Of ROLE the role alone: a real server tells of its replication, too.
  [[nodiscard]] bool same(const Operation& operation, const Reply& ours, const Reply& real) const;
  std::string differing_expiry(const std::string& key, const Observation& real, const Reply& expiry);
  Reply execute(const std::vector<std::string>& words, std::int64_t now_us);

  Server& ours_;
  bool texts_;
};

}  // namespace redlock::simulation
