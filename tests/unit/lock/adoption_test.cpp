// Taking over a lock from its owner: the differences from the acquisition of a free lock.
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

Claim adopting(Claim claim) {
  claim.adopted_owner = "before";
  return claim;
}

Reply somebody_elses() { return array_reply({string_reply("another"), number(500)}); }

/// An adoption that has sent its commands and has no replies yet.
struct StartedAdoption {
  explicit StartedAdoption(std::size_t nodes, Claim claim = example_claim())
      : outbox{nodes}, adoption{adopting(std::move(claim)), nodes, Acquisition::Purpose::try_once} {
    adoption.start(at(0ms), outbox);
    first = outbox.take();
  }
  void answer(NodeIndex node, const Reply& reply, Step step = asked) {
    adoption.answered(node, step, reply, at(1ms), outbox);
  }

  RecordingOutbox outbox;
  Acquisition adoption;
  std::vector<Sent> first;
};

/// Checks that every node gets `undo` once, and that nodes that are down get it when they come back.
void check_sent_everywhere(const std::vector<Sent>& sent, std::size_t nodes, const std::string& undo) {
  REQUIRE(sent.size() == nodes);
  for (NodeIndex node = 0; node < nodes; ++node) {
    CHECK(sent[node].node == node);
    CHECK(sent[node].command == undo);
    CHECK(sent[node].options.is_release);
  }
}
const std::string swap_back = swap_script.call({"key"}, {"me", "before", "1000"});
const std::string release = release_script.call({"key"}, {"me"});

}  // namespace

TEST_CASE("an_adoption_names_the_owner_that_it_expects") {
  const Claim plain = adopting(example_claim());
  CHECK(plain.set_command() == swap_script.call({"key"}, {"before", "me", "1000"}));
  CHECK(plain.set_command(Form::source) ==
        command({"EVAL", swap_script.source, "1", "key", "before", "me", "1000"}));
  const Claim fenced = adopting(example_fenced_claim());
  CHECK(fenced.set_command() ==
        grant_script.call({"key", fenced.fence->counter_key}, {"me", "1000", "100", "86400000", "before"}));
  Claim guarded = plain;
  guarded.marker_keys = &keys_without_prefix;
  CHECK(guarded.set_command() + RequiredMarker{"beginning", "ending"}.arguments() ==
        command({"EVALSHA", swap_script.sha1, "3", "key", "redlock:node", "redlock:quarantine", "before",
                 "me", "1000", "beginning", "ending"}));
  for (const Claim& claim : {plain, fenced, guarded})
    CHECK(claim.undo_command() == swap_script.call({"key"}, {"me", "before", "1000"}));
}

TEST_CASE("an_adoption_that_swaps_a_majority_gets_the_lock") {
  StartedAdoption started{3};
  REQUIRE(started.first.size() == 3);
  started.answer(2, number(1));
  CHECK_FALSE(started.adoption.done());
  started.answer(0, number(1));
  REQUIRE(started.adoption.granted());
  CHECK(started.adoption.valid_until() == at(988ms));
  const Claim claim = started.adoption.take_claim();
  CHECK(claim.owner == "me");
  CHECK(claim.undo_command() == claim.release_command());
  CHECK(started.outbox.sent().empty());
}

TEST_CASE("an_adopted_lock_has_the_token_that_a_majority_agreed_on") {
  StartedAdoption started{3, example_fenced_claim()};
  started.answer(0, number(101));
  started.answer(1, number(100));
  REQUIRE(started.outbox.sent().size() == 1);
  CHECK(started.outbox.sent()[0].command == adopting(example_fenced_claim()).confirm_command(100, 101));
  started.answer(2, number(101));
  REQUIRE(started.adoption.granted());
  CHECK(started.adoption.take_claim().token == 101);
}

TEST_CASE("a_lock_without_a_majority_for_its_owner_is_released_everywhere") {
  StartedAdoption started{3};
  started.answer(1, number(1));
  started.answer(0, somebody_elses());
  CHECK_FALSE(started.adoption.done());
  started.answer(2, somebody_elses());
  REQUIRE(started.adoption.done());
  CHECK(started.adoption.failure() == Errc::held);
  check_sent_everywhere(started.outbox.sent(), 3, release);
}

TEST_CASE("a_lock_split_among_several_adopters_is_returned_to_its_owner") {
  const auto held_by = [](const std::string& owner) {
    Reply reply = somebody_elses();
    reply.elements[0] = string_reply(owner);
    return reply;
  };
  for (const std::string& third : {std::string{"a third"}, std::string{}}) {
    StartedAdoption started{3};
    started.answer(0, number(1));
    started.answer(1, somebody_elses());
    started.answer(2, held_by(third));
    CHECK(started.adoption.failure() == Errc::held);
    check_sent_everywhere(started.outbox.sent(), 3, swap_back);
  }
}

TEST_CASE("an_adoption_without_a_majority_of_replies_is_swapped_back_everywhere") {
  StartedAdoption started{5};
  started.answer(0, number(1));
  started.answer(1, number(1));
  started.adoption.timed_out(at(50ms), started.outbox);
  CHECK(started.adoption.failure() == Errc::no_quorum);
  check_sent_everywhere(started.outbox.take(), 5, swap_back);
  started.answer(2, number(1));
  CHECK(started.adoption.failure() == Errc::no_quorum);
  CHECK(started.outbox.sent().empty());
}

TEST_CASE("a_server_without_the_scripts_gets_their_source_for_the_swap_and_the_swap_back") {
  StartedAdoption started{1};
  started.answer(0, noscript());
  REQUIRE(started.outbox.sent().size() == 1);
  CHECK(started.outbox.take()[0].command == adopting(example_claim()).set_command(Form::source));
  started.adoption.timed_out(at(50ms), started.outbox);
  CHECK(started.adoption.failure() == Errc::no_quorum);
  check_sent_everywhere(started.outbox.take(), 1, swap_back);
  started.answer(0, noscript(), released);
  REQUIRE(started.outbox.sent().size() == 1);
  CHECK(started.outbox.sent()[0].command == adopting(example_claim()).undo_command(Form::source));
  CHECK(started.outbox.sent()[0].options.is_release);
}

TEST_CASE("nothing_is_swapped_after_the_swap_back") {
  StartedAdoption started{3};
  started.answer(0, somebody_elses());
  started.answer(1, somebody_elses());
  REQUIRE(started.adoption.done());
  started.outbox.take();
  started.answer(2, noscript());
  CHECK(started.outbox.sent().empty());
}
