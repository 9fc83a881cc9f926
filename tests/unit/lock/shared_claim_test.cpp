// Claims to shared locks, and their acquisition: the differences from exclusive ones.
#include <chrono>
#include <string>
#include <vector>

#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/wire/resp.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::acquisition_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

const std::string counter = "redlock:f:{key}";
const std::string readers = "redlock:s:{key}";
const std::string own = "redlock:s:{key}:me";

/// An attempt of a reader that has sent its commands and has no replies yet.
struct StartedReader {
  explicit StartedReader(Claim claim = example_shared_claim())
      : attempt{std::move(claim), 3, Acquisition::Purpose::try_once} {
    attempt.start(at(0ms), outbox);
    first = outbox.take();
  }
  void answer(NodeIndex node, const Reply& reply, Step step = asked) {
    attempt.answered(node, step, reply, at(1ms), outbox);
  }
  /// Checks that every node gets the release once, and that nodes that are down get it when they come back.
  void check_released_everywhere() {
    const std::vector<Sent> sent = outbox.take();
    REQUIRE(sent.size() == 3);
    for (NodeIndex node = 0; node < 3; ++node) {
      CHECK(sent[node].node == node);
      CHECK(sent[node].command == shared_release_script.call({"key", readers}, {"me"}));
      CHECK(sent[node].options.is_release);
    }
  }

  RecordingOutbox outbox{3};
  Acquisition attempt;
  std::vector<Sent> first;
};

Claim downgrading() {
  Claim claim = example_shared_claim();
  claim.adopted_owner = "writer";
  return claim;
}

}  // namespace

TEST_CASE("the_commands_of_a_reader_name_the_set_of_readers_and_a_confirmation_its_own_key") {
  Claim claim = example_shared_claim();
  CHECK(claim.is_shared());
  CHECK(claim.copy_key() == own);
  CHECK(claim.set_command() == command({"EVALSHA", shared_grant_script.sha1, "3", "key", counter, readers,
                                        "me", "1000", "100", "86400000", ""}));
  CHECK(claim.undo_command() == claim.release_command());
  CHECK(claim.confirm_command(7, 9) ==
        command({"EVALSHA", confirm_script.sha1, "2", own, counter, "me", "7", "9", "86400000"}));
  CHECK(claim.release_command() ==
        command({"EVALSHA", shared_release_script.sha1, "2", "key", readers, "me"}));
  CHECK(claim.extend_command() == command({"EVALSHA", shared_extend_script.sha1, "3", "key", counter, readers,
                                           "me", "1000", "86400000"}));
  claim.acquired(9, at(0ms));
  CHECK(claim.put_back_command() == command({"EVALSHA", shared_put_back_script.sha1, "3", "key", counter,
                                             readers, "me", "1000", "9", "86400000"}));
}

TEST_CASE("the_marker_and_the_flag_come_behind_the_set_of_readers") {
  Claim claim = example_shared_claim();
  claim.marker_keys = &keys_without_prefix;
  claim.heeds_flag = true;
  CHECK(claim.set_command() + RequiredMarker{"beginning", "ending"}.arguments() ==
        command({"EVALSHA", shared_grant_script.sha1, "6", "key", counter, readers, "redlock:node",
                 "redlock:quarantine", "redlock:qw:{key}", "me", "1000", "100", "86400000", "", "beginning",
                 "ending"}));
}

TEST_CASE("a_readers_own_key_has_the_id_of_its_owner_value") {
  Claim claim = example_shared_claim();
  claim.belong_to("0123456789abcdef0123456789abcdef01234567 web3 @1");
  CHECK(claim.copy_key() == "redlock:s:{key}:0123456789abcdef");
  Claim writer = example_claim();
  writer.belong_to("another");
  CHECK(writer.copy_key() == "key");
}

TEST_CASE("a_reader_whose_counters_differ_confirms_the_greatest_on_its_own_key") {
  StartedReader started;
  for (const Sent& sent : started.first) CHECK(sent.command == example_shared_claim().set_command());
  started.answer(0, number(101));
  started.answer(1, number(100));
  CHECK_FALSE(started.attempt.done());
  const std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].node == 1);
  CHECK(sent[0].command == confirm_script.call({own, counter}, {"me", "100", "101", "86400000"}));
  started.answer(1, number(1), confirmed);
  REQUIRE(started.attempt.granted());
  const Claim claim = started.attempt.take_claim();
  CHECK(claim.token == 101);
  CHECK(claim.copy_key() == own);
}

TEST_CASE("a_reader_that_a_writer_keeps_out_releases_what_it_got") {
  StartedReader started;
  const Reply writer = array_reply({string_reply("writer"), number(500)});
  started.answer(0, number(100));
  started.answer(1, writer);
  started.answer(2, writer);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
  started.check_released_everywhere();
}

TEST_CASE("servers_learn_the_scripts_of_readers_by_their_source") {
  StartedReader started;
  started.answer(0, noscript());
  std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].command == example_shared_claim().set_command(Form::source));
  started.answer(0, number(101), asked_again);
  started.answer(1, number(101));
  CHECK(started.attempt.granted());
}

TEST_CASE("a_lease_of_a_reader_that_is_taken_back_does_not_mean_that_the_lock_is_free") {
  const bool is_shared = GENERATE(true, false);
  StartedReader started{is_shared ? example_shared_claim() : example_fenced_claim()};
  started.answer(0, number(100));
  started.answer(1, number(100));
  REQUIRE(started.attempt.granted());
  started.attempt.take_back(at(2ms), started.outbox);
  CHECK(started.outbox.released_keys.empty() == is_shared);
}

TEST_CASE("a_writer_that_becomes_a_reader_is_named_and_whatever_fails_is_released") {
  const Claim claim = downgrading();
  CHECK(claim.set_command() ==
        shared_grant_script.call({"key", counter, readers}, {"me", "1000", "100", "86400000", "writer"}));
  CHECK(claim.undo_command() == claim.release_command());
  CHECK(claim.undo_command(Form::source) == claim.release_command(Form::source));
  StartedReader started{downgrading()};
  started.answer(0, number(101));
  SECTION("because others have a majority") {
    for (const NodeIndex node : {1U, 2U})
      started.answer(node, array_reply({string_reply("another"), number(500)}));
    CHECK(started.attempt.failure() == Errc::held);
  }
  SECTION("because too few nodes answer") {
    started.attempt.timed_out(at(50ms), started.outbox);
    CHECK(started.attempt.failure() == Errc::no_quorum);
  }
  started.check_released_everywhere();
}
