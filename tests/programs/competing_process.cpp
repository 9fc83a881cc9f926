// competing-process FILE GOAL THREADS NODE…: each thread adds 1 to the number in FILE, again and again under the lock
// "counter", until the number is GOAL. Then writes to stdout how often each thread has added, one number a line.
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/redlock.hpp"

namespace {

long add_until(long goal, const redlock::testing::CounterFile& counter, redlock::Redlock& locks) {
  for (long added = 0;; ++added) {
    const redlock::Lease lease = locks.lock("counter", {.ttl = std::chrono::seconds{60}}).value();
    if (counter.read() >= goal) return added;
    counter.add_one();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const redlock::testing::CounterFile counter{arguments.at(0)};
  const long goal = std::stol(arguments.at(1));
  std::vector<long> added(std::stoul(arguments.at(2)));
  redlock::Redlock locks{std::vector<redlock::Endpoint>{arguments.begin() + 3, arguments.end()}};
  std::vector<std::jthread> adding;
  for (long& own : added) adding.emplace_back([&] { own = add_until(goal, counter, locks); });
  adding.clear();
  for (const long own : added) std::cout << own << '\n';
} catch (const std::exception& error) {
  std::cerr << "competing-process: " << error.what() << '\n';
  return 1;
}
