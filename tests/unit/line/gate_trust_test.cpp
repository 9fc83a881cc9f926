// When a client does not believe the node that orders its lines.
#include "redlock/core/line/gate_trust.hpp"

#include <chrono>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::core::GateTrust;
using redlock::testing::at;

}  // namespace

TEST_CASE("a_gate_that_was_contradicted_once_is_believed") {
  GateTrust gate;
  CHECK_FALSE(gate.contradicted(at(10s), 6500ms));
  CHECK_FALSE(gate.is_lost(at(10s)));
  SECTION("also when several calls find out at the same time") {
    CHECK_FALSE(gate.contradicted(at(10s), 6500ms));
    CHECK_FALSE(gate.contradicted(at(16s), 6500ms));
    CHECK_FALSE(gate.is_lost(at(16s)));
  }
  SECTION("and when the next time is ten minutes later") {
    CHECK_FALSE(gate.contradicted(at(610s), 6500ms));
    CHECK_FALSE(gate.is_lost(at(610s)));
  }
}

TEST_CASE("a_gate_that_was_contradicted_twice_is_not_believed_for_a_minute") {
  GateTrust gate;
  gate.contradicted(at(10s), 6500ms);
  CHECK(gate.contradicted(at(16500ms), 6500ms));
  CHECK(gate.is_lost(at(16500ms)));
  CHECK(gate.is_lost(at(76s)));
  CHECK_FALSE(gate.is_lost(at(76500ms)));
  SECTION("and again after the next time in ten minutes") {
    CHECK(gate.contradicted(at(600s), 6500ms));
    CHECK(gate.is_lost(at(600s)));
  }
}
