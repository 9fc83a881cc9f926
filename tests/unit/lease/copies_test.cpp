// Copies that are lost, put back and count again in successive extensions of one lease.
#include "redlock/core/lease/copies.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/release_operation.hpp"
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

/// A lease on some nodes, valid until 500 ms, and all its extensions.
class ExtensionRounds {
 public:
  explicit ExtensionRounds(std::size_t nodes, Claim held = example_claim())
      : claim{std::move(held)}, outbox{nodes}, lease{example_lease(500ms, claim)}, nodes_{nodes} {}

  Extension& begin() {
    rounds_.push_back(std::make_unique<Extension>(lease, nodes_));
    rounds_.back()->start(at(0ms), outbox);
    outbox.take();
    return *rounds_.back();
  }
  /// Passes a reply to the latest extension.
  void answer(NodeIndex node, Step step, const Reply& reply, Span after = 1ms) {
    rounds_.back()->answered(node, step, reply, at(after), outbox);
  }
  /// Runs a whole extension. Each node answers `y`es or `n`o, or is silent (`-`).
  Outcome round(std::string_view answers) {
    Extension& extension = begin();
    for (NodeIndex node = 0; node < nodes_; ++node)
      if (answers[node] != '-') answer(node, extended, number(answers[node] == 'y' ? 1 : 0));
    extension.timed_out(at(50ms), outbox);
    return extension.outcome();
  }
  /// The nodes on which the copy was to be put back since the last call; checks that nothing else was sent.
  std::string put_back_on() {
    std::string nodes;
    for (const Sent& sent : outbox.take()) {
      CHECK(sent.command == claim.put_back_command());
      CHECK(sent.options.step == put_back);
      CHECK_FALSE(sent.options.is_release);
      nodes += std::to_string(sent.node);
    }
    return nodes;
  }

  Claim claim;
  RecordingOutbox outbox;
  std::shared_ptr<LeaseState> lease;

 private:
  std::size_t nodes_;
  std::vector<std::unique_ptr<Extension>> rounds_;
};

}  // namespace

TEST_CASE("copies_lost_by_a_minority_are_put_back_once_a_majority_is_extended") {
  ExtensionRounds rounds{5};
  rounds.begin();
  rounds.answer(0, extended, number(0));
  rounds.answer(1, extended, number(1));
  rounds.answer(2, extended, number(1));
  CHECK(rounds.put_back_on().empty());
  rounds.answer(3, extended, number(1));
  CHECK(rounds.put_back_on() == "0");
  rounds.answer(4, extended, number(0));  // after the extension is decided
  CHECK(rounds.put_back_on() == "4");
}

TEST_CASE("nothing_is_put_back_without_a_majority") {
  ExtensionRounds rounds{5};
  CHECK(rounds.round("nnyy-") == Outcome::in_doubt);
  CHECK(rounds.put_back_on().empty());
  CHECK(rounds.round("nnnyy") == Outcome::lost);
  CHECK(rounds.put_back_on().empty());
}

TEST_CASE("a_copy_that_was_put_back_counts_after_a_later_round_succeeded_without_it") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  rounds.answer(0, put_back, ok());
  SECTION("not in the next round") {
    CHECK(rounds.round("yy-") == Outcome::in_doubt);
    CHECK(rounds.round("yy-") == Outcome::in_doubt);
  }
  SECTION("in the one after that") {
    REQUIRE(rounds.round("yyy") == Outcome::extended);
    CHECK(rounds.round("yy-") == Outcome::extended);
  }
  SECTION("even if the node was silent in that round") {
    REQUIRE(rounds.round("-yy") == Outcome::extended);
    CHECK(rounds.round("yy-") == Outcome::extended);
  }
}

TEST_CASE("a_round_that_began_before_the_copy_was_seen_does_not_make_it_count") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  // The reply to the put-back never arrived. In the next round the node has the copy.
  REQUIRE(rounds.round("yyy") == Outcome::extended);
  CHECK(rounds.round("yy-") == Outcome::in_doubt);
  REQUIRE(rounds.round("yyy") == Outcome::extended);
  CHECK(rounds.round("yy-") == Outcome::extended);
}

TEST_CASE("a_copy_that_is_lost_again_starts_over") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  rounds.answer(0, put_back, ok());
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  REQUIRE(rounds.round("-yy") == Outcome::extended);
  CHECK(rounds.round("yy-") == Outcome::in_doubt);
}

TEST_CASE("a_copy_that_is_put_back_twice_starts_over_even_if_its_second_loss_went_unnoticed") {
  ExtensionRounds rounds{3};
  Extension& first = rounds.begin();
  for (const NodeIndex node : {1U, 2U}) rounds.answer(node, extended, number(1));
  Extension& second = rounds.begin();
  for (const NodeIndex node : {1U, 2U}) rounds.answer(node, extended, number(1));
  // Both extensions learn late that node 0 has no copy, and both put it back.
  first.answered(0, extended, number(0), at(2ms), rounds.outbox);
  second.answered(0, extended, number(0), at(2ms), rounds.outbox);
  CHECK(rounds.put_back_on() == "00");
  first.answered(0, put_back, ok(), at(3ms), rounds.outbox);
  REQUIRE(rounds.round("-yy") == Outcome::extended);
  // The copy vanished, and another owner locked and released that node before the second put-back arrived.
  second.answered(0, put_back, ok(), at(4ms), rounds.outbox);
  CHECK(rounds.round("yy-") == Outcome::in_doubt);
}

TEST_CASE("a_copy_taken_by_another_owner_does_not_count") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  rounds.answer(0, put_back, nil());
  REQUIRE(rounds.round("-yy") == Outcome::extended);
  CHECK(rounds.round("yy-") == Outcome::in_doubt);
}

TEST_CASE("copies_that_do_not_count_yet_are_reported_and_never_cause_a_loss") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  rounds.answer(0, put_back, ok());
  const Extension& extension = rounds.begin();
  rounds.answer(0, extended, number(1));
  rounds.answer(1, extended, number(0));
  CHECK_FALSE(extension.done());
  CHECK(extension.tally()[0].trouble.status == NodeStatus::put_back);
}

TEST_CASE("nothing_is_put_back_after_a_release") {
  ExtensionRounds rounds{5, GENERATE(example_claim(), example_fenced_claim())};
  REQUIRE(rounds.round("nyyy-") == Outcome::extended);
  REQUIRE(rounds.put_back_on() == "0");
  ReleaseOperation release_operation{rounds.lease, 5};
  release_operation.start(at(2ms), rounds.outbox);
  rounds.outbox.take();
  rounds.answer(4, extended, number(0));
  rounds.answer(0, put_back, noscript());
  CHECK(rounds.outbox.sent().empty());
}

TEST_CASE("nothing_is_put_back_once_a_later_extension_found_the_lease_lost") {
  ExtensionRounds rounds{5};
  Extension& first = rounds.begin();
  for (const NodeIndex node : {0U, 1U, 2U}) rounds.answer(node, extended, number(1));
  REQUIRE(first.outcome() == Outcome::extended);
  REQUIRE(rounds.round("nnn--") == Outcome::lost);
  rounds.outbox.take();
  first.answered(4, extended, number(0), at(3ms), rounds.outbox);
  CHECK(rounds.outbox.sent().empty());
}

TEST_CASE("nothing_is_put_back_after_the_deadline") {
  ExtensionRounds rounds{3};
  REQUIRE(rounds.round("-yy") == Outcome::extended);
  rounds.answer(0, extended, number(0), 988ms);
  CHECK(rounds.outbox.sent().empty());
}

TEST_CASE("a_fenced_copy_is_put_back_with_its_token") {
  Claim claim = example_fenced_claim();
  claim.token = 42;
  ExtensionRounds rounds{3, claim};
  REQUIRE(rounds.round("nyy") == Outcome::extended);
  REQUIRE(rounds.outbox.sent().size() == 1);
  CHECK(rounds.outbox.take()[0].command == command({"EVALSHA", put_back_script.sha1, "2", "key",
                                                    "redlock:f:{key}", "me", "1000", "42", "86400000"}));
  rounds.answer(0, put_back, noscript());
  REQUIRE(rounds.outbox.sent().size() == 1);
  CHECK(rounds.outbox.sent()[0].command == claim.put_back_command(Form::source));
  rounds.answer(0, put_back_again, number(1));
  REQUIRE(rounds.round("-yy") == Outcome::extended);
  CHECK(rounds.round("yy-") == Outcome::extended);
}
