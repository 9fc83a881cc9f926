// The least possible cost of many callers' locks and releases.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/floor/node_connection.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"

namespace redlock::benchmark {

/// One thread acts as all callers, each in a cycle of its own, over one raw connection per node. After each
/// round of reads, the next commands of all callers go to each node in one write. Every node gets the
/// commands in the same order, so one log of commands serves all nodes.
class PipelinedFloor {
 public:
  PipelinedFloor(const std::vector<RawAddress>& servers, unsigned callers, char contestant,
                 const Wording& wording);

  /// Runs `cycles` cycles in total, all callers at once. Throws `std::runtime_error` if a node refuses.
  void run(std::size_t cycles, Samples& samples);

 private:
  struct Node {
    explicit Node(const RawAddress& address) : connection{address} {}
    NodeConnection connection;
    std::size_t answered = 0;  // number of commands of the log
  };
  struct Caller {
    CycleCommands commands;
    ResourceName resource;
    std::size_t command = 0;  // its position in the log
    std::size_t votes = 0;    // for that command
    bool releasing = false;
    Stopwatch::time_point begun{};
  };

  void begin(Caller& caller);
  void note(Caller& caller);
  void flush();
  void read_answers(Samples& samples);
  void count_vote(std::size_t command, Samples& samples);
  void drain(Samples& samples);

  std::vector<Node> nodes_;
  std::vector<pollfd> polled_;
  std::size_t quorum_;
  std::vector<Caller> callers_;
  std::vector<Caller*> log_;  // the caller of each command of this run
  std::size_t to_begin_ = 0;
  std::size_t running_ = 0;
};

}  // namespace redlock::benchmark
