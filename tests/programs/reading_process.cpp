// reading-process FILE TTL_MS THREADS READS NODE…: each thread reads the number in FILE twice, READS times, with a pause between,
// under the shared lock "counter". Zero READS: each thread keeps its lock until the process is killed. At the end, writes to
// stdout how often the number has changed under a reader.
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
  const redlock::LockOptions options{.ttl = std::chrono::milliseconds{std::stol(arguments.at(1))},
                                     .shared = true};
  const int threads = std::stoi(arguments.at(2));
  const int reads = std::stoi(arguments.at(3));
  redlock::Redlock locks{std::vector<redlock::Endpoint>{arguments.begin() + 4, arguments.end()}};
  std::atomic<int> changes = 0;
  const auto read_once = [&] {
    const redlock::Lease lease = locks.lock("counter", options).value();
    while (reads == 0) ::pause();
    const long before = counter.read();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    if (counter.read() != before) ++changes;
  };
  std::vector<std::jthread> reading;
  for (int thread = 0; thread < threads; ++thread)
    reading.emplace_back([&] {
      for (int read = 0; read == 0 || read < reads; ++read) read_once();
    });
  reading.clear();
  std::cout << changes << '\n';
} catch (const std::exception& error) {
  std::cerr << "reading-process: " << error.what() << '\n';
  return 1;
}
