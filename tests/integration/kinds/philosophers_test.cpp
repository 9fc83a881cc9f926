// Philosophers who need several forks at once. They eat for REDLOCK_PHILOSOPHERS_SECONDS.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/kinds/things.hpp"
#include "integration/support/all_nodes.hpp"
#include "integration/support/number_from.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::LockAllResult;
using redlock::Redlock;
using Forks = std::vector<std::size_t>;

/// Philosophers who eat again and again, each in a client of its own.
class Table {
 public:
  Table(std::size_t philosophers, std::size_t forks)
      : meals_(philosophers), longest_(philosophers), forks_{forks} {}

  /// `choose`: which forks the philosopher at this seat needs for its next meal.
  void eat(const std::function<Forks(std::size_t seat, std::minstd_rand&)>& choose) {
    std::latch all_are_connected{static_cast<std::ptrdiff_t>(meals_.size())};
    std::vector<std::thread> threads;
    for (std::size_t seat = 0; seat < meals_.size(); ++seat)
      threads.emplace_back([&, seat] {
        Redlock locks{endpoints(nodes_)};
        std::minstd_rand random{static_cast<std::uint32_t>(seat) + 1};
        { const auto first = locks.lock("connection " + std::to_string(seat)); }
        all_are_connected.arrive_and_wait();
        const Clock::time_point until = Clock::now() + time_;
        while ((Clock::now() < until || eaten_ < 20 * meals_.size()) && failed_ == 0)
          eat_once(locks, seat, choose(seat, random));
      });
    for (std::thread& thread : threads) thread.join();
  }
  void check() const {
    const std::size_t share = eaten_ / meals_.size();
    CAPTURE(meals_, longest_);
    CHECK(failed_ == 0);
    CHECK(forks_.clashes == 0);
    CHECK(std::ranges::min(meals_) >= share / 2);
    CHECK(std::ranges::max(meals_) <= 2 * share);
  }

 private:
  void eat_once(Redlock& locks, std::size_t seat, const Forks& forks) {
    std::vector<std::string> texts;
    for (const std::size_t fork : forks) texts.push_back("fork " + std::to_string(fork));
    const std::vector<std::string_view> names{texts.begin(), texts.end()};
    const Clock::time_point hungry = Clock::now();
    const LockAllResult all = locks.try_lock_all_for(names, 60s);
    if (!all) return void(failed_ = failed_ + 1);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - hungry);
    longest_[seat] = std::max(longest_[seat], waited.count());
    forks_.use(forks, 2ms);
    ++meals_[seat];
    ++eaten_;
  }

  const std::chrono::seconds time_{number_from("REDLOCK_PHILOSOPHERS_SECONDS", 1)};
  const LocalNodes nodes_{3};
  std::vector<std::size_t> meals_;
  std::vector<std::int64_t> longest_;  // waits, in milliseconds
  Things forks_;
  std::atomic<std::size_t> eaten_ = 0;
  std::atomic<int> failed_ = 0;
};

}  // namespace

TEST_CASE("five_philosophers_with_two_of_five_forks_eat_equally_often") {
  Table table{5, 5};
  table.eat([](std::size_t seat, std::minstd_rand&) { return Forks{seat, (seat + 1) % 5}; });
  table.check();
}

TEST_CASE("philosophers_with_three_of_twenty_forks_at_random_eat_equally_often") {
  Table table{8, 20};
  table.eat([](std::size_t, std::minstd_rand& random) {
    Forks forks(20);
    for (std::size_t fork = 0; fork < forks.size(); ++fork) forks[fork] = fork;
    std::ranges::shuffle(forks, random);
    forks.resize(3);
    return forks;
  });
  table.check();
}
