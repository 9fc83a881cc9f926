// Waiting processes that are killed or stopped, and holders that die.
#include <signal.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Redlock;
using std::chrono::steady_clock;

/// Whoever does not look after its place for 4 s is stepped over. The rest is tolerance for a busy machine.
constexpr auto life = 4300ms;
constexpr auto tolerance = 2s;

/// Processes that wait for the lock "r", and hold it until they are killed.
class WaitingProcesses {
 public:
  explicit WaitingProcesses(const LocalNodes& nodes) : nodes_{nodes}, line_{nodes, "r"} {}
  ~WaitingProcesses() {
    for (const pid_t process : processes_) ::kill(process, SIGKILL);
    for (const pid_t process : processes_) detail::reap(process);
  }
  WaitingProcesses(const WaitingProcesses&) = delete;
  WaitingProcesses& operator=(const WaitingProcesses&) = delete;

  /// Starts one more and waits until it stands in line.
  pid_t add(std::chrono::milliseconds ttl = 60s) {
    const pid_t process = start(ttl);
    REQUIRE(eventually([&] { return place_of(process).has_value(); }));
    return process;
  }
  /// Starts one more.
  pid_t start(std::chrono::milliseconds ttl = 60s) {
    detail::Launch launch{.arguments = {WAITING_PROCESS, "r", std::to_string(ttl.count()), "1", "0", "fifo"},
                          .output = output_,
                          .group = group_.id()};
    for (const std::string& url : nodes_.urls()) launch.arguments.push_back(url);
    return processes_.emplace_back(detail::launch(launch));
  }
  [[nodiscard]] std::optional<int> place_of(pid_t process) {
    return line_.place_of(":" + std::to_string(process) + " ");
  }
  [[nodiscard]] WaitingLine& line() noexcept { return line_; }
  /// When the process got the lock; none if it has not.
  [[nodiscard]] std::optional<steady_clock::time_point> held_since(pid_t process) const {
    std::ifstream lines{output_};
    pid_t id = 0;
    std::string step;
    steady_clock::rep at = 0;
    while (lines >> id >> step >> at)
      if (id == process && step == "holds") return steady_clock::time_point{steady_clock::duration{at}};
    return std::nullopt;
  }
  steady_clock::time_point wait_until_held_by(pid_t process) const {
    REQUIRE(eventually([&] { return held_since(process).has_value(); }));
    return *held_since(process);
  }

 private:
  const LocalNodes& nodes_;
  WaitingLine line_;
  detail::ProcessGroup group_;
  const std::string output_ = group_.folder() + "/output";
  std::vector<pid_t> processes_;
};

struct Fixture {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  redlock::Lease lease = locks.lock("r", {.ttl = 60s}).value();
  WaitingProcesses processes{nodes};
};

}  // namespace

TEST_CASE("a_killed_waiter_costs_the_next_one_no_more_than_its_life") {
  Fixture f;
  const int killed = GENERATE(1, 10);
  std::vector<pid_t> lost;
  for (int process = 0; process < killed; ++process) lost.push_back(f.processes.add());
  const pid_t next = f.processes.add();
  const auto killed_at = steady_clock::now();
  for (const pid_t process : lost) ::kill(process, SIGKILL);
  f.lease.release();
  CHECK(f.processes.wait_until_held_by(next) - killed_at < life + tolerance);
}

TEST_CASE("a_stopped_waiter_is_stepped_over_and_afterwards_back_at_its_place") {
  Fixture f;
  const pid_t sleeper = f.processes.add();
  const pid_t second = f.processes.add();
  const pid_t third = f.processes.add();
  ::kill(sleeper, SIGSTOP);
  const auto stopped_at = steady_clock::now();
  REQUIRE(eventually([&] { return f.processes.place_of(second) == 0; }));
  CHECK(steady_clock::now() - stopped_at < life + tolerance);
  f.lease.release();
  f.processes.wait_until_held_by(second);
  CHECK_FALSE(f.processes.held_since(sleeper));
  ::kill(sleeper, SIGCONT);
  REQUIRE(eventually([&] { return f.processes.place_of(sleeper) == 0; }));
  CHECK(f.processes.place_of(third) == 1);
  REQUIRE(f.processes.line().wait_until_all_know_their_places(2));
  f.processes.line().free();
  f.processes.wait_until_held_by(sleeper);
  CHECK_FALSE(f.processes.held_since(third));
}

TEST_CASE("a_stopped_waiter_keeps_newcomers_out_for_as_long_as_it_counts_as_alive") {
  Fixture f;
  const pid_t sleeper = f.processes.add();
  REQUIRE(eventually([&] { return f.processes.line().flags() == 3; }));
  ::kill(sleeper, SIGSTOP);
  f.lease.release();
  CHECK(f.locks.try_lock("r").is_held());  // nobody holds it
  CHECK(is_granted(f.locks.try_lock("r", {.order = redlock::Order::none})));
  // Nobody else stands in line, so its reservation ends with its life.
  CHECK(eventually([&] { return is_granted(f.locks.try_lock("r")); }));
  CHECK_FALSE(f.processes.held_since(sleeper));
}

TEST_CASE("the_lock_of_a_killed_holder_passes_to_the_first_in_line_when_it_expires") {
  LocalNodes nodes{3};
  WaitingProcesses processes{nodes};
  const pid_t holder = processes.start(3s);
  processes.wait_until_held_by(holder);
  const pid_t first = processes.add();
  const pid_t second = processes.add();
  const auto killed_at = steady_clock::now();
  ::kill(holder, SIGKILL);
  CHECK(processes.wait_until_held_by(first) - killed_at < 3s + tolerance);
  CHECK_FALSE(processes.held_since(second));
}
