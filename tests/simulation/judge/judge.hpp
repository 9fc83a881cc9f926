// What must hold of every history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/judge/history.hpp"
#include "simulation/scenario/schedule.hpp"
#include "simulation/world/stores.hpp"

namespace redlock::simulation {

enum class Rule : std::uint8_t {
  exclusion,   // no two holders at once
  honesty,     // until a lease's deadline a majority has its value
  tokens,      // no token twice, none that goes back
  fence,       // a fenced store loses no accepted write
  ownership,   // only its owner, or its end, removes or prolongs a copy
  liveness,    // when all is well again, somebody gets the lock
  quiescence,  // no copy lives longer than its ttl, and in the end nothing is left over
};
[[nodiscard]] std::string_view name_of(Rule rule);

struct Violation {
  Rule rule;
  Instant at;
  std::string text;
};

/// What one schedule came to.
struct Figures {
  std::uint64_t schedules = 0;
  std::uint64_t faults = 0;
  std::uint64_t commands = 0;
  std::uint64_t attempts = 0;
  std::uint64_t grants = 0;
  std::uint64_t second_rounds = 0;
  std::uint64_t adoptions = 0;
  std::uint64_t extensions = 0;  // that were granted
  std::uint64_t repairs = 0;
  std::uint64_t overlaps = 0;  // two holders at once, beyond the assumptions
  std::uint64_t writes_refused = 0;
  std::uint64_t writes_lost_unfenced = 0;

  void add(const Figures& other);
};

/// Keeps the books on leases, tokens and writes, and says at once when a promise is broken.
class Judge {
 public:
  /// `is_valid(client, deadline)`: whether that client's clock has not reached the deadline.
  /// `copies(resource, owner)`: nodes that have the value, those included that are down and have not lost it yet.
  struct Lookup {
    std::function<bool(int client, Instant deadline)> is_valid;
    std::function<int(int resource, std::string_view owner)> copies;
  };
  struct Lease {
    int resource;
    int client;
    std::string owner;
    std::uint64_t token;
    Instant invoked;  // when its acquisition began
    Instant begun;
    Instant deadline;  // by the client's clock
    bool over = false;
    bool told = false;  // that it is lost
    bool watched = false;
    bool repaired = false;  // copies were put back since its last extension: they do not count yet
    int deletions = 0;      // of its copies, by its release
    std::vector<bool>
        revived{};  // nodes that got their copy back when no majority of the others had one any more
  };
  using LeaseIndex = std::size_t;

  Judge(const Schedule& schedule, Lookup world);

  /// A client may touch the resource from now on.
  LeaseIndex begin(Lease lease, Instant now);
  /// `votes`: the nodes that extended it.
  void prolong(LeaseIndex index, Instant deadline, const std::vector<bool>& votes, Instant now);
  /// A copy was put back. `others`: nodes that have one, too.
  void put_back(std::string_view owner, int node, int others);
  void end(LeaseIndex index);
  /// Its client looks for others who change it.
  void watched(LeaseIndex index) { leases_[index].watched = true; }
  /// Its holder is told that it is lost.
  void told(LeaseIndex index, Instant now);
  /// A release has deleted one of its copies.
  void deleted(std::string_view owner);
  /// Its holder was told that it was in force until its release.
  void released(std::string_view owner, Instant now);
  [[nodiscard]] const Lease& lease(LeaseIndex index) const { return leases_[index]; }
  [[nodiscard]] const std::vector<Lease>& leases() const noexcept { return leases_; }

  [[nodiscard]] bool any_in_force() const;
  /// Whether a client of ours was given the lock then or later.
  [[nodiscard]] bool any_begun(int resource, Instant since) const;

  /// To be called when copies of the resource's lock may have gone, and just before a deadline.
  void audit(int resource, Instant now);

  Stores& stores(int resource) { return stores_[static_cast<std::size_t>(resource)]; }
  void judge_stores(Instant now);

  void report(Rule rule, Instant now, std::string text);
  /// The first one.
  [[nodiscard]] const std::optional<Violation>& violation() const noexcept { return violation_; }
  Figures& figures() noexcept { return figures_; }

 private:
  [[nodiscard]] bool in_force(const Lease& lease) const {
    return !lease.over && !lease.told && world_.is_valid(lease.client, lease.deadline);
  }
  [[nodiscard]] bool copies_return() const;
  [[nodiscard]] int quorum() const;
  /// The latest with this owner value; null: none.
  [[nodiscard]] Lease* find(std::string_view owner);
  void judge_exclusion(LeaseIndex index, Instant now);
  void judge_token(const Lease& lease, Instant now);

  const Schedule& schedule_;
  Lookup world_;
  std::vector<Lease> leases_;
  std::vector<Stores> stores_;
  std::optional<Violation> violation_;
  Figures figures_;
};

}  // namespace redlock::simulation
