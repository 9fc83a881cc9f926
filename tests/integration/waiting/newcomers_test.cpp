// Calls that do not wait, or do not want to wait in order, while others stand in line.
#include <chrono>
#include <stop_token>
#include <string>

#include "integration/support/calls_in_turn.hpp"
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
using redlock::Order;
using redlock::Redlock;

struct Fixture {
  LocalNodes nodes{3};
  WaitingLine line{nodes, "r"};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
};

}  // namespace

TEST_CASE("one_attempt_succeeds_soon_after_the_last_one_has_left_the_line") {
  Fixture f;
  f.line.take("somebody");
  const bool by_stop = GENERATE(true, false);
  if (by_stop) {
    CallsInTurn calls{"r"};
    calls.add(f.locks);
    calls.add(f.others);
    REQUIRE(eventually([&] { return f.line.length() == 2 && f.line.flags() == 3; }));
  } else {
    CHECK(f.locks.try_lock_for("r", 1s).is_held());
  }
  f.line.free();
  // The flag would live for 5.7 to 6.5 s more.
  CHECK(eventually([&] { return is_granted(f.others.try_lock("r")) && f.line.flags() == 0; }, 3s));
}

TEST_CASE("one_attempt_does_not_overtake_the_line_when_a_minority_of_the_nodes_is_free") {
  Fixture f;
  f.line.take("somebody");
  CallsInTurn calls{"r"};
  calls.add(f.locks);
  REQUIRE(eventually([&] { return f.line.flags() == 3; }));
  CHECK(f.others.try_lock("r").is_held());
  f.line.free();
  CHECK(eventually([&] { return calls.served().size() == 1; }));
}

// It would ask for the lock in the last 2 ms, in which a busy machine may get no answer.
TEST_CASE("a_short_wait_behind_others_of_the_same_client_times_out_like_a_long_one") {
  Fixture f;
  f.line.take("somebody");
  CallsInTurn calls{"r"};
  calls.add(f.locks);
  REQUIRE(eventually([&] { return f.line.flags() == 3; }));
  for (int wait = 3; wait < 50; ++wait)
    CHECK(f.locks.try_lock_for("r", std::chrono::milliseconds{wait}).code() == redlock::Errc::timed_out);
}

// Right after a wait, a client joins the line without an attempt, so as not to overtake. That costs two round trips more.
TEST_CASE("a_client_that_was_the_last_one_in_line_does_not_stand_there_again") {
  Fixture f;
  Observers servers{f.nodes};
  f.line.take("somebody");
  CallsInTurn calls{"r"};
  calls.add(f.locks);
  REQUIRE(eventually([&] { return f.line.flags() == 3; }));
  f.line.free();
  REQUIRE(eventually([&] { return calls.served().size() == 1 && f.line.keys().empty(); }));
  calls.allow_releases(1);
  REQUIRE(eventually([&] { return servers.empty() == 3; }));
  const auto entries = servers.calls("zadd");
  for (int call = 0; call < 20; ++call) CHECK(is_granted(f.locks.lock("r")));
  CHECK(servers.calls("zadd") == entries);
}

TEST_CASE("calls_without_order_get_the_lock_and_stand_in_no_line") {
  Fixture f;
  f.line.take("somebody");
  CallsInTurn calls{"r", {.ttl = 60s, .order = Order::none}};
  calls.add(f.locks);
  calls.add(f.others);
  CHECK(f.others.try_lock_for("r", 1s, {.order = Order::none}).is_held());
  CHECK(f.line.keys().empty());
  f.line.free();
  calls.allow_releases(2);
  CHECK(eventually([&] { return calls.served().size() == 2; }));
  CHECK(f.line.keys().empty());
}

TEST_CASE("calls_with_and_without_order_all_get_the_lock") {
  Fixture f;
  CallsInTurn fair{"r"};
  CallsInTurn unfair{"r", {.ttl = 60s, .order = Order::none}};
  f.line.take("somebody");
  for (int call = 0; call < 4; ++call) {
    fair.add(f.locks);
    unfair.add(f.others);
  }
  f.line.free();
  fair.allow_releases(4);
  unfair.allow_releases(4);
  CHECK(eventually([&] { return fair.served().size() == 4 && unfair.served().size() == 4; }));
}
