// reading-process FILE TTL_MS THREADS count|hold NODE…: each thread reads the number in FILE twice, with a pause between, under
// the shared lock "counter", and then adds 1 to it under the exclusive one, at least once and until there is a file FILE.over.
// Then writes to stdout how often the number has changed under a reader. With "hold", each thread keeps its shared lock until
// the process is killed, every second one with half of the ttl.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/redlock.hpp"

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const redlock::testing::CounterFile counter{arguments.at(0)};
  const redlock::LockOptions writing{.ttl = std::chrono::milliseconds{std::stol(arguments.at(1))}};
  const int threads = std::stoi(arguments.at(2));
  const bool holds = arguments.at(3) == "hold";
  redlock::Redlock locks{std::vector<redlock::Endpoint>{arguments.begin() + 4, arguments.end()}};
  std::atomic<int> changes = 0;
  const auto read_once = [&](int thread) {
    redlock::LockOptions reading = writing;
    reading.shared = true;
    if (holds && thread % 2 == 1) reading.ttl = reading.ttl.get() / 2;
    const redlock::Lease lease = locks.lock("counter", reading).value();
    while (holds) ::pause();
    const long before = counter.read();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    if (counter.read() != before) ++changes;
  };
  const auto add_once = [&] {
    const redlock::Lease lease = locks.lock("counter", writing).value();
    counter.add_one();
  };
  std::vector<std::jthread> using_it;
  for (int thread = 0; thread < threads; ++thread)
    using_it.emplace_back([&, thread] {
      do {
        read_once(thread);
        add_once();
      } while (!counter.is_over());
    });
  using_it.clear();
  std::cout << changes << '\n';
} catch (const std::exception& error) {
  std::cerr << "reading-process: " << error.what() << '\n';
  return 1;
}
