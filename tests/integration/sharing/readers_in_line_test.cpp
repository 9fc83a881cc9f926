// Readers and writers that wait: neither starves.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/calls_in_turn.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Redlock;

const LockOptions reader{.ttl = 60s, .shared = true};
const LockOptions writer{.ttl = 60s};

}  // namespace

TEST_CASE("readers_behind_a_writer_wait_for_it_and_then_get_the_lock_together") {
  TwoClients f;
  WaitingLine line{f.nodes, "r"};
  Lease first = f.locks.lock("r", reader).value();
  CallsInTurn writers{"r", writer};
  writers.add(f.others);
  REQUIRE(eventually([&] { return line.flags() == 3; }));
  CHECK(f.locks.try_lock("r", reader).is_held());  // it would overtake
  CallsInTurn readers{"r", reader};
  for (int pair = 0; pair < 2; ++pair) {
    readers.add(f.locks);
    readers.add(f.others);
  }
  REQUIRE(eventually([&] { return line.length() == 2; }));
  CHECK(readers.served().empty());
  CHECK(first.release() == redlock::Release::released);
  REQUIRE(eventually([&] { return writers.served().size() == 1; }));
  CHECK(readers.served().empty());
  writers.allow_releases(1);
  CHECK(eventually([&] { return readers.served().size() == 4; }));
}

TEST_CASE("the_first_reader_in_line_does_not_wait_for_other_readers") {
  TwoClients f;
  WaitingLine line{f.nodes, "r"};
  line.take("somebody");
  CallsInTurn readers{"r", reader};
  readers.add(f.locks);
  readers.add(f.others);
  REQUIRE(eventually([&] { return line.length() == 2 && line.flags() == 3; }));
  line.free();
  CHECK(eventually([&] { return readers.served().size() == 2; }));
}

TEST_CASE("a_writer_gets_the_lock_although_16_readers_come_and_go") {
  LocalNodes nodes{3};
  Redlock writing{endpoints(nodes)};
  std::vector<Redlock> reading;
  for (int client = 0; client < 4; ++client) reading.emplace_back(endpoints(nodes));
  std::atomic<bool> is_over = false;
  std::atomic<int> refused = 0;
  std::vector<std::atomic<int>> read(16);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < read.size(); ++number)
    threads.emplace_back([&, number] {
      while (!is_over) {
        const auto lease = reading[number % 4].try_lock_for("r", 60s, reader);
        if (!lease) ++refused;
        std::this_thread::sleep_for(5ms);
        ++read[number];
      }
    });
  const auto have_all_read = [&](int times) {
    return eventually([&] {
      return std::all_of(read.begin(), read.end(),
                         [&](const std::atomic<int>& each) { return each >= times; });
    });
  };
  CHECK(have_all_read(2));
  std::vector<redlock::Clock::duration> waits;
  for (int write = 0; write < 5; ++write)
    waits.push_back(time_of([&] { CHECK(is_granted(writing.try_lock_for("r", 60s, writer))); }));
  // On a busy machine, some writes take longer.
  CHECK(*std::min_element(waits.begin(), waits.end()) < 1s);
  for (std::atomic<int>& each : read) each = 0;
  CHECK(have_all_read(2));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 0);
}
