// The least that one caller's lock and release can cost.
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/floor/node_connection.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"

namespace redlock::benchmark {

/// One thread, one raw connection per node: a command goes to all nodes at once and is over when a majority
/// has answered; answers that come later are read when their connection is read next. No timeouts per node,
/// no bookkeeping, no recovery: what a library does beyond this is its overhead.
class Floor {
 public:
  /// `marker`: as `CycleCommands` has it.
  Floor(const std::vector<std::uint16_t>& ports, char contestant, const std::string& marker = {});

  /// Runs so many cycles. Throws `std::runtime_error` when a node refuses: nobody else is here.
  void run(std::size_t cycles, Samples& samples);

 private:
  struct Node {
    explicit Node(std::uint16_t port) : connection{port} {}
    /// Reads once. Whether the current command is answered.
    bool catches_up();

    NodeConnection connection;
    unsigned owed = 0;  // answers; the last of them is for the current command
  };
  void ask_all(std::string_view command);

  std::vector<Node> nodes_;
  std::vector<pollfd> polled_;
  std::size_t quorum_;
  CycleCommands commands_;
  ResourceName resource_;
};

}  // namespace redlock::benchmark
