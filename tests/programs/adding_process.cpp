// adding-process FILE KIND TTL_MS THREADS ADDITIONS [NODE…]: each thread adds 1 to the number in FILE, ADDITIONS times, under the
// lock "counter" on the given nodes, or without a lock if no node is given. Zero ADDITIONS: at least once, and until there is a
// file FILE.over. KIND says how it takes the lock: plain, recursive (twice), several (and another one), leader (of the election
// "counter"), or seat (one of three: each has a number of its own, in FILE, FILE.1 and FILE.2).
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "programs/counter_file.hpp"
#include "redlock/redlock.hpp"

namespace {

using redlock::testing::CounterFile;

/// Adds 1 under a lock of this kind.
std::function<void()> addition(const std::string& kind, const std::string& file,
                               const redlock::LockOptions& options, redlock::Redlock& locks) {
  const CounterFile counter{file};
  if (kind == "plain")
    return [=, &locks] {
      const redlock::Lease lease = locks.lock("counter", options).value();
      counter.add_one();
    };
  if (kind == "recursive")
    return [=, mutex = std::make_shared<redlock::RecursiveMutex>(locks, "counter", options)] {
      const std::scoped_lock outer{*mutex};
      const std::scoped_lock inner{*mutex};
      counter.add_one();
    };
  if (kind == "several")
    return [=, &locks] {
      const redlock::Leases leases = locks.lock_all({"another", "counter"}, options).value();
      counter.add_one();
    };
  if (kind == "leader")
    return [=, election = std::make_shared<redlock::Election>(locks, "counter", "", options)] {
      const redlock::Lease lease = election->campaign().value();
      counter.add_one();
    };
  if (kind != "seat") throw std::invalid_argument{"there is no kind " + kind};
  return [=, &locks] {
    redlock::LockOptions any = options;
    any.seats = 3;
    const redlock::Lease lease = locks.lock("counter", any).value();
    const char seat = lease.resource().back();
    CounterFile{seat == '0' ? file : file + '.' + seat}.add_one();
  };
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const std::string& file = arguments.at(0);
  const redlock::LockOptions options{.ttl = std::chrono::milliseconds{std::stol(arguments.at(2))}};
  const int threads = std::stoi(arguments.at(3));
  const int additions = std::stoi(arguments.at(4));
  std::optional<redlock::Redlock> locks;
  std::function<void()> add_one = [counter = CounterFile{file}] { counter.add_one(); };
  if (arguments.size() > 5) {
    locks.emplace(std::vector<redlock::Endpoint>{arguments.begin() + 5, arguments.end()});
    add_one = addition(arguments.at(1), file, options, *locks);
  }
  std::vector<std::jthread> adding;
  for (int thread = 0; thread < threads; ++thread)
    adding.emplace_back([&] {
      int each = 0;
      do add_one();
      while (additions > 0 ? ++each < additions : !CounterFile{file}.is_over());
    });
} catch (const std::exception& error) {
  std::cerr << "adding-process: " << error.what() << '\n';
  return 1;
}
