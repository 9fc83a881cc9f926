// Sessions and operations together: who waits for whom, and whose a reply is.
#include "redlock/core/engine.hpp"

#include <string>
#include <vector>

#include "redlock/core/acquisition.hpp"
#include "redlock/core/inspection.hpp"
#include "redlock/core/removal.hpp"
#include "support/catch.hpp"
#include "unit/connected.hpp"
#include "unit/recorder.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock;
using namespace redlock::core;
using namespace redlock::testing;

/// A client of so many nodes, and what its shell would do.
struct World {
  explicit World(std::size_t nodes) : engine{settings(nodes), 500ms} {}

  static std::vector<Session::Settings> settings(std::size_t nodes) {
    std::vector<Session::Settings> all;
    for (std::size_t node = 0; node < nodes; ++node)
      all.push_back(session_settings("node " + std::to_string(node)));
    return all;
  }
  void connect(NodeIndex node, Span when) { connect(node, when, engine.session(node).name()); }
  void connect(NodeIndex node, Span when, const std::string& run_id) {
    engine.session(node).take_farewell();
    REQUIRE(engine.session(node).take_dial());
    engine.connected(node, at(when));
    take_unsent(node);
    for (const Reply& reply : greeting_replies(run_id)) engine.answered(node, reply, at(when));
  }
  std::string take_unsent(NodeIndex node) {
    std::string bytes{engine.session(node).unsent()};
    engine.session(node).sent(bytes.size());
    return bytes;
  }
  Ref<Acquisition> acquire(Span when, const std::string& owner = "me", Time give_up_at = never) {
    Claim claim = example_claim();
    claim.owner = owner;
    Ref<Acquisition> fresh{new Acquisition{claim, engine.nodes(), Acquisition::Purpose::try_once}};
    fresh->give_up_at = give_up_at;
    engine.submit(Ref<Operation>{fresh.get()}, at(when));
    return fresh;
  }
  /// All nodes ready, and long ago.
  void settle() {
    acquire(0s)->give_up_at = at(0s);
    for (NodeIndex node = 0; node < engine.nodes(); ++node) connect(node, 0s);
    for (NodeIndex node = 0; node < engine.nodes(); ++node) {
      take_unsent(node);
      engine.answered(node, ok(), at(1ms));
    }
    engine.finished().clear();
  }

  Engine engine;
};

}  // namespace

TEST_CASE("a_first_call_starts_when_a_majority_is_connected_and_the_others_had_as_long_again", "[engine]") {
  World world{3};
  const auto attempt = world.acquire(0s);
  world.connect(0, 10ms);
  CHECK(world.take_unsent(0).empty());
  world.connect(1, 20ms);
  CHECK(world.take_unsent(0).empty());
  CHECK(world.engine.timer() == at(40ms));
  world.engine.on_time(at(40ms));
  CHECK_THAT(world.take_unsent(0), contains("SET"));
  CHECK_THAT(world.take_unsent(1), contains("SET"));
  // The validity counts from here, and the slow node is asked as soon as it is there.
  CHECK((attempt->begun() == at(40ms)));
  world.connect(2, 60ms);
  CHECK_THAT(world.take_unsent(2), contains("SET"));
}

TEST_CASE("a_first_call_starts_at_once_when_all_are_connected", "[engine]") {
  World world{3};
  const auto attempt = world.acquire(0s);
  for (NodeIndex node = 0; node < 3; ++node) world.connect(node, 10ms);
  CHECK((attempt->begun() == at(10ms)));
}

TEST_CASE("a_first_call_reports_no_quorum_as_soon_as_none_can_be", "[engine]") {
  World world{3};
  const auto attempt = world.acquire(0s);
  world.engine.disconnected(0, {NodeStatus::unreachable, "refused"}, at(1ms));
  CHECK_FALSE(attempt->done());
  world.engine.disconnected(1, {NodeStatus::unreachable, "refused"}, at(2ms));
  REQUIRE(attempt->done());
  CHECK(attempt->failure() == Errc::no_quorum);
  CHECK(world.engine.finished().size() == 1);
}

TEST_CASE("a_first_call_waits_for_connections_no_longer_than_the_connect_timeout", "[engine]") {
  World world{3};
  const auto attempt = world.acquire(0s);
  for (NodeIndex node = 0; node < 3; ++node) REQUIRE(world.engine.session(node).take_dial());
  world.engine.on_time(at(499ms));
  CHECK_FALSE(attempt->done());
  world.engine.on_time(at(500ms));
  REQUIRE(attempt->done());
  CHECK(attempt->failure() == Errc::no_quorum);
  CHECK(attempt->tally()[0].trouble.status == NodeStatus::timed_out);
}

TEST_CASE("a_release_waits_for_no_connection_but_will_be_sent", "[engine]") {
  World world{1};
  const Ref<Removal> removal{new Removal{example_claim(), 1, never}};
  world.engine.submit(Ref<Operation>{removal.get()}, at(0s));
  CHECK((removal->deadline() == at(50ms)));
  world.connect(0, 10ms);
  CHECK_THAT(world.take_unsent(0), contains("EVALSHA"));
}

TEST_CASE("one_server_under_two_names_is_refused", "[engine]") {
  World world{3};
  const auto attempt = world.acquire(0s);
  world.connect(0, 1ms, "same");
  world.connect(1, 2ms, "same");
  CHECK_FALSE(world.engine.session(1).ready());
  world.connect(2, 3ms, "other");
  REQUIRE(attempt->done());
  CHECK(attempt->failure() == Errc::misconfigured);
  CHECK(attempt->tally()[1].trouble.status == NodeStatus::same_node);
  CHECK_THAT(attempt->tally()[1].trouble.message, contains("node 0"));
}

TEST_CASE("a_late_reply_goes_to_who_asked_and_never_to_a_successor", "[engine]") {
  World world{1};
  world.settle();
  const auto slow = world.acquire(1s, "slow");
  world.engine.on_time(at(1s) + 50ms);  // its node timeout
  REQUIRE(slow->done());
  CHECK(slow->failure() == Errc::no_quorum);
  const auto next = world.acquire(1100ms, "next");
  const std::string sent = world.take_unsent(0);
  CHECK(sent.find("slow") < sent.find("EVALSHA"));  // SET, its release, and only then the next SET
  CHECK(sent.find("EVALSHA") < sent.find("next"));

  world.engine.answered(0, ok(), at(1200ms));  // slow's SET was executed after all
  CHECK_FALSE(next->done());
  CHECK(world.engine.late_replies() == 1);
  world.engine.answered(0, number(1), at(1200ms));  // and undone
  CHECK_FALSE(next->done());
  world.engine.answered(0, ok(), at(1140ms));
  CHECK(next->granted());
}

TEST_CASE("a_grant_whose_connection_breaks_before_the_decision_does_not_count", "[engine]") {
  World world{3};
  world.settle();
  const auto attempt = world.acquire(3s);
  world.engine.answered(0, ok(), at(3s) + 1ms);
  world.engine.disconnected(0, {NodeStatus::connection_lost, "reset"}, at(3s) + 2ms);
  world.engine.answered(1, ok(), at(3s) + 3ms);
  CHECK_FALSE(attempt->done());
  world.engine.answered(2, ok(), at(3s) + 4ms);
  CHECK(attempt->granted());
}

TEST_CASE("a_caller_who_gives_up_leaves_a_release_behind_each_set", "[engine]") {
  World world{3};
  world.settle();
  const auto attempt = world.acquire(3s, "me", at(3s) + 5ms);
  CHECK((world.engine.timer() <= at(3s) + 5ms));
  world.engine.on_time(at(3s) + 5ms);
  REQUIRE(attempt->done());
  CHECK(attempt->failure() == Errc::timed_out);
  for (NodeIndex node = 0; node < 3; ++node) {
    const std::string sent = world.take_unsent(node);
    CHECK(sent.find("SET") < sent.find("EVALSHA"));
    CHECK(sent.find("EVALSHA") != std::string::npos);
  }
}

TEST_CASE("one_who_stops_before_anything_was_sent_sends_nothing", "[engine]") {
  World world{1};
  const auto attempt = world.acquire(0s);
  world.engine.abandon(Ref<Operation>{attempt.get()}, Errc::cancelled, at(1ms));
  CHECK(attempt->failure() == Errc::cancelled);
  world.connect(0, 2ms);
  CHECK(world.take_unsent(0).empty());
  CHECK(world.engine.finished().size() == 1);
  CHECK(world.engine.active() == 0);
}

TEST_CASE("every_operation_is_finished_exactly_once", "[engine]") {
  World world{3};
  world.settle();
  std::vector<Ref<Acquisition>> attempts;
  for (int i = 0; i < 10; ++i) attempts.push_back(world.acquire(3s));
  for (int i = 0; i < 10; ++i)
    for (NodeIndex node = 0; node < 3; ++node) world.engine.answered(node, ok(), at(3s) + 1ms);
  CHECK(world.engine.active() == 0);
  CHECK(world.engine.finished().size() == 10);
  for (const auto& attempt : attempts) CHECK(attempt->granted());
  world.engine.on_time(at(1h));
  CHECK(world.engine.finished().size() == 10);
}

TEST_CASE("an_inspection_waits_for_all_nodes_that_may_yet_connect", "[engine]") {
  World world{3};
  const Ref<Inspection> look{new Inspection{"key", 3, 50ms}};
  world.engine.submit(Ref<Operation>{look.get()}, at(0s));
  world.connect(0, 1ms);
  world.connect(1, 2ms);
  world.engine.on_time(at(100ms));
  CHECK(world.take_unsent(0).empty());
  world.engine.disconnected(2, {NodeStatus::unreachable, "refused"}, at(110ms));
  CHECK_THAT(world.take_unsent(0), contains("PTTL"));
}

TEST_CASE("attention_is_needed_while_something_is_under_way_and_redialling_has_a_time", "[engine]") {
  World world{1};
  CHECK_FALSE(world.engine.needs_attention());
  CHECK(world.engine.background_timer() == never);
  world.settle();
  CHECK_FALSE(world.engine.needs_attention());
  world.engine.disconnected(0, {NodeStatus::connection_lost, "reset"}, at(10ms));  // not good for long
  CHECK(world.engine.needs_attention());                                           // to close it
  world.engine.session(0).take_farewell();
  CHECK_FALSE(world.engine.needs_attention());
  const Time redial = world.engine.background_timer();
  CHECK((redial > at(10ms) && redial <= at(60ms)));
  world.engine.on_time(redial);
  CHECK(world.engine.needs_attention());
}
