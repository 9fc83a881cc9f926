// Processes that read a number and add to it, and readers that are killed.
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
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
  constexpr long all = 8 * 8 * 5;
  for (int process = 0; process < 8; ++process) processes.start({READING_PROCESS, "60000", "8", "5"});
  const auto goes_on = [&] {
    const long before = processes.counter.read();
    return eventually([&] { return processes.counter.read() > std::min(before + 10, all - 1); });
  };
  REQUIRE(goes_on());
  nodes.kill(1);
  for (const int stopped : {3, 0, 4}) {
    nodes.pause(stopped);
    CHECK(goes_on());
    nodes.resume(stopped);
  }
  nodes.restart_with_data(1);
  CHECK(processes.finish() == std::vector<std::string>(8, "0"));
  CHECK(processes.counter.read() == all);
}

TEST_CASE("a_writer_gets_the_lock_when_100_killed_readers_have_expired") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Processes processes{nodes};
  redlock::Redlock locks{endpoints(nodes)};
  const pid_t readers = processes.start({READING_PROCESS, "2000", "100", "0"});
  REQUIRE(eventually([&] { return readers_in(locks.inspect("counter")).size() == 100; }));
  CHECK(locks.try_lock("counter").is_held());
  REQUIRE(::kill(readers, SIGKILL) == 0);
  processes.finish();
  servers.command({"PING"});  // when it has answered, the server has executed what the readers had sent
  std::chrono::milliseconds longest{0};
  for (RawClient& server : servers)
    longest = std::max(longest, std::chrono::milliseconds{server.pttl("counter")});
  const auto killed = redlock::Clock::now();
  CHECK(longest > 0s);
  CHECK(longest <= 2s);
  const redlock::Lease writer = locks.try_lock_for("counter", 60s).value();
  const auto waited = redlock::Clock::now() - killed;
  CAPTURE(waited.count(), longest.count());
  // The writer asks as soon as the copies have expired. The second is for what waits for a processor; on an idle machine it
  // takes 10 ms.
  CHECK(waited <= longest + 1s);
  CHECK(writer.valid());
}
