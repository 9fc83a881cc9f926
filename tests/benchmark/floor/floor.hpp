// The least possible cost of one caller's lock and release.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/floor/node_connection.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"

namespace redlock::benchmark {

/// One thread with one raw connection per node. A command goes to all nodes at once and ends when a majority
/// has answered; later answers are read with the next read of their connection. There are no timeouts per
/// node, no bookkeeping and no recovery: everything that a library does beyond this is its overhead.
class Floor {
 public:
  /// `locks`: how many are locked together, with one batch of commands for each node.
  Floor(const std::vector<RawAddress>& servers, ResourceName resource, const Wording& wording,
        std::size_t locks = 1);

  /// Runs `cycles` cycles. Throws `std::runtime_error` if a node refuses, as no other client uses these
  /// servers.
  void run(std::size_t cycles, Samples& samples);
  /// The same, but each sample is one round trip after a pause, in which the servers fall asleep.
  void run_idly(std::size_t cycles, std::chrono::microseconds pause, Samples& round_trips);

 private:
  struct Node {
    explicit Node(const RawAddress& address) : connection{address} {}
    /// Reads once. Returns true if the current commands are answered.
    bool catches_up();

    NodeConnection connection;
    std::size_t owed = 0;  // answers still to come; the last ones belong to the current commands
  };
  void begin();
  void lock();
  void release();
  void await_majority();

  std::vector<Node> nodes_;
  std::vector<pollfd> polled_;
  std::size_t quorum_;
  std::vector<CycleCommands> commands_;  // for each of the locks
  ResourceName resource_;
};

}  // namespace redlock::benchmark
