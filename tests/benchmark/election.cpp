#include <algorithm>
#include <condition_variable>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {
namespace {

using std::chrono::milliseconds;

/// When the last of some observers was told of a leader. Thread safe.
class Audience {
 public:
  explicit Audience(unsigned size) : size_{size} {}

  void told_of(const std::string& candidate) {
    const Clock::time_point now = Clock::now();
    const std::lock_guard lock{mutex_};
    if (candidate != awaited_) return;
    if (++told_ < size_) return;
    last_ = now;
    changed_.notify_all();
  }
  void await(const std::string& candidate) {
    const std::lock_guard lock{mutex_};
    awaited_ = candidate;
    told_ = 0;
  }
  /// Blocks until all have been told of the leader that is awaited.
  Clock::time_point last() {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, std::chrono::seconds{30}, [this] { return told_ >= size_; }))
      throw std::runtime_error{"only " + std::to_string(told_) + " observers were told of the leader"};
    return last_;
  }

 private:
  const unsigned size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string awaited_;
  unsigned told_ = 0;
  Clock::time_point last_{};
};

/// An observer with a client of its own. Tells the audience of each new candidate once, whether its token is known yet or not.
class ElectionObserver {
 public:
  ElectionObserver(const std::vector<Endpoint>& nodes, Audience& audience)
      : client_{nodes}, election_{client_, "election"} {
    observation_.emplace(election_.observe([this, &audience](const std::optional<Leader>& leader) {
      const std::string candidate = leader ? leader->candidate : std::string{};
      if (candidate != seen_) audience.told_of(candidate);
      seen_ = candidate;
    }));
  }

 private:
  Redlock client_;
  Election election_;
  std::string seen_;  // used by one callback at a time
  std::optional<Observation> observation_;
};

/// Two who lead by turns.
struct Candidate {
  Candidate(const std::vector<Endpoint>& nodes, const std::string& called)
      : name{called}, client{nodes}, election{client, "election", called} {}
  std::string name;
  Redlock client;
  Election election;
};

double milliseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>{time}.count();
}

void add(Facts& facts, const std::string& name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  facts.emplace_back(name + "_ms_median", times[times.size() / 2]);
  facts.emplace_back(name + "_ms_max", times.back());
}

void wait_until_standing(Redlock& client) {
  while (line_in(client.inspect("election")).empty()) std::this_thread::sleep_for(milliseconds{5});
}

}  // namespace

Facts election(unsigned nodes, unsigned observers, unsigned terms) {
  testing::LocalNodes servers{static_cast<int>(nodes)};
  const std::vector<Endpoint> endpoints = endpoints_of(servers);
  Candidate candidates[] = {{endpoints, "first"}, {endpoints, "second"}};
  Audience audience{observers};
  std::vector<double> elected;
  std::vector<double> told;

  audience.await("second");
  Lease lease = candidates[1].election.campaign().value();
  std::list<ElectionObserver> all;
  for (unsigned observer = 0; observer < observers; ++observer) all.emplace_back(endpoints, audience);
  audience.last();
  for (unsigned term = 0; term < terms; ++term) {
    Candidate& next = candidates[term % 2];
    audience.await(next.name);
    auto campaign = std::async(std::launch::async, [&next] {
      Lease won = next.election.campaign().value();
      return std::pair{std::move(won), Clock::now()};
    });
    wait_until_standing(next.client);
    std::this_thread::sleep_for(
        milliseconds{200});  // the observers have read what makes the nodes report the next change
    const Clock::time_point resigned = Clock::now();
    lease.release();
    auto [won, at] = campaign.get();
    lease = std::move(won);
    elected.push_back(milliseconds_of(at - resigned));
    told.push_back(milliseconds_of(audience.last() - resigned));
  }
  Facts facts{{"observers", observers}, {"terms", terms}};
  add(facts, "elected", std::move(elected));
  add(facts, "last_observer_told", std::move(told));
  return facts;
}

}  // namespace redlock::benchmark
