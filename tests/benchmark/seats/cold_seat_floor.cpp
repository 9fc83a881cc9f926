#include "benchmark/seats/cold_seat_floor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "redlock/core/line/seats.hpp"
#include "redlock/core/lock/claim.hpp"

namespace redlock::benchmark {

ColdSeatFloor::ColdSeatFloor(const std::vector<RawAddress>& servers, char contestant, Wording wording)
    : nodes_{servers.begin(), servers.end()},
      quorum_{servers.size() / 2 + 1},
      wording_{std::move(wording)},
      resource_{contestant, 0} {
  for (const Node& node : nodes_)
    polled_.push_back({.fd = node.connection.descriptor(), .events = POLLIN, .revents = 0});
}

void ColdSeatFloor::run(TakenSeats& others, std::size_t cycles, Samples& samples) {
  for (std::size_t i = 0; i < cycles; ++i) {
    const std::string_view semaphore = resource_.next();
    others.take(semaphore);
    const auto begun = Stopwatch::now();
    take_and_release(semaphore);
    const auto taken = Stopwatch::now() - begun;
    samples.add(taken);
    samples.add_elapsed(taken);
  }
}

void ColdSeatFloor::take_and_release(std::string_view semaphore) {
  ++cycles_;
  Attempt attempt = attempt_at(semaphore, random_() % seats);
  append(attempt.set, Answer::vote);
  append(core::read_seats_command(core::line_of_seats(semaphore), seats), Answer::times);
  ++trips_;
  if (!ask()) {
    const std::size_t seat = any_free_seat();
    append(attempt.release, Answer::vote);
    attempt = attempt_at(semaphore, seat);
    append(attempt.set, Answer::vote);
    ++trips_;
    if (!ask()) throw std::runtime_error{"raw floor: refused a free seat"};
  }
  append(attempt.release, Answer::vote);
  if (!ask()) throw std::runtime_error{"raw floor: a seat was not released"};
}

ColdSeatFloor::Attempt ColdSeatFloor::attempt_at(std::string_view semaphore, std::size_t seat) {
  core::Claim claim = claim_of(wording_, semaphore, new_proposal(), seat);
  claim.owner.assign(owner_digits, '0');
  write_new_digits(claim.owner.data());
  claim.owner += wording_.owner_end;
  return {claim.set_command(), claim.release_command()};
}

/// Of those that are free on each of a majority of the nodes.
std::size_t ColdSeatFloor::any_free_seat() {
  std::vector<std::size_t> free;
  for (std::size_t seat = 0; seat < seats; ++seat) {
    const auto on = std::ranges::count_if(
        nodes_, [seat](const Node& node) { return node.owed.empty() && node.times[seat] == -2; });
    if (static_cast<std::size_t>(on) >= quorum_) free.push_back(seat);
  }
  return free.at(random_() % free.size());
}

void ColdSeatFloor::append(std::string_view command, Answer answer) {
  for (Node& node : nodes_) {
    node.connection.append(command);
    node.owed.push_back(answer);
  }
}

bool ColdSeatFloor::ask() {
  for (Node& node : nodes_) node.connection.flush();
  std::size_t answers = 0;
  std::size_t votes = 0;
  while (answers < quorum_) {
    wait_for_answers(polled_);
    for (std::size_t i = 0; i < nodes_.size() && answers < quorum_; ++i) {
      if (polled_[i].revents == 0 || !nodes_[i].catches_up()) continue;
      ++answers;
      votes += nodes_[i].vote ? 1 : 0;
    }
  }
  return votes >= quorum_;
}

bool ColdSeatFloor::Node::catches_up() {
  connection.receive();
  while (!owed.empty()) {
    if (owed.front() == Answer::vote) {
      const auto next = connection.next_vote();
      if (!next) break;
      vote = *next;
    } else {
      auto next = connection.next_numbers();
      if (!next) break;
      times = *std::move(next);
    }
    owed.pop_front();
  }
  return owed.empty();
}

}  // namespace redlock::benchmark
