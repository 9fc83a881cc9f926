// Processes that read a number while others add to it, and readers that are killed.
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "programs/counter_file.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

using namespace redlock::testing;
using namespace std::chrono_literals;

namespace {

/// Processes that use one counter in a file.
class Processes {
 public:
  explicit Processes(const LocalNodes& nodes) : nodes_{nodes.urls()} { counter.write(0); }

  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, group_.folder() + "/counter");
    arguments.insert(arguments.end(), nodes_.begin(), nodes_.end());
    children_.push_back(
        detail::launch({.arguments = std::move(arguments), .output = output_, .group = group_.id()}));
    return children_.back();
  }
  /// Waits for all, and returns what they have written.
  std::vector<std::string> finish() {
    for (const pid_t child : children_) detail::reap(child);
    std::vector<std::string> lines;
    std::ifstream file{output_};
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  const std::vector<std::string> nodes_;
  const detail::ProcessGroup group_;
  const std::string output_ = group_.folder() + "/output";
  std::vector<pid_t> children_;

 public:
  const CounterFile counter{group_.folder() + "/counter"};
};

}  // namespace

TEST_CASE("a_counter_never_moves_under_readers_while_nodes_fail") {
  LocalNodes nodes{5, {.persist = true}};
  Processes processes{nodes};
  for (int process = 0; process < 4; ++process) {
    processes.start({ADDING_PROCESS, "8", "5"});
    processes.start({READING_PROCESS, "60000", "8", "5"});
  }
  REQUIRE(eventually([&] { return processes.counter.read() > 10; }));
  nodes.kill(1);
  nodes.pause(3);
  const long before = processes.counter.read();
  CHECK(eventually([&] { return processes.counter.read() > before; }));
  nodes.resume(3);
  CHECK(processes.finish() == std::vector<std::string>(4, "0"));
  CHECK(processes.counter.read() == 4 * 8 * 5);
}

TEST_CASE("a_writer_gets_the_lock_when_100_killed_readers_have_expired") {
  LocalNodes nodes{3};
  Processes processes{nodes};
  redlock::Redlock locks{endpoints(nodes)};
  const pid_t readers = processes.start({READING_PROCESS, "2000", "100", "0"});
  REQUIRE(eventually([&] { return readers_in(locks.inspect("counter")).size() == 100; }));
  CHECK(locks.try_lock("counter").is_held());
  REQUIRE(::kill(readers, SIGKILL) == 0);
  processes.finish();
  const auto killed = redlock::Clock::now();
  const redlock::Lease writer = locks.try_lock_for("counter", 60s).value();
  CHECK(redlock::Clock::now() - killed < 12s);  // 2 s on an idle machine
  CHECK(writer.valid());
}
