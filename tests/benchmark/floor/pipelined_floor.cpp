#include "benchmark/floor/pipelined_floor.hpp"

#include <algorithm>
#include <stdexcept>

namespace redlock::benchmark {

PipelinedFloor::PipelinedFloor(const std::vector<RawAddress>& servers, unsigned callers, char contestant,
                               const Wording& wording)
    : nodes_{servers.begin(), servers.end()}, quorum_{servers.size() / 2 + 1} {
  for (const Node& node : nodes_)
    polled_.push_back({.fd = node.connection.descriptor(), .events = POLLIN, .revents = 0});
  const CycleCommands commands{wording};
  for (unsigned caller = 0; caller < callers; ++caller)
    callers_.push_back({.commands = commands, .resource = ResourceName{contestant, caller}});
}

void PipelinedFloor::run(std::size_t cycles, Samples& samples) {
  log_.clear();
  log_.reserve(2 * cycles);
  for (Node& node : nodes_) node.answered = 0;
  to_begin_ = cycles;

  const auto begun = Stopwatch::now();
  for (Caller& caller : callers_)
    if (to_begin_ > 0) begin(caller);
  while (running_ > 0) {
    flush();
    read_answers(samples);
  }
  samples.add_elapsed(Stopwatch::now() - begun);
  drain(samples);
}

void PipelinedFloor::begin(Caller& caller) {
  --to_begin_;
  ++running_;
  caller.begun = Stopwatch::now();
  caller.releasing = false;
  caller.commands.begin(caller.resource.next());
  note(caller);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].connection.append(caller.commands.lock());
    nodes_[i].connection.append(caller.commands.lock_end(i));
  }
}

/// Its next command is about to be appended for all nodes.
void PipelinedFloor::note(Caller& caller) {
  caller.command = log_.size();
  caller.votes = 0;
  log_.push_back(&caller);
}

void PipelinedFloor::flush() {
  for (Node& node : nodes_) node.connection.flush();
}

void PipelinedFloor::read_answers(Samples& samples) {
  wait_for_answers(polled_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (polled_[i].revents == 0) continue;
    Node& node = nodes_[i];
    node.connection.receive();
    while (const auto vote = node.connection.next_vote()) {
      if (!*vote)
        throw std::runtime_error{"pipelined raw floor: refused, although no other client uses these servers"};
      count_vote(node.answered++, samples);
    }
  }
}

void PipelinedFloor::count_vote(std::size_t command, Samples& samples) {
  Caller& caller = *log_[command];
  const bool late = caller.command != command || caller.votes == quorum_;
  if (late || ++caller.votes < quorum_) return;
  if (!caller.releasing) {
    caller.releasing = true;
    note(caller);
    for (Node& node : nodes_) node.connection.append(caller.commands.release());
    return;
  }
  samples.add(Stopwatch::now() - caller.begun);
  --running_;
  if (to_begin_ > 0) begin(caller);
}

void PipelinedFloor::drain(Samples& samples) {
  flush();
  const auto owes = [this](const Node& node) { return node.answered < log_.size(); };
  while (std::any_of(nodes_.begin(), nodes_.end(), owes)) read_answers(samples);
}

}  // namespace redlock::benchmark
