// A reader's copy that is put back arrives after the reader has left, and after a writer came and went.
#include <chrono>

#include "simulation/scenario/outcome.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

constexpr int earlier_reader = 0;
constexpr int writer = 1;
constexpr int later_reader = 2;

/// The earlier reader has the lock on nodes 2 and 3, and sends node 1 its copy when it renews its lease. The copy is under way
/// until the reader has released the lock by another connection, and the writer, on nodes 1 and 2, has released it as well.
/// Then the later reader gets nodes 1 and 3.
Schedule copy_that_is_put_back_late() {
  Schedule schedule;
  schedule.clients = 3;
  schedule.ttl = std::chrono::milliseconds{300};
  schedule.node_timeout = std::chrono::milliseconds{30};
  schedule.delay = millisecond;
  schedule.jitter = 0;
  schedule.heals = second;
  schedule.wall_offsets_us.assign(3, -2 * epoch_us);  // these clocks show 0, so tokens count the writers
  schedule.calls = {
      {.client = earlier_reader, .at = 0, .hold = 150 * millisecond, .shared = true, .renews = true},
      {.client = writer, .at = 160 * millisecond, .hold = 20 * millisecond},
      {.client = later_reader, .at = 470 * millisecond, .hold = 20 * millisecond, .shared = true}};
  const auto cut_off = [](int client, int node, Instant from, Instant until) {
    return Fault{
        .kind = Fault::Kind::partition, .at = from, .length = until - from, .client = client, .node = node};
  };
  schedule.faults = {cut_off(earlier_reader, 0, -warm_up, 50 * millisecond),
                     cut_off(writer, 2, -warm_up, second),
                     cut_off(later_reader, 1, -warm_up, second),
                     {.kind = Fault::Kind::slow,
                      .at = 101 * millisecond + millisecond / 2,
                      .length = millisecond,
                      .client = earlier_reader,
                      .node = 0,
                      .amount = 350 * millisecond},
                     {.kind = Fault::Kind::cut,
                      .at = 120 * millisecond,
                      .client = earlier_reader,
                      .node = 0,
                      .amount = 1}};  // what is under way arrives
  return schedule;
}

}  // namespace

TEST_CASE("a_readers_copy_that_is_put_back_late_makes_later_readers_tokens_greater_than_the_last_writers") {
  const Outcome outcome = outcome_of(copy_that_is_put_back_late());
  CHECK_FALSE(outcome.violation);
  REQUIRE(outcome.leases.size() == 3);
  CHECK(outcome.leases[later_reader].token > outcome.leases[writer].token);
}

TEST_CASE("a_put_back_that_opens_a_lock_without_raising_the_counter_gives_a_reader_the_writers_token") {
  const Outcome outcome = outcome_of(copy_that_is_put_back_late(), "put-back-opens-without-raise");
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->rule == Rule::tokens);
}
