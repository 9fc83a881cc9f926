#include "contest/contestant.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <system_error>
#include <thread>

#include "redlock/redlock.hpp"
#include "support/inspectable_lock.hpp"

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// One thread. It tries often and gives up quickly, so that many attempts compete and split the nodes among
/// them.
class Caller {
 public:
  Caller(InspectableLock& locks, int resources, std::uint64_t seed)
      : locks_{locks}, resources_{resources}, random_{seed} {}

  void run(Clock::time_point end) {
    while (Clock::now() < end) {
      attempt();
      std::this_thread::sleep_for(std::chrono::microseconds{draw(60000)});
    }
  }
  [[nodiscard]] const std::vector<Acquired>& acquired() const noexcept { return acquired_; }

 private:
  void attempt() {
    Acquired one{.resource = static_cast<std::uint64_t>(draw(resources_)), .invoked_ns = now_ns()};
    one.is_shared = draw(3) == 0;
    auto lease =
        locks_.try_lock("resource " + std::to_string(one.resource), {.ttl = 2s, .shared = one.is_shared});
    if (!lease) return;  // whatever the reason, as nodes die all the time
    one.completed_ns = now_ns();
    one.token = lease->fencing_token().value();
    acquired_.push_back(one);
    for (int extensions = draw(4); extensions > 0; --extensions) {
      std::this_thread::sleep_for(std::chrono::microseconds{draw(1000)});
      std::error_code ignored;
      static_cast<void>(lease->extend(ignored));
    }
  }
  int draw(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  InspectableLock& locks_;
  int resources_;
  std::mt19937_64 random_;
  std::vector<Acquired> acquired_;
};

/// Counts acquisitions that needed a second round.
struct SecondRounds final : Observer {
  void attempted(const Attempt& attempt) override {
    if (!attempt.failure && attempt.second_round) ++count;
  }
  std::atomic<std::uint64_t> count = 0;
};

std::vector<Acquired> acquire_until_the_end(InspectableLock& locks, const ContestantOptions& options) {
  std::vector<Caller> callers;
  for (int caller = 0; caller < options.threads; ++caller)
    callers.emplace_back(locks, options.resources, options.seed * 1000 + static_cast<unsigned>(caller));
  const Clock::time_point end = Clock::now() + options.length;
  {
    std::vector<std::jthread> threads;
    for (Caller& caller : callers) threads.emplace_back([&caller, end] { caller.run(end); });
  }
  std::vector<Acquired> acquired;
  for (const Caller& caller : callers)
    acquired.insert(acquired.end(), caller.acquired().begin(), caller.acquired().end());
  return acquired;
}

}  // namespace

void contest(const ContestantOptions& options) {
  const auto second_rounds = std::make_shared<SecondRounds>();
  TokenLog log;
  {
    InspectableLock locks{{options.nodes.begin(), options.nodes.end()},
                          {.durable_nodes = true, .observer = second_rounds}};
    locks.skew_proposals(options.skew);
    log.acquired = acquire_until_the_end(locks, options);
  }
  log.second_rounds = second_rounds->count;  // complete: the client is gone
  log.write(options.log);
}

}  // namespace redlock::testing
