// adding-process FILE THREADS ADDITIONS [NODE…]: each thread adds 1 to the number in FILE, ADDITIONS times,
// under the lock "counter" on the given nodes, or without a lock if no node is given.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/redlock.hpp"

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const redlock::testing::CounterFile counter{arguments.at(0)};
  const int threads = std::stoi(arguments.at(1));
  const int additions = std::stoi(arguments.at(2));
  std::optional<redlock::Redlock> locks;
  if (arguments.size() > 3)
    locks.emplace(std::vector<redlock::Endpoint>{arguments.begin() + 3, arguments.end()});

  std::vector<std::jthread> adding;
  for (int thread = 0; thread < threads; ++thread)
    adding.emplace_back([&] {
      for (int addition = 0; addition < additions; ++addition) {
        redlock::Lease lease;
        if (locks) lease = locks->lock("counter", {.ttl = std::chrono::seconds{60}}).value();
        counter.add_one();
      }
    });
} catch (const std::exception& error) {
  std::cerr << "adding-process: " << error.what() << '\n';
  return 1;
}
