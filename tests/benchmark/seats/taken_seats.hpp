// The seats of a semaphore that others have.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/floor/node_connection.hpp"

namespace redlock::benchmark {

/// The seats of every semaphore.
inline constexpr std::size_t seats = 16;

/// Somebody who has half of the seats of one semaphore after the other. Raw, so that no client remembers a seat.
class TakenSeats {
 public:
  explicit TakenSeats(const std::vector<RawAddress>& servers);

  /// Gives up the seats of the semaphore before, and takes half of these. Blocks until all nodes have done so.
  void take(std::string_view semaphore);

 private:
  std::vector<NodeConnection> nodes_;
  std::vector<std::string> taken_;  // keys
};

}  // namespace redlock::benchmark
