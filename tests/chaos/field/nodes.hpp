// The servers of a run, and the ways to them.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "chaos/clock/clock_file.hpp"
#include "chaos/plan/plan.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/proxy.hpp"

namespace redlock::chaos {

/// Redis servers under the clock library that write every change to disk, each behind one proxy for each half of the clients.
/// One thread makes all calls.
class Nodes {
 public:
  /// `folder`: for files of the program that starts a server. Throws std::runtime_error if a server does not start.
  Nodes(int count, const std::string& folder, const std::string& clock_library);
  ~Nodes();
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  [[nodiscard]] int size() const noexcept { return nodes_.size(); }
  /// The addresses for clients of this half, by way of its proxies.
  [[nodiscard]] std::vector<std::string> urls(int half) const;
  /// The servers' own addresses.
  [[nodiscard]] std::vector<std::string> urls() const { return nodes_.urls(); }

  /// Makes a fault of a node or of a link begin or end. Throws std::runtime_error if a server does not do its part, or if the
  /// fault has no effect.
  void begin(const Fault&);
  void end(const Fault&);

  /// The server's wall clock: the time since 1970. Throws std::runtime_error if it does not answer.
  [[nodiscard]] std::chrono::microseconds clock_of(int node) const;

  /// Keeps copies of the data that all nodes have now, for those that lose it later.
  void keep_copies();

  /// All keys that are not meant to stay, each with its node.
  [[nodiscard]] std::vector<std::string> keys_left();

 private:
  [[nodiscard]] std::size_t link_of(int half, int node) const noexcept {
    return static_cast<std::size_t>(half) * static_cast<std::size_t>(size()) + static_cast<std::size_t>(node);
  }
  void begin_at_node(const Fault&);
  void end_at_node(const Fault&);
  void begin_at_link(const Fault&);
  void end_at_link(const Fault&);
  void command(int node, const std::vector<std::string>& words);
  void set_clock(int node, milliseconds error);
  void begin_sleep(int node, milliseconds length);
  void end_sleep(int node);
  void keep_copy(int node);
  void put_copy_back(int node);
  [[nodiscard]] std::string folder_of(int node) const;
  [[nodiscard]] std::string copy_of(int node) const;

  testing::LocalNodes nodes_;
  const std::string folder_;
  std::vector<ClockFile> clocks_;
  std::vector<std::unique_ptr<testing::Proxy>> proxies_;  // by link
  std::vector<std::future<std::string>> sleeps_;          // by node: the reply to the last DEBUG SLEEP
};

}  // namespace redlock::chaos
