// Details of extensions that the enumeration of outcomes does not cover: bytes, times and deadlines.
#include <chrono>
#include <string>
#include <vector>

#include "redlock/core/lease/extension.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::extension_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using Outcome = Extension::Outcome;

}  // namespace

TEST_CASE("an_extension_requests_the_whole_ttl_and_is_not_sent_after_its_deadline") {
  RecordingOutbox outbox{1};
  Extension extension{example_lease(500ms), 1};
  CHECK(extension.connections_wanted(1) == 0);
  extension.start(at(0ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command ==
        "*6\r\n$7\r\nEVALSHA\r\n$40\r\n20147b82a203305e1a8843d3dfe31a277668e089\r\n$1\r\n1\r\n$3\r\nkey\r\n"
        "$2\r\nme\r\n$4\r\n1000\r\n");
  CHECK(outbox.sent()[0].options.send_by == at(50ms));
  CHECK_FALSE(outbox.sent()[0].options.is_release);
}

TEST_CASE("an_extension_waits_until_the_node_timeout_or_the_old_deadline_whichever_comes_first") {
  RecordingOutbox outbox{1};
  Extension early{example_lease(500ms), 1};
  early.start(at(0ms), outbox);
  CHECK(early.deadline() == at(50ms));
  Extension late{example_lease(500ms), 1};
  late.start(at(470ms), outbox);
  CHECK(late.deadline() == at(500ms));
}

TEST_CASE("nothing_is_extended_at_or_after_the_old_deadline") {
  for (const Span past : {Span{-1}, Span{0}, Span{1}}) {
    RecordingOutbox outbox{3};
    Extension extension{example_lease(500ms), 3};
    extension.start(at(499ms), outbox);
    extension.answered(0, extended, number(1), at(499ms), outbox);
    CHECK_FALSE(extension.done());
    outbox.take();
    extension.answered(1, extended, number(1), at(500ms) + past, outbox);
    REQUIRE(extension.done());
    const bool in_time = past < Span::zero();
    CHECK(extension.outcome() == (in_time ? Outcome::extended : Outcome::lost));
    CHECK(extension.lease().deadline() == (in_time ? at(499ms + 988ms) : at(500ms)));
    CHECK(outbox.sent().size() == (in_time ? 0 : 3));
    for (const Sent& sent : outbox.sent()) CHECK(sent.command == example_claim().release_command());
  }
}

TEST_CASE("an_extension_started_after_the_deadline_only_releases_on_every_node") {
  RecordingOutbox outbox{3};
  Extension extension{example_lease(500ms), 3};
  extension.start(at(500ms), outbox);
  REQUIRE(extension.done());
  CHECK(extension.outcome() == Outcome::lost);
  REQUIRE(outbox.sent().size() == 3);
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(outbox.sent()[node].node == node);
    CHECK(outbox.sent()[node].command == example_claim().release_command());
    CHECK(outbox.sent()[node].options.is_release);
    CHECK(outbox.sent()[node].options.send_by == at(1500ms));
  }
}

TEST_CASE("a_lost_lock_with_a_minimum_time_is_kept_until_then") {
  redlock::core::Claim claim = example_claim();
  claim.kept_until = at(510ms);
  RecordingOutbox outbox{1};
  Extension extension{example_lease(500ms, claim), 1};
  extension.start(at(500ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == release_script.call({"key"}, {"me", "10"}));
}

TEST_CASE("silence_until_the_old_deadline_is_a_loss_and_earlier_silence_is_doubt") {
  for (const bool at_the_end : {false, true}) {
    RecordingOutbox outbox{3};
    Extension extension{example_lease(500ms), 3};
    extension.start(at_the_end ? at(460ms) : at(0ms), outbox);
    outbox.take();
    extension.timed_out(extension.deadline(), outbox);
    REQUIRE(extension.done());
    CHECK(extension.outcome() == (at_the_end ? Outcome::lost : Outcome::in_doubt));
    CHECK(outbox.sent().size() == (at_the_end ? 3 : 0));
    CHECK(extension.tally()[0].trouble.status == NodeStatus::timed_out);
  }
}

TEST_CASE("an_extension_never_shortens_a_lease") {
  RecordingOutbox outbox{1};
  Extension extension{example_lease(5000ms), 1};
  extension.start(at(0ms), outbox);
  extension.answered(0, extended, number(1), at(1ms), outbox);
  REQUIRE(extension.outcome() == Outcome::extended);
  CHECK(extension.lease().deadline() == at(5000ms));
}

TEST_CASE("after_a_loss_nothing_is_extended_and_copies_stay_until_the_deadline") {
  RecordingOutbox outbox{3};
  const auto lease = example_lease(500ms);
  Extension extension{lease, 3};
  extension.start(at(0ms), outbox);
  extension.answered(0, extended, number(0), at(1ms), outbox);
  extension.answered(1, extended, number(0), at(1ms), outbox);
  REQUIRE(extension.outcome() == Outcome::lost);
  CHECK(outbox.take().size() == 3);  // those of the start
  extension.answered(2, extended, noscript(), at(2ms), outbox);
  CHECK(outbox.sent().empty());
  for (const Span when : {Span{499ms}, Span{500ms}}) {
    Extension another{lease, 3};
    another.start(at(when), outbox);
    CHECK(another.outcome() == Outcome::lost);
    CHECK(outbox.sent().size() == (when < 500ms ? 0 : 3));
  }
}

TEST_CASE("an_unknown_release_script_is_sent_as_source_after_a_loss") {
  RecordingOutbox outbox{3};
  Extension extension{example_lease(500ms), 3};
  extension.start(at(500ms), outbox);
  REQUIRE(extension.outcome() == Outcome::lost);
  CHECK(outbox.take().size() == 3);
  extension.answered(2, released, noscript(), at(503ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == example_claim().release_command(Form::source));
  CHECK(outbox.sent()[0].options.is_release);
}

TEST_CASE("a_script_that_stays_unknown_leaves_the_extension_in_doubt") {
  RecordingOutbox outbox{1};
  Extension extension{example_lease(500ms), 1};
  extension.start(at(0ms), outbox);
  extension.answered(0, extended, noscript(), at(1ms), outbox);
  extension.answered(0, extended_again, noscript(), at(2ms), outbox);
  REQUIRE(extension.done());
  CHECK(extension.outcome() == Outcome::in_doubt);
  CHECK(outbox.sent().size() == 2);
}

TEST_CASE("an_extension_does_not_wait_for_a_script_that_cannot_be_resent") {
  RecordingOutbox outbox{1};
  Extension extension{example_lease(500ms), 1};
  extension.start(at(0ms), outbox);
  outbox.refuse(0, NodeStatus::overloaded);
  extension.answered(0, extended, noscript(), at(1ms), outbox);
  REQUIRE(extension.done());
  CHECK(extension.outcome() == Outcome::in_doubt);
  CHECK(extension.tally()[0].trouble.status == NodeStatus::overloaded);
}

TEST_CASE("an_abandoned_extension_leaves_the_lease_in_doubt") {
  RecordingOutbox outbox{3};
  Extension extension{example_lease(500ms), 3};
  extension.start(at(0ms), outbox);
  outbox.take();
  extension.abandon(redlock::Errc::cancelled, at(10ms), outbox);
  REQUIRE(extension.done());
  CHECK(extension.outcome() == Outcome::in_doubt);
  CHECK(extension.lease().deadline() == at(500ms));
  CHECK(outbox.sent().empty());
}
