#include "simulation/judge/judge.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "redlock/core/base/quorum.hpp"

namespace redlock::simulation {
namespace {

std::string client_name(int client) {
  return client < 0 ? "another library's client" : std::string{"client "} + static_cast<char>('A' + client);
}

}  // namespace

std::string_view name_of(Rule rule) {
  constexpr std::array<std::string_view, 17> names{
      "exclusion",  "honesty", "tokens",  "fence",   "ownership",     "liveness",
      "quiescence", "order",   "wake-up", "traffic", "delay",         "at-least",
      "seats",      "check",   "request", "watch",   "all-or-nothing"};
  return names[static_cast<std::size_t>(rule)];
}

void Figures::add(const Figures& other) {
  schedules += other.schedules;
  faults += other.faults;
  commands += other.commands;
  attempts += other.attempts;
  grants += other.grants;
  second_rounds += other.second_rounds;
  adoptions += other.adoptions;
  shared += other.shared;
  downgrades += other.downgrades;
  together += other.together;
  extensions += other.extensions;
  repairs += other.repairs;
  kept += other.kept;
  checks += other.checks;
  requests += other.requests;
  requests_heard += other.requests_heard;
  breaks += other.breaks;
  holders_told += other.holders_told;
  releases_in_callbacks += other.releases_in_callbacks;
  bypasses += other.bypasses;
  overlaps += other.overlaps;
  writes_refused += other.writes_refused;
  writes_lost_unfenced += other.writes_lost_unfenced;
  reads_torn_unfenced += other.reads_torn_unfenced;
}

Judge::Judge(const Schedule& schedule, Lookup world, bool names_seats)
    : schedule_{schedule},
      world_{std::move(world)},
      names_seats_{names_seats},
      stores_(static_cast<std::size_t>(schedule.resources)),
      lines_{schedule,
             [this](Rule rule, Instant now, std::string text) { report(rule, now, std::move(text)); }},
      watches_{schedule,
               [this](Rule rule, Instant now, std::string text) { report(rule, now, std::move(text)); }} {}

Judge::LeaseIndex Judge::begin(Lease lease, Instant now) {
  figures_.grants += lease.client >= 0 ? 1 : 0;
  figures_.shared += lease.shared ? 1 : 0;
  leases_.push_back(std::move(lease));
  const LeaseIndex index = leases_.size() - 1;
  if (!in_force(leases_[index])) report(Rule::honesty, now, "a lease was returned after its deadline");
  judge_seats(leases_[index], now);
  if (!names_seats_) return index;
  judge_exclusion(index, now);
  judge_downgrade(leases_[index], now);
  judge_delay(leases_[index], now);
  judge_at_least(leases_[index], now);
  if (schedule_.fencing && leases_[index].client >= 0) judge_token(leases_[index], now);
  audit(leases_[index].resource, now);
  return index;
}

void Judge::copied(std::string_view owner, int node) {
  watches_.copied(owner, node);
  if (Lease* const lease = find(owner)) lease->has_new_copies = true;
  for (auto& [caller, check] : checks_) {
    const Lease& lease = leases_[check.lease];
    if (lease.owner != owner) continue;
    check.has_new_copies = true;
    check.copies.set(static_cast<std::size_t>(node));
  }
}

void Judge::check_begins(Caller caller, LeaseIndex index) {
  const Lease& lease = leases_[index];
  checks_[caller] = {index, world_.copies(lease.resource, lease.owner)};
}

/// The nodes are read one after the other, so each copy counts if it was there at any time. Without new copies, those at the end were there all the time. Where nodes come back with old data, or their clocks are set
/// back, copies return unnoticed.
void Judge::check_ended(Caller caller, SequencerState said, Instant now) {
  const Check check = checks_.at(caller);
  checks_.erase(caller);
  ++figures_.checks;
  if (schedule_.profile == Profile::beyond || copies_return()) return;
  const Lease& lease = leases_[check.lease];
  if (said == SequencerState::valid && static_cast<int>(check.copies.count()) < quorum(lease.resource))
    report(Rule::check, now, "a check calls a lease valid that no majority has had meanwhile");
  if (said == SequencerState::stale && !check.has_new_copies && copies_of(lease) >= quorum(lease.resource))
    report(Rule::check, now, "a check calls a lease stale that a majority has had all the time");
}

std::optional<Judge::LeaseIndex> Judge::requested(std::string_view owner) {
  requested_.emplace(owner);
  const Lease* const lease = find(owner);
  if (!lease || !lease->hears_requests || lease->has_heard_request || !in_force(*lease)) return std::nullopt;
  return static_cast<LeaseIndex>(lease - leases_.data());
}

void Judge::told_of_request(LeaseIndex index, Instant now) {
  ++figures_.requests_heard;
  leases_[index].has_heard_request = true;
  if (!requested_.contains(leases_[index].owner))
    report(Rule::request, now, "a holder is told of a request that nobody has made to it");
}

void Judge::must_have_heard(LeaseIndex index, Instant now) {
  if (in_force(leases_[index]) && !leases_[index].has_heard_request)
    report(Rule::request, now, "a holder does not hear that it is asked for the lock");
}

void Judge::put_back(std::string_view owner, int node, int others) {
  ++figures_.repairs;
  Lease* const lease = find(owner);
  if (!lease) return;
  if (others >= quorum(lease->resource)) return;
  lease->revived.resize(static_cast<std::size_t>(schedule_.nodes));
  lease->revived[static_cast<std::size_t>(node)] = true;
}

/// Another client may have held the lock before a copy was restored. The copy counts after a majority of the other nodes has
/// extended the lease once more.
void Judge::prolong(LeaseIndex index, Instant deadline, const std::vector<bool>& votes, Instant now) {
  ++figures_.extensions;
  Lease& lease = leases_[index];
  if (lease.loss_is_reported) report(Rule::honesty, now, "a lease was extended after its loss was reported");
  std::size_t worth = 0;
  for (std::size_t node = 0; node < votes.size(); ++node)
    worth += votes[node] && (lease.revived.empty() || !lease.revived[node]) ? 1 : 0;
  if (worth < core::quorum(votes.size()))
    report(Rule::honesty, now,
           "a lost lease was extended by copies that were restored after its majority was gone");
  lease.revived.clear();
  lease.has_new_copies = false;
  lease.deadline = deadline;
  judge_seats(lease, now);
  if (names_seats_) judge_exclusion(index, now);
  audit(leases_[index].resource, now);
}

void Judge::end(LeaseIndex index, LeaseEnd how) {
  Lease& lease = leases_[index];
  lease.given_back_in_time = how == LeaseEnd::given_back && in_force(lease);
  lease.over = true;
}

void Judge::loss_reported(LeaseIndex index, Instant now) {
  Lease& lease = leases_[index];
  if (std::exchange(lease.loss_is_reported, true)) report(Rule::honesty, now, "a loss was reported twice");
  const bool is_early = world_.is_valid(lease.client, lease.deadline);
  if (is_early && !lease.has_new_copies && !copies_return() && copies_of(lease) >= quorum(lease.resource))
    report(Rule::honesty, now, "a loss was reported although a majority has the lock");
}

/// Whether nodes may come back with old data.
bool Judge::copies_return() const {
  return std::any_of(schedule_.faults.begin(), schedule_.faults.end(), restores_old_data);
}

int Judge::quorum(int resource) const {
  return static_cast<int>(core::quorum(static_cast<std::size_t>(nodes_of(resource, schedule_))));
}

Judge::Lease* Judge::find(std::string_view owner) {
  const auto lease = std::find_if(leases_.rbegin(), leases_.rend(),
                                  [owner](const Lease& candidate) { return candidate.owner == owner; });
  return lease == leases_.rend() ? nullptr : &*lease;
}

void Judge::deleted(std::string_view owner) {
  if (Lease* const lease = find(owner)) ++lease->deletions;
}

void Judge::released(std::string_view owner, Instant now) {
  const Lease* const lease = find(owner);
  if (lease && lease->deletions < quorum(lease->resource))
    report(Rule::honesty, now, "a release was reported although no majority deleted the lock");
}

bool Judge::any_begun(int line, Instant since) const {
  return std::any_of(leases_.begin(), leases_.end(), [=, this](const Lease& lease) {
    return lease.client >= 0 && line_of(lease.resource, schedule_) == line && lease.begun >= since;
  });
}

void Judge::got_together(const std::vector<LeaseIndex>& leases, Instant now) {
  std::set<int> locks;
  for (const LeaseIndex index : leases)
    if (in_force(leases_[index])) locks.insert(leases_[index].resource);
  const int asked = locks_of(schedule_);
  if (static_cast<int>(locks.size()) < asked)
    report(
        Rule::all_or_nothing, now,
        "a call for " + std::to_string(asked) + " locks returns leases of " + std::to_string(locks.size()));
}

void Judge::must_have_nothing(const std::vector<Asked>& asked, Instant now) {
  for (const auto& [resource, owner] : asked)
    if (static_cast<int>(world_.copies(resource, owner).count()) >= quorum(resource))
      return report(Rule::all_or_nothing, now,
                    "a call for several locks has returned nothing, and a majority still has one for it");
}

int Judge::in_force() const {
  return static_cast<int>(
      std::count_if(leases_.begin(), leases_.end(), [this](const Lease& lease) { return in_force(lease); }));
}

bool Judge::is_in_force(int resource) const {
  return std::any_of(leases_.begin(), leases_.end(),
                     [=, this](const Lease& lease) { return lease.resource == resource && in_force(lease); });
}

bool Judge::has_writer(int resource) const {
  return std::any_of(leases_.begin(), leases_.end(), [=, this](const Lease& lease) {
    return lease.resource == resource && !lease.shared && in_force(lease);
  });
}

/// Counts, whatever the seats are called.
void Judge::judge_seats(const Lease& lease, Instant now) {
  if (schedule_.profile == Profile::beyond || !is_seat(lease.resource, schedule_)) return;
  const auto holders = std::count_if(leases_.begin(), leases_.end(), [this](const Lease& each) {
    return is_seat(each.resource, schedule_) && may_be_used(each);
  });
  if (holders > schedule_.seats)
    report(Rule::seats, now,
           std::to_string(holders) + " clients hold a semaphore with " + std::to_string(schedule_.seats) +
               " seats");
}

void Judge::judge_exclusion(LeaseIndex index, Instant now) {
  const Lease& lease = leases_[index];
  if (!in_force(lease)) return;
  for (const Lease& other : leases_) {
    if (&other == &lease || other.resource != lease.resource || !may_be_used(other)) continue;
    if (lease.shared && other.shared) continue;
    if (schedule_.profile == Profile::within)
      return report(Rule::exclusion, now,
                    client_name(lease.client) + " and " + client_name(other.client) + " hold the lock");
    ++figures_.overlaps;
  }
}

/// No writer has the lock while the writer becomes a reader.
void Judge::judge_downgrade(const Lease& lease, Instant now) {
  if (!lease.downgraded || schedule_.profile == Profile::beyond) return;
  for (const Lease& other : leases_)
    if (other.resource == lease.resource && !other.shared && other.begun >= lease.invoked)
      report(Rule::exclusion, now,
             client_name(other.client) + " got the lock while " + client_name(lease.client) +
                 ", the writer, became a reader");
}

/// The copies of a lost lease keep others from the lock. Clocks may differ by a fiftieth.
void Judge::judge_delay(const Lease& lease, Instant now) {
  if (schedule_.lock_delay.count() == 0 || lease.adopted || people_delete_ || loses_copies(schedule_)) return;
  const Instant delay = schedule_.lock_delay.count() * millisecond * 49 / 50;
  for (const Lease& earlier : leases_) {
    if (&earlier == &lease || earlier.resource != lease.resource || earlier.client < 0) continue;
    if (earlier.shared && lease.shared) continue;
    if (!earlier.given_back_in_time && world_.is_valid(earlier.client, earlier.deadline + delay))
      return report(Rule::delay, now,
                    client_name(lease.client) + " gets the lock too soon after " +
                        client_name(earlier.client) + " has lost it");
  }
}

/// A release leaves copies that keep others from the lock. Clocks may differ by a fiftieth.
void Judge::judge_at_least(const Lease& lease, Instant now) {
  if (schedule_.at_least.count() == 0 || people_delete_ || loses_copies(schedule_)) return;
  for (Lease& earlier : leases_) {
    if (&earlier == &lease || earlier.resource != lease.resource) continue;
    earlier.handed_over |= lease.adopted;
    if (!earlier.handed_over && now < earlier.invoked + earlier.at_least.count() * millisecond * 49 / 50)
      return report(Rule::at_least, now,
                    client_name(lease.client) + " gets the lock too soon after " +
                        client_name(earlier.client) + " has got it");
  }
}

void Judge::judge_token(const Lease& lease, Instant now) {
  if (lease.token == 0) return report(Rule::tokens, now, "a lock was granted without a token");
  if (!schedule_.counters_kept) return;
  for (const Lease& earlier : leases_) {
    if (&earlier == &lease || earlier.resource != lease.resource || earlier.token == 0) continue;
    if (earlier.shared && lease.shared) continue;  // these have no order among each other
    if (earlier.token == lease.token)
      report(Rule::tokens, now, "token " + std::to_string(lease.token) + " was issued twice");
    // Within the assumptions a lease ends before the next one begins. Beyond them only leases acquired before this
    // acquisition began are earlier. The list is ordered by the begin of the leases.
    const bool is_earlier = schedule_.profile == Profile::within || earlier.begun < lease.invoked;
    if (is_earlier && earlier.token > lease.token)
      report(Rule::tokens, now,
             "token " + std::to_string(lease.token) + " was issued after " + std::to_string(earlier.token));
  }
}

void Judge::audit(int resource, Instant now) {
  if (schedule_.profile == Profile::beyond || schedule_.guarded || !names_seats_) return;
  for (const Lease& lease : leases_) {
    if (lease.resource != resource || !in_force(lease)) continue;
    const int copies = copies_of(lease);
    if (copies < quorum(resource))
      report(Rule::honesty, now,
             client_name(lease.client) + " relies on a lock that only " + std::to_string(copies) + " of " +
                 std::to_string(nodes_of(resource, schedule_)) + " nodes have");
  }
}

void Judge::judge_stores(Instant now) {
  for (const Stores& stores : stores_) {
    figures_.writes_lost_unfenced += stores.lost_unfenced;
    figures_.reads_torn_unfenced += stores.torn_unfenced;
    if (stores.torn_fenced > 0 && schedule_.counters_kept)
      report(Rule::fence, now,
             "a reader saw two versions in a fenced store " + std::to_string(stores.torn_fenced) + " times");
    if (stores.lost_fenced > 0 && schedule_.counters_kept)
      report(Rule::fence, now,
             "a fenced store lost " + std::to_string(stores.lost_fenced) + " accepted writes");
  }
}

void Judge::report(Rule rule, Instant now, std::string text) {
  if (!violation_) violation_ = Violation{rule, now, std::move(text)};
}

}  // namespace redlock::simulation
