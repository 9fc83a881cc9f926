#include "tool/election/leader.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stop_token>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using When = std::chrono::system_clock::time_point;

struct Change {
  When when = std::chrono::system_clock::now();
  std::optional<Leader> leader;
};

/// Changes that are not printed yet. Thread safe.
class Changes {
 public:
  void add(const std::optional<Leader>& leader) {
    const std::lock_guard lock{mutex_};
    new_.push_back({.leader = leader});
    added_.notify_all();
  }
  /// Blocks until there are changes, a stop is requested or a while has passed.
  std::vector<Change> take(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    added_.wait_for(lock, stop, std::chrono::seconds{1}, [this] { return !new_.empty(); });
    return std::exchange(new_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any added_;
  std::vector<Change> new_;
};

std::string json_of(const Change& change, const std::string& election) {
  nlohmann::json json{{"time_ms", milliseconds_of(change.when.time_since_epoch())},
                      {"election", election},
                      {"leader", nullptr}};
  if (change.leader) {
    json["leader"] = {{"candidate", change.leader->candidate}};
    if (change.leader->token) json["leader"]["token"] = change.leader->token.value();
  }
  return json_text(json);
}

std::string text_of(const std::optional<Leader>& leader) {
  std::ostringstream text;
  if (leader)
    text << *leader;
  else
    text << "nobody";
  return text.str();
}

/// Says on stderr when too few nodes vote, once for each outage: nobody is reported as the leader then, nor as having left.
class Outage {
 public:
  Outage(Redlock& locks, const std::string& election) : locks_{locks}, election_{election} {}

  void look() {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + between_looks;
    const std::vector<NodeReport> reports = locks_.inspect(election_);
    const auto voted = static_cast<std::size_t>(std::ranges::count_if(reports, has_voted));
    const bool is_out = voted < core::quorum(reports.size());
    if (std::exchange(is_out_, is_out) || !is_out) return;
    std::cerr << "redlock: only " << voted << " of " << reports.size()
              << " nodes voted, so changes are not seen:\n";
    write_reports(std::cerr, reports);
  }

 private:
  static constexpr std::chrono::seconds between_looks{5};

  Redlock& locks_;
  const std::string& election_;
  Clock::time_point next_look_ = Clock::now() + std::chrono::seconds{2};  // the nodes may answer by then
  bool is_out_ = false;
};

std::string line_of(const Change& change) { return time_column(change.when) + text_of(change.leader); }

}  // namespace

int show_leader(const LeaderArguments& arguments) {
  SignalForwarder signals;
  std::optional<SignalForwarder::Preparation> preparation{std::in_place, signals};
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  preparation.reset();
  Election election{locks, arguments.election};
  if (!arguments.watch) {
    const Change now{.leader = election.leader()};
    std::cout << (arguments.json ? json_of(now, arguments.election) : text_of(now.leader)) << std::endl;
    return now.leader ? success : conflict;
  }
  Changes changes;
  const Observation observation =
      election.observe([&changes](const std::optional<Leader>& leader) { changes.add(leader); });
  Outage outage{locks, arguments.election};
  while (!signals.stop().stop_requested()) {
    outage.look();
    for (const Change& change : changes.take(signals.stop()))
      std::cout << (arguments.json ? json_of(change, arguments.election) : line_of(change)) << std::endl;
    if (!std::cout || is_output_closed()) return killed_by_signal + SIGPIPE;
  }
  return code_after_watching(signals.stopped_by());
}

}  // namespace redlock::tool
