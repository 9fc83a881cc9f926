#include "redlock/core/lock/inspection.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/enumeration.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using Mark = Tally::Mark;

enum : Step { owner, life, counter, time, order, alive, counter_again, readers_of };

enum class Fate { held, free, in_error, lost, lost_between, late, refused };
const std::vector<Fate> all_fates{Fate::held,         Fate::free, Fate::in_error, Fate::lost,
                                  Fate::lost_between, Fate::late, Fate::refused};

std::string name(Fate fate) {
  static const char* const names[] = {"held", "free", "error", "lost", "lost-between", "late", "refused"};
  return names[static_cast<std::size_t>(fate)];
}
std::size_t news(Fate fate) {
  if (fate == Fate::late || fate == Fate::refused) return 0;
  return fate == Fate::in_error || fate == Fate::lost ? 1 : 2;
}
Mark mark_of(Fate fate) {
  if (fate == Fate::held) return Mark::no;
  return fate == Fate::free ? Mark::yes : Mark::unknown;
}

/// A look is done with the last news of the last node, not sooner and not later.
std::string complaint_about(const Scenario<Fate>& scenario) {
  const std::size_t nodes = scenario.fates.size();
  RecordingOutbox outbox{nodes};
  Inspection inspection{"key", nodes, 50ms};
  std::vector<std::size_t> missing;
  bool all_known = true;
  for (NodeIndex node = 0; node < nodes; ++node) {
    const Fate fate = scenario.fates[node];
    if (fate == Fate::refused) outbox.refuse(node);
    missing.push_back(fate == Fate::late ? 1 : news(fate));
    all_known = all_known && missing[node] == 0;
  }
  inspection.start(at(0ms), outbox);
  if (inspection.done() != all_known)
    return told(scenario, name) + ": done too early or too late at the start";
  for (const NodeIndex node : scenario.arrivals) {
    const Fate fate = scenario.fates[node];
    const bool last = --missing[node] == 0;
    if (fate == Fate::lost || (fate == Fate::lost_between && last))
      inspection.disconnected(node, lost_connection(), at(1ms), outbox);
    else if (fate == Fate::in_error)
      inspection.answered(node, owner, loading(), at(1ms), outbox);
    else if (!last)
      inspection.answered(node, owner, string_reply(fate == Fate::free ? "" : "them"), at(1ms), outbox);
    else
      inspection.answered(node, life, number(fate == Fate::free ? -2 : 700), at(1ms), outbox);
    all_known =
        std::count(missing.begin(), missing.end(), std::size_t{0}) == static_cast<std::ptrdiff_t>(nodes);
    if (inspection.done() != all_known) return told(scenario, name) + ": done too early or too late";
  }
  inspection.timed_out(at(50ms), outbox);
  for (NodeIndex node = 0; node < nodes; ++node)
    if (!inspection.done() || !inspection.tally().is(node, mark_of(scenario.fates[node])))
      return told(scenario, name) + ": wrong about node " + std::to_string(node);
  return {};
}

/// One node that is asked and answers both questions.
Tally::Ballot ballot_after(const Reply& value, const Reply& left) {
  RecordingOutbox outbox{1};
  Inspection inspection{"key", 1, 50ms};
  inspection.start(at(0ms), outbox);
  inspection.answered(0, owner, value, at(1ms), outbox);
  inspection.answered(0, life, left, at(1ms), outbox);
  REQUIRE(inspection.done());
  return inspection.tally()[0];
}

Reply members(const std::vector<std::pair<std::string, std::string>>& scored) {
  std::vector<Reply> replies;
  for (const auto& [member, score] : scored) {
    replies.push_back(string_reply(member));
    replies.push_back(string_reply(score));
  }
  return array_reply(std::move(replies));
}

/// The line of one node with these replies. The key is free.
std::vector<StandingMember> line_after(const Reply& clock, const Reply& ordered, const Reply& living) {
  RecordingOutbox outbox{1};
  Inspection inspection{"key", 1, 50ms};
  inspection.start(at(0ms), outbox);
  inspection.answered(0, time, clock, at(1ms), outbox);
  inspection.answered(0, order, ordered, at(1ms), outbox);
  inspection.answered(0, alive, living, at(1ms), outbox);
  inspection.answered(0, owner, string_reply(""), at(1ms), outbox);
  CHECK_FALSE(inspection.done());
  inspection.answered(0, life, number(-2), at(1ms), outbox);
  CHECK(inspection.tally().is(0, Mark::yes));
  return inspection.line(0);
}

/// All scenarios of five nodes in which the last one has this fate. All fates in one test case would take minutes
/// under a sanitizer on a busy machine.
void explore_five(Fate fate_of_the_last) {
  CHECK(explore_with_last(fate_of_the_last, 5, all_fates, news, complaint_about) == orders_of_many * 2'401);
}

}  // namespace

TEST_CASE("an_inspection_of_up_to_three_nodes_is_done_when_every_node_has_answered_or_cannot") {
  CHECK(explore(1, all_fates, news, complaint_about) == 7);
  CHECK(explore(3, all_fates, news, complaint_about) > 343);
}

// Each of the seven fates of the last node.

TEST_CASE("an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_is_held") {
  explore_five(Fate::held);
}

TEST_CASE("an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_is_free") {
  explore_five(Fate::free);
}

TEST_CASE(
    "an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_answers_with_an_"
    "error") {
  explore_five(Fate::in_error);
}

TEST_CASE("an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_disconnects") {
  explore_five(Fate::lost);
}

TEST_CASE(
    "an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_disconnects_between_"
    "its_answers") {
  explore_five(Fate::lost_between);
}

TEST_CASE("an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_answers_late") {
  explore_five(Fate::late);
}

TEST_CASE("an_inspection_of_five_nodes_is_done_as_early_as_possible_if_the_last_is_unreachable") {
  explore_five(Fate::refused);
}

TEST_CASE("an_inspection_asks_each_node_for_the_line_the_counter_the_owner_value_and_the_ttl") {
  RecordingOutbox outbox{2};
  Inspection inspection{"key", 2, 50ms};
  CHECK(inspection.connections_wanted(2) == 2);
  inspection.start(at(0ms), outbox);
  CHECK(inspection.deadline() == at(50ms));
  const std::string questions[] = {command({"TIME"}),
                                   command({"ZRANGE", "redlock:qo:{key}", "0", "99", "WITHSCORES"}),
                                   command({"ZRANGE", "redlock:qa:{key}", "0", "99", "WITHSCORES"}),
                                   command({"EVAL", readers_source, "1", "key", "redlock:s:{key}"}),
                                   command({"GETRANGE", "redlock:f:{key}", "0", "16"}),
                                   command({"GETRANGE", "key", "0", "1023"}),
                                   command({"GETRANGE", "redlock:f:{key}", "0", "16"}),
                                   command({"PTTL", "key"})};
  REQUIRE(outbox.sent().size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const Sent& sent = outbox.sent()[i];
    CHECK(sent.node == i / 8);
    CHECK(sent.command == questions[i % 8]);
    CHECK(sent.options.send_by == at(50ms));
    CHECK_FALSE(sent.options.is_release);
  }
}

TEST_CASE("a_counter_belongs_to_an_owner_if_it_did_not_change_while_the_owner_was_read") {
  const auto holding_after = [](const char* before, const char* after) {
    RecordingOutbox outbox{3};
    Inspection inspection{"key", 3, 50ms};
    inspection.start(at(0ms), outbox);
    for (NodeIndex node = 0; node < 3; ++node) {
      inspection.answered(node, counter, string_reply(before), at(1ms), outbox);
      inspection.answered(node, owner, string_reply("them"), at(1ms), outbox);
      inspection.answered(node, counter_again, string_reply(node < 2 ? after : before), at(1ms), outbox);
      inspection.answered(node, life, number(700), at(1ms), outbox);
    }
    CHECK(inspection.tally()[0].counter == 7);
    return inspection.holding();
  };
  CHECK(holding_after("7", "7") == Holding{"them", 7});
  CHECK(holding_after("7", "8") == Holding{"them", 0});
}

TEST_CASE("a_node_that_refuses_the_first_command_is_not_sent_the_second") {
  RecordingOutbox outbox{1};
  outbox.refuse(0, NodeStatus::overloaded);
  Inspection inspection{"key", 1, 50ms};
  inspection.start(at(0ms), outbox);
  CHECK(inspection.done());
  CHECK(outbox.sent().size() == 1);
  CHECK(inspection.tally()[0].trouble.status == NodeStatus::overloaded);
}

TEST_CASE("the_owner_and_the_ttl_of_an_existing_key_are_reported") {
  const Tally::Ballot held = ballot_after(string_reply("them"), number(700));
  CHECK(held.mark == Mark::no);
  CHECK(held.owner == "them");
  CHECK(held.ttl == 700ms);

  const Tally::Ballot for_ever = ballot_after(string_reply("them"), number(-1));
  CHECK(for_ever.mark == Mark::no);
  CHECK(for_ever.owner == "them");
  CHECK_FALSE(for_ever.ttl);

  const Tally::Ballot of_nobody = ballot_after(string_reply(""), number(700));
  CHECK(of_nobody.mark == Mark::no);
  CHECK(of_nobody.owner == "");
}

TEST_CASE("an_inspection_tells_who_stands_in_line_and_for_how_long_without_the_dead") {
  const std::vector<StandingMember> line = line_after(
      array_reply({string_reply("1795442531"), string_reply("250000")}),
      members({{"first", "1795442530000000"}, {"dead", "1795442530500000"}, {"ahead", "1999999999000000"}}),
      members({{"dead", "1795442531249999"}, {"first", "1795442531250001"}}));
  REQUIRE(line.size() == 2);
  CHECK(line[0].label == "first");
  CHECK(line[0].waited == 1250ms);
  CHECK(line[1].label == "ahead");  // by a clock that was set back since
  CHECK(line[1].waited == 0ms);
}

TEST_CASE("a_client_in_line_is_named_by_16_hex_digits_and_everything_else_is_a_label") {
  CHECK(read_member("0123456789abcdef.web3:4711 backup", 5ms) ==
        StandingMember{"0123456789abcdef", "web3:4711 backup", 5ms});
  CHECK(read_member("0123456789abcdef.", 5ms) == StandingMember{"0123456789abcdef", "", 5ms});
  for (const char* const other : {"", "0123456789abcdef", "0123456789abcde.x", "0123456789abcdef0.x",
                                  "0123456789ABCDEF.x", "\x1b[2J456789abcdef.x"})
    CHECK(read_member(other, 5ms) == StandingMember{"", other, 5ms});
}

TEST_CASE("a_node_that_does_not_show_its_line_tells_the_rest") {
  const Reply refused = error_reply("NOPERM this user has no permissions to run the 'zrange' command");
  const Reply now = array_reply({string_reply("1000"), string_reply("0")});
  const Reply good = members({{"one", "999000000"}});
  CHECK(line_after(now, good, good).empty());  // it is dead
  CHECK(line_after(now, good, refused).size() == 1);
  CHECK(line_after(now, refused, refused).empty());
  CHECK(line_after(refused, good, array_reply({})).empty());
  CHECK(line_after(array_reply({string_reply("1000"), string_reply("x")}), good, array_reply({})).empty());
  for (const char* const score : {"", "inf", "nan", "1 ", "x", "1.5", "1e9", "9999999999999999999"})
    CHECK(line_after(now, members({{"one", score}}), array_reply({})).empty());
}

TEST_CASE("an_inspection_tells_who_the_readers_are_if_the_node_shows_them") {
  const bool shows_them = GENERATE(true, false);
  RecordingOutbox outbox{2};
  Inspection inspection{"key", 2, 50ms};
  inspection.start(at(0ms), outbox);
  inspection.answered(0, readers_of,
                      shows_them
                          ? array_reply({number(120), string_reply("one"), number(1), string_reply("two")})
                          : error_reply("NOPERM this user has no permissions"),
                      at(1ms), outbox);
  inspection.answered(1, readers_of, array_reply({number(0)}), at(1ms), outbox);
  CHECK_FALSE(inspection.done());
  for (NodeIndex node = 0; node < 2; ++node) {
    inspection.answered(node, owner, string_reply(node == 0 ? "redlock:shared" : ""), at(1ms), outbox);
    inspection.answered(node, life, number(node == 0 ? 700 : -2), at(1ms), outbox);
  }
  REQUIRE(inspection.done());
  CHECK(inspection.tally().is(0, Mark::no));
  CHECK(inspection.tally()[0].owner == "redlock:shared");
  CHECK(inspection.readers(0) ==
        (shows_them ? std::vector<std::string>{"one", "two"} : std::vector<std::string>{}));
  CHECK(inspection.reader_count(0) == (shows_them ? 120 : 0));
  CHECK(inspection.readers(1).empty());
  CHECK(inspection.reader_count(1) == 0);
}

TEST_CASE("a_node_has_at_least_the_readers_that_it_names_to_an_inspection") {
  RecordingOutbox outbox{1};
  Inspection inspection{"key", 1, 50ms};
  inspection.start(at(0ms), outbox);
  const Reply count = GENERATE(number(-1), number(1), string_reply("3"));
  inspection.answered(0, readers_of, array_reply({count, string_reply("one"), string_reply("two")}), at(1ms),
                      outbox);
  CHECK(inspection.reader_count(0) == inspection.readers(0).size());
}

TEST_CASE("a_key_that_expires_between_the_two_replies_is_free") {
  const Tally::Ballot expired = ballot_after(string_reply("them"), number(-2));
  CHECK(expired.mark == Mark::yes);
  CHECK_FALSE(expired.owner);
  CHECK_FALSE(expired.ttl);
}

TEST_CASE("an_unexpected_reply_to_an_inspection_is_no_vote") {
  CHECK(ballot_after(wrongtype(), number(-1)).trouble.status == NodeStatus::wrong_type);
  CHECK(ballot_after(number(1), number(700)).trouble.status == NodeStatus::protocol_error);
  CHECK(ballot_after(string_reply("them"), string_reply("700")).trouble.status == NodeStatus::protocol_error);
  CHECK(ballot_after(string_reply("them"), loading()).trouble.status == NodeStatus::loading);
}

TEST_CASE("a_valid_counter_is_reported_and_its_reply_is_not_waited_for") {
  const auto counter_after = [](const Reply& reply) {
    RecordingOutbox outbox{1};
    Inspection inspection{"key", 1, 50ms};
    inspection.start(at(0ms), outbox);
    inspection.answered(0, counter, reply, at(1ms), outbox);
    CHECK_FALSE(inspection.done());
    return inspection.tally()[0].counter;
  };
  CHECK(counter_after(string_reply("9007199254740991")) == 9'007'199'254'740'991);
  for (const char* const text : {"", "-1", "1e3", "many", "7 ", "9007199254740992", "12345678901234567"})
    CHECK_FALSE(counter_after(string_reply(text)));
  CHECK_FALSE(counter_after(wrongtype()));
}

TEST_CASE("replies_after_an_inspection_change_nothing") {
  RecordingOutbox outbox{2};
  Inspection inspection{"key", 2, 50ms};
  inspection.start(at(0ms), outbox);
  inspection.answered(0, owner, string_reply("them"), at(1ms), outbox);
  inspection.answered(0, life, number(700), at(1ms), outbox);
  inspection.abandon(redlock::Errc::cancelled, at(2ms), outbox);
  REQUIRE(inspection.done());
  inspection.answered(1, owner, string_reply("them"), at(3ms), outbox);
  inspection.answered(1, life, number(700), at(3ms), outbox);
  inspection.disconnected(0, lost_connection(), at(3ms), outbox);
  CHECK(inspection.tally().is(0, Mark::no));
  CHECK(inspection.tally().is(1, Mark::unknown));
  CHECK_FALSE(inspection.tally()[1].owner);
}
