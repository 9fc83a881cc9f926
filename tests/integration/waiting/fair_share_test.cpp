// Threads and processes that want one lock all the time get it equally often.
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/number_from.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "programs/counter_file.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;

constexpr int many_threads = 16;
constexpr int single_threads = 4;
constexpr int contenders = many_threads + single_threads;

/// How often each contender gets the lock, if all get it equally often.
long fair_share() { return static_cast<long>(number_from("REDLOCK_FAIR_SHARE", 20)); }

/// A process with many threads and processes with one thread each add to a counter under one lock, until it is full.
class Contest {
 public:
  Contest() {
    counter.write(0);
    line_.take("somebody");
    start(many_threads);
    for (int process = 0; process < single_threads; ++process) start(1);
    REQUIRE(eventually([&] { return line_.length() == 1 + single_threads; }));
  }
  /// Returns how often each thread has added.
  std::vector<long> run() {
    line_.free();
    for (const pid_t process : processes_) detail::reap(process);
    std::vector<long> added;
    std::ifstream lines{output_};
    for (long own = 0; lines >> own;) added.push_back(own);
    return added;
  }

  LocalNodes nodes{3};
  const long goal = contenders * fair_share();
  const detail::ProcessGroup group;
  const CounterFile counter{group.folder() + "/counter"};

 private:
  void start(int threads) {
    detail::Launch launch{.arguments = {COMPETING_PROCESS, group.folder() + "/counter", std::to_string(goal),
                                        std::to_string(threads)},
                          .output = output_,
                          .group = group.id()};
    for (const std::string& url : nodes.urls()) launch.arguments.push_back(url);
    processes_.push_back(detail::launch(launch));
  }

  WaitingLine line_{nodes, "counter"};
  const std::string output_ = group.folder() + "/output";
  std::vector<pid_t> processes_;
};

long sum(const std::vector<long>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0L); }

/// Takes the lock as other libraries do: asks each node with `SET NX PX`, and tries again after a random pause.
class PollingClient {
 public:
  PollingClient(const LocalNodes& nodes, unsigned number)
      : servers_{nodes}, owner_{"poller " + std::to_string(number)}, random_{number} {}

  long add_until(long goal, const CounterFile& counter) {
    for (long added = 0;;) {
      const bool is_holder = ask_all();
      const bool is_over = counter.read() >= goal;
      if (is_holder && !is_over) counter.add_one(), ++added;
      release();
      if (is_over) return added;
      std::this_thread::sleep_for(std::chrono::microseconds{random_() % 5000});
    }
  }

 private:
  bool ask_all() {
    std::size_t granted = 0;
    for (RawClient& server : servers_)
      granted += server.command({"SET", "counter", owner_, "NX", "PX", "60000"}) == "OK" ? 1 : 0;
    return granted > servers_.size() / 2;
  }
  void release() {
    for (RawClient& server : servers_)
      server.command({"EVAL", "if redis.call('GET',KEYS[1])==ARGV[1] then redis.call('DEL',KEYS[1]) end", "1",
                      "counter", owner_});
  }

  Observers servers_;
  const std::string owner_;
  std::minstd_rand random_;
};

}  // namespace

TEST_CASE("each_of_many_contenders_gets_the_lock_at_least_half_and_at_most_twice_as_often_as_is_fair") {
  Contest contest;
  const std::vector<long> added = contest.run();
  CHECK(added.size() == contenders);
  CHECK(sum(added) == contest.goal);
  CHECK(contest.counter.read() == contest.goal);
  for (const long own : added) {
    CHECK(own >= fair_share() / 2);
    CHECK(own <= fair_share() * 2);
  }
}

TEST_CASE("clients_of_other_libraries_that_poll_starve_nobody_and_do_not_starve") {
  Contest contest;
  std::vector<long> polled(3);
  std::vector<std::jthread> pollers;
  for (std::size_t number = 0; number < polled.size(); ++number)
    pollers.emplace_back([&, number] {
      polled[number] = PollingClient{contest.nodes, static_cast<unsigned>(number)}.add_until(contest.goal,
                                                                                             contest.counter);
    });
  const std::vector<long> added = contest.run();
  pollers.clear();
  CHECK(added.size() == contenders);
  CHECK(sum(added) + sum(polled) == contest.goal);
  CHECK(contest.counter.read() == contest.goal);
  for (const long own : polled) CHECK(own > 0);
  for (const long own : added) {
    CHECK(own >= sum(added) / contenders / 2);
    CHECK(own <= sum(added) / contenders * 2);
  }
}
