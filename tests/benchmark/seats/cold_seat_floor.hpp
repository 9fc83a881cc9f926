// The least possible cost of a seat for a client that knows no free one.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/floor/node_connection.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"
#include "benchmark/seats/taken_seats.hpp"

namespace redlock::benchmark {

/// One thread with one raw connection per node. It asks for a seat at random and, in the same round trip, which seats are free.
/// If that seat is taken, it gives back what it got of it and asks for one that is free, again in one round trip. Like `Floor`,
/// it waits for a majority and does nothing else.
class ColdSeatFloor {
 public:
  /// `wording`: of seats, without a restart guard.
  ColdSeatFloor(const std::vector<RawAddress>& servers, char contestant, Wording wording);

  /// Takes and releases a seat of so many semaphores, of which `others` have half. Throws `std::runtime_error` if a node
  /// refuses a seat that it has just called free.
  void run(TakenSeats& others, std::size_t cycles, Samples& samples);
  /// Of all runs.
  [[nodiscard]] double round_trips_per_seat() const noexcept {
    return static_cast<double>(trips_) / static_cast<double>(cycles_);
  }

 private:
  enum class Answer : bool { vote, times };
  struct Node {
    explicit Node(const RawAddress& address) : connection{address} {}
    /// Reads once. Returns true if the current commands are answered.
    bool catches_up();

    NodeConnection connection;
    std::deque<Answer> owed{};          // answers still to come
    bool vote = false;                  // the last one
    std::vector<std::int64_t> times{};  // the PTTL of each seat
  };

  /// One attempt, with an owner value of its own.
  struct Attempt {
    std::string set;
    std::string release;
  };
  [[nodiscard]] Attempt attempt_at(std::string_view semaphore, std::size_t seat);
  void take_and_release(std::string_view semaphore);
  void append(std::string_view command, Answer answer);
  /// Returns true if a majority has answered yes at last.
  bool ask();
  [[nodiscard]] std::size_t any_free_seat();

  std::vector<Node> nodes_;
  std::vector<pollfd> polled_;
  std::size_t quorum_;
  Wording wording_;
  ResourceName resource_;
  std::minstd_rand random_{};
  std::size_t trips_ = 0;  // without those of releases
  std::size_t cycles_ = 0;
};

}  // namespace redlock::benchmark
