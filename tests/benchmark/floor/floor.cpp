#include "benchmark/floor/floor.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

namespace redlock::benchmark {

Floor::Floor(const std::vector<RawAddress>& servers, ResourceName resource, const Wording& wording,
             std::size_t locks)
    : nodes_{servers.begin(), servers.end()},
      quorum_{servers.size() / 2 + 1},
      commands_(locks, CycleCommands{wording}),
      resource_{std::move(resource)} {
  for (const Node& node : nodes_)
    polled_.push_back({.fd = node.connection.descriptor(), .events = POLLIN, .revents = POLLIN});
}

void Floor::run(std::size_t cycles, Samples& samples) {
  const auto begun = Stopwatch::now();
  for (std::size_t i = 0; i < cycles; ++i) {
    const auto cycle_begun = Stopwatch::now();
    begin();
    lock();
    release();
    samples.add(Stopwatch::now() - cycle_begun);
  }
  samples.add_elapsed(Stopwatch::now() - begun);
}

void Floor::run_idly(std::size_t cycles, std::chrono::microseconds pause, Samples& round_trips) {
  const auto time_trip = [&](void (Floor::*ask)()) {
    std::this_thread::sleep_for(pause);
    const auto begun = Stopwatch::now();
    (this->*ask)();
    round_trips.add(Stopwatch::now() - begun);
  };
  for (std::size_t i = 0; i < cycles; ++i) {
    begin();
    time_trip(&Floor::lock);
    time_trip(&Floor::release);
  }
}

void Floor::begin() {
  for (CycleCommands& commands : commands_) commands.begin(resource_.next());
}

void Floor::lock() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const CycleCommands& commands : commands_) {
      nodes_[i].connection.append(commands.lock());
      nodes_[i].connection.append(commands.lock_end(i));
    }
    nodes_[i].connection.flush();
    nodes_[i].owed += commands_.size();
  }
  await_majority();
}

void Floor::release() {
  for (Node& node : nodes_) {
    for (const CycleCommands& commands : commands_) node.connection.append(commands.release());
    node.connection.flush();
    node.owed += commands_.size();
  }
  await_majority();
}

void Floor::await_majority() {
  for (std::size_t answers = 0; answers < quorum_;) {
    // A single node is read without polling: the read blocks as well, and saves a system call.
    if (nodes_.size() > 1) wait_for_answers(polled_);
    // Nodes beyond the majority are read together with their next answer: one call for two answers.
    for (std::size_t i = 0; i < nodes_.size() && answers < quorum_; ++i)
      if (polled_[i].revents != 0 && nodes_[i].catches_up()) ++answers;
  }
}

bool Floor::Node::catches_up() {
  connection.receive();
  while (const auto vote = connection.next_vote()) {
    if (!*vote) throw std::runtime_error{"raw floor: refused, although no other client uses these servers"};
    --owed;
  }
  return owed == 0;
}

}  // namespace redlock::benchmark
