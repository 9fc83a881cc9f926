// Processes that count in files under locks.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
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
  /// Fails one node of five after the other while the processes count up to `all`: one is dead, and three are stopped in turn. At
  /// least `step` additions are made each time.
  void fail_nodes(LocalNodes& nodes, long step, long all) const {
    const auto goes_on = [&] {
      const long before = count();
      return eventually([&] { return count() > std::min(before + step, all - 1); });
    };
    REQUIRE(goes_on());
    nodes.kill(1);
    for (const int stopped : {3, 0, 4}) {
      nodes.pause(stopped);
      CHECK(goes_on());
      nodes.resume(stopped);
    }
    nodes.restart_with_data(1);
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
    const std::string file = group_.folder() + "/counter";
    return counter.read() + CounterFile{file + ".1"}.read() + CounterFile{file + ".2"}.read();
  }

 private:
  const std::vector<std::string> nodes_;
  const detail::ProcessGroup group_;
  const std::string output_ = group_.folder() + "/output";
  std::vector<pid_t> children_;

 public:
  const CounterFile counter{group_.folder() + "/counter"};
};

}  // namespace redlock::testing
