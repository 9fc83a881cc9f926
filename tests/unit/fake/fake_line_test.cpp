// The line of a node in memory, as an inspection reads it.
#include <chrono>
#include <string>

#include "fake/fake_node.hpp"
#include "redlock/core/line/line_view.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::detail::FakeNode;
using redlock::testing::at;

const LineKeys keys{"key"};

FakeNode::Now now(std::chrono::milliseconds time) { return {at(time), 1'795'442'531s + time}; }

void stand(FakeNode& node, const std::string& member, std::chrono::milliseconds waited, FakeNode::Now when) {
  const auto micros = std::chrono::microseconds{waited}.count();
  node.execute({"EVALSHA", std::string{line_script.sha1}, "3", keys.order, keys.alive, keys.born, member,
                std::to_string(micros), "4000", "0", "0"},
               when);
}

std::vector<StandingMember> line_of(FakeNode& node, FakeNode::Now when) {
  return read_line(node.execute({"ZRANGE", keys.order, "0", "99", "WITHSCORES"}, when),
                   node.execute({"ZRANGE", keys.alive, "0", "99", "WITHSCORES"}, when),
                   node.execute({"TIME"}, when));
}

}  // namespace

TEST_CASE("a_fake_node_shows_its_line_in_order_and_without_the_dead") {
  FakeNode node{"id"};
  CHECK(line_of(node, now(0ms)).empty());
  stand(node, "later", 0ms, now(1000ms));
  stand(node, "earlier", 500ms, now(1200ms));
  const auto line = line_of(node, now(1300ms));
  REQUIRE(line.size() == 2);
  CHECK(line[0].label == "earlier");
  CHECK(line[0].waited == 600ms);
  CHECK(line[1].label == "later");
  CHECK(line[1].waited == 300ms);
  REQUIRE(line_of(node, now(5100ms)).size() == 1);
  CHECK(line_of(node, now(5100ms))[0].label == "earlier");
}
