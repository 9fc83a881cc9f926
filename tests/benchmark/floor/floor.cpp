#include "benchmark/floor/floor.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

namespace redlock::benchmark {

Floor::Floor(const std::vector<RawAddress>& servers, char contestant, Wording wording)
    : nodes_{servers.begin(), servers.end()},
      quorum_{servers.size() / 2 + 1},
      commands_{std::move(wording)},
      resource_{contestant, 0} {
  for (const Node& node : nodes_)
    polled_.push_back({.fd = node.connection.descriptor(), .events = POLLIN, .revents = POLLIN});
}

void Floor::run(std::size_t cycles, Samples& samples) {
  const auto begun = Stopwatch::now();
  for (std::size_t i = 0; i < cycles; ++i) {
    const std::string_view resource = resource_.next();
    const auto cycle_begun = Stopwatch::now();
    commands_.begin(resource);
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
    commands_.begin(resource_.next());
    time_trip(&Floor::lock);
    time_trip(&Floor::release);
  }
}

void Floor::lock() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].connection.append(commands_.lock());
    nodes_[i].connection.append(commands_.lock_end(i));
    nodes_[i].connection.flush();
    ++nodes_[i].owed;
  }
  await_majority();
}

void Floor::release() {
  for (Node& node : nodes_) {
    node.connection.append(commands_.release());
    node.connection.flush();
    ++node.owed;
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
