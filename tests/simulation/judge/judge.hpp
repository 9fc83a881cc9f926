// Checks the rules that must hold in every history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/status.hpp"
#include "simulation/judge/history.hpp"
#include "simulation/judge/line_judge.hpp"
#include "simulation/judge/rule.hpp"
#include "simulation/judge/stores.hpp"
#include "simulation/judge/watch_judge.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// Counters of one or more schedules.
struct Figures {
  std::uint64_t schedules = 0;
  std::uint64_t faults = 0;
  std::uint64_t commands = 0;
  std::uint64_t attempts = 0;
  std::uint64_t grants = 0;
  std::uint64_t second_rounds = 0;
  std::uint64_t adoptions = 0;
  std::uint64_t shared = 0;  // grants to readers
  std::uint64_t downgrades = 0;
  std::uint64_t together = 0;    // grants of all locks to one call
  std::uint64_t extensions = 0;  // granted ones
  std::uint64_t repairs = 0;
  std::uint64_t checks = 0;
  std::uint64_t requests = 0;  // that found a holder
  std::uint64_t requests_heard = 0;
  std::uint64_t breaks = 0;        // that deleted a copy
  std::uint64_t holders_told = 0;  // to clients that watch a lock
  std::uint64_t kept = 0;          // releases that leave the lock to nobody for a while
  std::uint64_t releases_in_callbacks = 0;
  std::uint64_t bypasses = 0;  // a call was served before one that stood in line when it began
  std::uint64_t overlaps = 0;  // two holders at once, beyond the assumptions
  std::uint64_t writes_refused = 0;
  std::uint64_t writes_lost_unfenced = 0;
  std::uint64_t reads_torn_unfenced = 0;

  void add(const Figures& other);
};

/// How a lease ends that is not reported as lost: its holder gives the lock back or leaves it to others, or dies.
enum class LeaseEnd : bool { given_back, death };

/// Records leases, tokens and writes, and reports the first broken promise at once.
class Judge {
 public:
  /// `is_valid(client, deadline)`: whether the client's clock is still before the deadline.
  /// `copies(resource, owner)`: the nodes that have the value, including nodes that are down and have not lost it.
  struct Lookup {
    std::function<bool(int client, Instant deadline)> is_valid;
    std::function<NodeSet(int resource, std::string_view owner)> copies;
  };
  struct Lease {
    int resource;
    int client;
    std::string owner;
    std::uint64_t token;
    Instant invoked;  // when its acquisition began
    Instant begun;
    Instant deadline;  // by the client's clock
    std::chrono::milliseconds
        at_least{};  // from the begin of the acquisition, nobody else is to get the lock
    bool adopted = false;
    bool shared = false;       // a reader's
    bool downgraded = false;   // the reader was the writer when its attempt began
    bool handed_over = false;  // another one has adopted the lock
    bool over = false;
    bool given_back_in_time = false;
    bool loss_is_reported = false;
    bool watched = false;
    bool hears_requests = false;
    bool has_heard_request = false;
    bool has_new_copies =
        false;          // since it began, or since the last extension: its holder may not know of them
    int deletions = 0;  // number of copies deleted by the release
    std::vector<bool> revived{};  // nodes whose copy was restored when no majority of the others had one
  };
  using LeaseIndex = std::size_t;

  /// `names_seats`: holders of the semaphore know their seats. Otherwise they are only counted.
  Judge(const Schedule& schedule, Lookup world, bool names_seats = true);

  /// A client may access the resource from now on.
  LeaseIndex begin(Lease lease, Instant now);
  /// `votes`: the nodes that extended the lease.
  void prolong(LeaseIndex index, Instant deadline, const std::vector<bool>& votes, Instant now);
  /// A node has got a copy. The lease may not have begun yet.
  void copied(std::string_view owner, int node);
  /// That copy was restored. `others`: number of other nodes that have one.
  void put_back(std::string_view owner, int node, int others);
  void end(LeaseIndex index, LeaseEnd how);
  /// People delete locks on all nodes, which ends delays and minimum times.
  void deleted_by_people() noexcept { people_delete_ = true; }
  /// A lock lives longer than what any of its readers has. People may have deleted the longest.
  void outlives_readers(Instant now) {
    if (!people_delete_) report(Rule::quiescence, now, "a lock outlives its readers");
  }
  /// The client watches the lease for changes by others.
  void watched(LeaseIndex index) { leases_[index].watched = true; }
  /// The loss was reported to the holder.
  void loss_reported(LeaseIndex index, Instant now);
  /// A release has deleted one copy of the lease.
  void deleted(std::string_view owner);
  /// The copies of a lost lease stay until they expire, if its lock has a delay.
  [[nodiscard]] bool is_kept(std::string_view owner) {
    const Lease* const lease = find(owner);
    return schedule_.lock_delay.count() > 0 && lease && !lease->given_back_in_time;
  }
  /// A release reported that the lease was still held.
  void released(std::string_view owner, Instant now);
  /// A thread of a client asks whether this lease is held, until `check_ended`.
  using Caller = std::pair<int, int>;
  void check_begins(Caller caller, LeaseIndex lease);
  void check_ended(Caller caller, SequencerState said, Instant now);
  /// The holder has to hear of requests from now on.
  void hears_requests(LeaseIndex lease) { leases_[lease].hears_requests = true; }
  /// A node executes a request to this holder. Returns its lease if it has to hear of it.
  std::optional<LeaseIndex> requested(std::string_view owner);
  void told_of_request(LeaseIndex lease, Instant now);
  void must_have_heard(LeaseIndex lease, Instant now);
  [[nodiscard]] const Lease& lease(LeaseIndex index) const { return leases_[index]; }
  [[nodiscard]] const std::vector<Lease>& leases() const noexcept { return leases_; }

  /// A lock for which a call has asked, with the owner value of the attempt.
  using Asked = std::pair<int, std::string>;
  /// A call for all locks has returned these leases.
  void got_together(const std::vector<LeaseIndex>& leases, Instant now);
  /// A call for all locks has returned nothing, so long ago that the nodes have executed all that it sent.
  void must_have_nothing(const std::vector<Asked>& asked, Instant now);

  /// How many leases are in force, in all or of this resource.
  [[nodiscard]] int in_force() const;
  [[nodiscard]] bool is_in_force(int resource) const;
  /// Whether a lease that is in force is not a reader's.
  [[nodiscard]] bool has_writer(int resource) const;
  /// Whether a client with this library got the lock, or any seat, at or after `since`.
  [[nodiscard]] bool any_begun(int line, Instant since) const;

  /// To be called when copies of the lock may have disappeared, and just before a deadline.
  void audit(int resource, Instant now);

  LineJudge& lines() noexcept { return lines_; }
  [[nodiscard]] const LineJudge& lines() const noexcept { return lines_; }
  WatchJudge& watches() noexcept { return watches_; }
  Stores& stores(int resource) { return stores_[static_cast<std::size_t>(resource)]; }
  void judge_stores(Instant now);

  void report(Rule rule, Instant now, std::string text);
  /// The first violation.
  [[nodiscard]] const std::optional<Violation>& violation() const noexcept { return violation_; }
  Figures& figures() noexcept { return figures_; }

 private:
  struct Check {
    LeaseIndex lease;
    NodeSet copies{};  // that the lease has had, each at some time
    bool has_new_copies = false;
  };
  [[nodiscard]] bool in_force(const Lease& lease) const {
    return !lease.loss_is_reported && may_be_used(lease);
  }
  /// Its holder may work with the lock: it may not have heard yet that the loss was reported.
  [[nodiscard]] bool may_be_used(const Lease& lease) const {
    return !lease.over && world_.is_valid(lease.client, lease.deadline);
  }
  [[nodiscard]] bool copies_return() const;
  [[nodiscard]] int quorum(int resource) const;
  /// How many nodes have the lease's value.
  [[nodiscard]] int copies_of(const Lease& lease) const {
    return static_cast<int>(world_.copies(lease.resource, lease.owner).count());
  }
  /// The latest lease with this owner value, or null.
  [[nodiscard]] Lease* find(std::string_view owner);
  void judge_seats(const Lease& lease, Instant now);
  void judge_exclusion(LeaseIndex index, Instant now);
  void judge_downgrade(const Lease& lease, Instant now);
  void judge_delay(const Lease& lease, Instant now);
  void judge_at_least(const Lease& lease, Instant now);
  void judge_token(const Lease& lease, Instant now);

  const Schedule& schedule_;
  Lookup world_;
  const bool names_seats_;
  std::vector<Lease> leases_;
  std::map<Caller, Check> checks_;
  std::set<std::string, std::less<>> requested_;  // owner values of holders whom somebody has asked
  std::vector<Stores> stores_;
  bool people_delete_ = false;
  LineJudge lines_;
  WatchJudge watches_;
  std::optional<Violation> violation_;
  Figures figures_;
};

}  // namespace redlock::simulation
