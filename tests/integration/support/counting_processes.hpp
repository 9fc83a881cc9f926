// Processes that count in files under locks.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/own_process.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"

namespace redlock::testing {

/// Processes that use one counter in a file, or one for each of three seats.
class CountingProcesses {
 public:
  explicit CountingProcesses(const LocalNodes& nodes) : nodes_{nodes.urls()} { counter.write(0); }

  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, group_.folder() + "/counter");
    arguments.insert(arguments.end(), nodes_.begin(), nodes_.end());
    children_.push_back(
        detail::launch({.arguments = std::move(arguments), .output = output_, .group = group_.id()}));
    return children_.back();
  }
  /// Fails nodes and processes while the processes count, and then has these end. Of five nodes one is dead, and three are
  /// stopped in turn. Beside each of these, one process is killed, and another one is stopped for a moment. After each fault, the
  /// processes that are left make at least so many `additions`.
  void fail(LocalNodes& nodes, long additions = 40) {
    const auto go_on = [&] {
      const long goal = count() + additions;
      return eventually([&] { return count() >= goal; }, std::chrono::seconds{30});
    };
    REQUIRE(go_on());
    nodes.kill(1);
    for (const int stopped : {3, 0, 4}) {
      nodes.pause(stopped);
      const pid_t victim = children_[killed_];
      const pid_t other = children_[killed_ + 3];
      CHECK(is_running_child(victim));
      CHECK(is_running_child(other));
      CHECK(::kill(victim, SIGKILL) == 0);
      ++killed_;
      CHECK(::kill(other, SIGSTOP) == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
      CHECK(::kill(other, SIGCONT) == 0);
      REQUIRE(go_on());
      nodes.resume(stopped);
    }
    nodes.restart_with_data(1);
    counter.end();
  }
  /// Waits for all, and returns what they have written.
  std::vector<std::string> finish() {
    for (const pid_t child : children_) detail::reap(child);
    std::vector<std::string> lines;
    std::ifstream file{output_};
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  /// The sum of the counters.
  [[nodiscard]] long count() const {
    long sum = 0;
    for (const CounterFile& each : counters()) sum += each.read();
    return sum;
  }
  /// Each addition has made a greater number than the one before, and none is missing but those during which a process was killed.
  [[nodiscard]] bool is_each_counted() const {
    long written = 0;
    for (const CounterFile& each : counters()) {
      const std::vector<long> added = each.added();
      if (std::adjacent_find(added.begin(), added.end(), std::greater_equal{}) != added.end()) return false;
      written += std::ssize(added);
    }
    const long missing = count() - written;
    return missing >= 0 && missing <= static_cast<long>(killed_);
  }

 private:
  [[nodiscard]] std::vector<CounterFile> counters() const {
    const std::string file = group_.folder() + "/counter";
    return {counter, CounterFile{file + ".1"}, CounterFile{file + ".2"}};
  }

  const std::vector<std::string> nodes_;
  const detail::ProcessGroup group_;
  const std::string output_ = group_.folder() + "/output";
  std::vector<pid_t> children_;
  std::size_t killed_ = 0;  // the first ones

 public:
  const CounterFile counter{group_.folder() + "/counter"};
};

}  // namespace redlock::testing
