// What the script of the waiting line says about those who stand before a member.
#include <string>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;

struct Line {
  ServerFixture server;

  /// A member looks, whose call has waited for no time. Members live for 4 s.
  std::string look(std::string_view member) {
    return server.command({"EVAL", redlock::core::line_script.source, "3", "order", "alive", "born", member,
                           "0", "4000", "0", "0"});
  }
};

TEST_CASE("a_member_is_told_when_all_before_it_will_have_been_removed") {
  Line line;
  REQUIRE_THAT(line.look("a"), contains("[0, 1, -1, "));
  line.server.now_ms += 300;
  REQUIRE_THAT(line.look("b"), contains("[1, 2, 3700, "));
  line.server.now_ms += 300;
  line.look("c");
  line.server.now_ms += 200;
  line.look("a");
  line.server.now_ms += 2'900;
  // The three still count as alive for 1100, 600 and 900 ms.
  REQUIRE_THAT(line.look("d"), contains("[3, 4, 1100, "));
  line.server.now_ms += 1'099;
  REQUIRE_THAT(line.look("d"), contains("[1, 2, 1, "));
  line.server.now_ms += 1;
  REQUIRE_THAT(line.look("d"), contains("[0, 1, -1, "));
}

}  // namespace
