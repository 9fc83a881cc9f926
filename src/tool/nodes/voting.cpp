#include "tool/nodes/voting.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/table.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_probes{200};
constexpr std::chrono::seconds probe_ttl{2};
/// How long all nodes must have voted. Other clients redial a node that was down after a second at most, and may be
/// connecting to it for half a second before; until then it is still missing for them.
constexpr std::chrono::seconds settling_time{2};

/// Takes a lock and looks which nodes granted it.
std::vector<Vote> try_once(Redlock& locks, const std::string& resource, const LockOptions& options) {
  LockResult lease = locks.try_lock(resource, options);
  if (lease.code() == Errc::misconfigured || lease.code() == Errc::invalid_argument)
    static_cast<void>(lease.value());  // throws
  std::vector<Vote> votes;
  for (NodeReport& report : locks.inspect(resource)) {
    const bool is_given = lease && report.owner == lease->owner_value();
    votes.push_back({std::move(report), is_given});
  }
  return votes;
}

std::string state_of_vote(const Vote& vote) {
  if (vote.is_given) return "votes";
  return has_voted(vote.report) ? "does not vote yet" : std::string{to_string(vote.report.status)};
}

/// Writes the nodes that do not vote to stderr if their states have changed.
class VotingProgress {
 public:
  void report(const std::vector<Vote>& votes) {
    std::string states;
    std::string lines;
    for (const Vote& vote : votes) {
      states += state_of_vote(vote) + '\n';
      if (vote.is_given) continue;
      const std::string details = core::printable(vote.report.message);
      lines += "\n  " + vote.report.node + ": " + state_of_vote(vote) +
               (details.empty() ? "" : " (" + details + ")");
    }
    if (std::exchange(states_, states) != states) std::cerr << "redlock: waiting for" << lines << '\n';
  }

 private:
  std::string states_;
};

/// Whether each node that does not vote has said that it votes again only after this time.
bool is_hopeless(const std::vector<Vote>& votes, std::chrono::nanoseconds left) {
  const auto is_late = [left](const Vote& vote) { return vote.is_given || vote.report.votes_in > left; };
  return !all_given(votes) && std::ranges::all_of(votes, is_late);
}

}  // namespace

bool all_given(const std::vector<Vote>& votes) {
  return std::ranges::all_of(votes, [](const Vote& vote) { return vote.is_given; });
}

void print(const std::vector<Vote>& votes) {
  std::vector<Table<3>::Row> rows{{"NODE", "STATE", ""}};
  for (const Vote& vote : votes)
    rows.push_back({vote.report.node, state_of_vote(vote), core::printable(vote.report.message)});
  Table<3>{}.print(rows);
}

std::vector<Vote> wait_until_all_vote(Redlock& locks, const Options& settings, const std::string& resource,
                                      const std::optional<std::chrono::nanoseconds>& timeout) {
  LockOptions options{.ttl = probe_ttl, .fencing = false};
  if (settings.restart_guard != RestartGuard::off) options.ttl = std::min(options.ttl, settings.max_ttl);
  const Clock::time_point begun = Clock::now();
  Clock::time_point complete_since = Clock::time_point::max();
  for (VotingProgress progress;; std::this_thread::sleep_for(between_probes)) {
    std::vector<Vote> votes = try_once(locks, resource, options);
    const Clock::time_point now = Clock::now();
    complete_since = all_given(votes) ? std::min(complete_since, now) : Clock::time_point::max();
    if (all_given(votes) && now - complete_since >= settling_time) return votes;
    if (!all_given(votes)) progress.report(votes);
    if (!timeout) continue;
    const Clock::duration left = *timeout - (now - begun);
    if (left > left.zero() && !is_hopeless(votes, left)) continue;
    if (all_given(votes))
      for (Vote& vote : votes) vote.is_given = false;
    return votes;
  }
}

int exit_code_of(const std::vector<Vote>& votes) {
  if (all_given(votes)) return success;
  const auto is_wrong = [](const Vote& vote) { return is_misconfiguration(vote.report.status); };
  return std::ranges::any_of(votes, is_wrong) ? usage : no_quorum;
}

}  // namespace redlock::tool
