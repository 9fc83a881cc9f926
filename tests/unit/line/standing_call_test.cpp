// A call that stands in the line of its client's engine.
#include <chrono>
#include <string>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/pursuit.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/standing_client.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

Pursuit::Call fair_call() {
  Pursuit::Call call{.claim = example_fenced_claim(),
                     .attempts = Pursuit::Attempts::until_time,
                     .give_up_at = at(1h),
                     .is_fair = true,
                     .owner_values = {std::string(40, '0'), "label"}};
  call.claim.heeds_flag = true;
  return call;
}
Reply held_by(const std::string& owner) { return array_reply({string_reply(owner), number(700)}); }

/// Answers everything that was sent, as nodes on which another client has the lock and nobody else stands in line.
void answer_all(EngineHarness& harness, Time now) {
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
    const std::string bytes = harness.take_bytes(node);
    std::vector<std::string_view> words;
    for (std::string_view rest = bytes; !rest.empty();) {
      take_command(rest, words);
      const bool is_line = words[1] == line_script.sha1;
      const bool is_grant = words[1] == grant_script.sha1;
      harness.engine.answered(node,
                              is_grant  ? held_by("other")
                              : is_line ? place_reply(words[7].empty() ? -1 : 0, words[7].empty() ? 0 : 1)
                                        : number(1),
                              now);
    }
  }
}

}  // namespace

TEST_CASE("replies_that_come_after_a_line_is_over_leave_nothing_to_do") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const Ref<Operation> call{new Pursuit{fair_call(), 3}};
  harness.engine.submit(call, at(0ms));
  for (int round = 0; round < 4; ++round) answer_all(harness, at(1ms));
  REQUIRE(harness.engine.lines()->waited_for() == 1);
  harness.engine.abandon(call, Errc::cancelled, at(2ms));
  answer_all(harness, at(3ms));  // the gate says that the line is empty
  REQUIRE(harness.engine.lines()->empty());
  answer_all(harness, at(4ms));  // the flag was taken down
  CHECK(harness.engine.timer() > at(4ms));
}
