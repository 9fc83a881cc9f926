// What is left behind by calls that waited in vain.
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/number_from.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Redlock;

constexpr int clients_in_vain = 3;
constexpr int threads_each = 10;
const int waits_each = static_cast<int>(number_from("REDLOCK_WAITS", 300)) / (clients_in_vain * threads_each);

/// Waits in vain, again and again, until the time is over or until the call is stopped.
void wait_in_vain(Redlock& locks, bool is_stopped, std::atomic<int>& granted) {
  for (int wait = 0; wait < waits_each; ++wait) {
    const auto time = std::chrono::milliseconds{1 + wait % 10 * 7};
    std::stop_source stop;
    const std::jthread stopper{[&, is_stopped] {
      if (is_stopped) std::this_thread::sleep_for(time), stop.request_stop();
    }};
    const auto result = locks.try_lock_for("r", is_stopped ? 60s : time, {}, stop.get_token());
    granted += result ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("hundreds_of_waits_that_end_in_vain_leave_nothing_behind") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  WaitingLine line{nodes, "r"};
  line.take("somebody");
  REQUIRE(servers.having("r") == 3);
  const std::size_t descriptors = count_descriptors();
  std::atomic<int> granted{0};
  {
    std::list<Redlock> clients;
    std::vector<std::jthread> callers;
    for (int client = 0; client < clients_in_vain; ++client) {
      Redlock& locks = clients.emplace_back(endpoints(nodes));
      CHECK(is_granted(locks.try_lock("warm up")));
      for (int caller = 0; caller < threads_each; ++caller)
        callers.emplace_back([&, caller] { wait_in_vain(locks, caller % 2 == 0, granted); });
    }
    callers.clear();
    CHECK(granted == 0);
    // The last one to leave takes everything along. Otherwise the keys would live for up to 8 s.
    CHECK(eventually([&] { return line.keys().empty(); }, 3s));
    line.free();
    CHECK(is_granted(clients.front().try_lock("r")));
  }
  CHECK(eventually([&] { return line.keys().empty(); }));
  for (RawClient& server : servers) CHECK(server.command({"PUBSUB", "CHANNELS", "redlock:turn:*"}) == "[]");
  CHECK(eventually([&] { return count_descriptors() == descriptors; }));
}

TEST_CASE("a_client_that_is_shut_down_while_it_waits_leaves_the_line") {
  LocalNodes nodes{3};
  WaitingLine line{nodes, "r"};
  line.take("somebody");
  {
    Redlock locks{endpoints(nodes)};
    auto call = std::async(std::launch::async, [&] { return locks.lock("r").code(); });
    REQUIRE(eventually([&] { return line.flags() == 3; }));
    locks.shut_down();
    CHECK(call.get() == Errc::cancelled);
  }
  CHECK(line.keys().empty());
}

TEST_CASE("a_client_that_is_destroyed_after_a_wait_that_was_stopped_leaves_no_flag") {
  LocalNodes nodes{3};
  WaitingLine line{nodes, "r"};
  line.take("somebody");
  {
    Redlock locks{endpoints(nodes)};
    std::stop_source stop;
    auto call = std::async(std::launch::async, [&] { return locks.lock("r", {}, stop.get_token()).code(); });
    REQUIRE(eventually([&] { return line.flags() == 3; }));
    stop.request_stop();
    CHECK(call.get() == Errc::cancelled);
  }
  CHECK(line.keys().empty());
}
