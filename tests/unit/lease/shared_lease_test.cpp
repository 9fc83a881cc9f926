// Leases of readers: the differences from exclusive ones.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "redlock/core/lease/asking.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "support/catch.hpp"
#include "unit/support/listening_engine.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::extension_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;
using redlock::State;

const std::string own_key = "redlock:s:{key}:me";
const std::string reading = command({"GETRANGE", own_key, "0", "2"});

Claim reader_with_token() {
  Claim claim = example_shared_claim();
  claim.acquired(9, at(0ms));
  return claim;
}
/// A lease with a key of its own, of one of several readers.
std::shared_ptr<LeaseState> lease_of(std::string owner, std::string key = "key") {
  Claim claim = example_fenced_claim();
  claim.key = std::move(key);
  claim.share();
  claim.belong_to(std::move(owner));
  return example_lease(1h, std::move(claim));
}

/// An extension of a reader's lease that has sent its commands.
struct StartedExtension {
  StartedExtension() {
    extension.start(at(0ms), outbox);
    for (const Sent& sent : outbox.take()) CHECK(sent.command == claim.extend_command());
  }
  void answer(NodeIndex node, const Reply& reply, Step step = extended) {
    extension.answered(node, step, reply, at(1ms), outbox);
  }

  const Claim claim = reader_with_token();
  std::shared_ptr<LeaseState> lease = example_lease(500ms, claim);
  RecordingOutbox outbox{3};
  Extension extension{lease, 3};
};

}  // namespace

TEST_CASE("a_node_that_lost_a_readers_copy_gets_it_back_beside_the_other_readers") {
  StartedExtension started;
  started.answer(0, number(0));
  started.answer(1, number(1));
  CHECK(started.outbox.sent().empty());  // there is no majority yet
  started.answer(2, number(1));
  REQUIRE(started.extension.outcome() == Extension::Outcome::extended);
  std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].node == 0);
  CHECK(sent[0].command == shared_put_back_script.call({"key", "redlock:f:{key}", "redlock:s:{key}"},
                                                       {"me", "1000", "9", "86400000"}));
  started.answer(0, noscript(), put_back);
  sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].command == started.claim.put_back_command(Form::source));
  started.answer(0, number(1), put_back_again);
  CHECK_FALSE(started.lease->copies.counts(0));  // before the next round
}

TEST_CASE("a_reader_without_a_majority_has_lost_its_lease_to_a_writer_or_to_nobody") {
  const bool to_a_writer = GENERATE(true, false);
  StartedExtension started;
  started.answer(0, number(0));
  started.answer(1, number(to_a_writer ? -1 : 0));
  CHECK(started.extension.outcome() == Extension::Outcome::lost);
  CHECK(started.lease->loss(at(1ms)) == (to_a_writer ? Loss::taken : Loss::deleted));
  CHECK(started.outbox.take().empty());
  Extension{started.lease, 3}.start(started.lease->deadline(), started.outbox);
  const std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 3);
  for (const Sent& each : sent) {
    CHECK(each.command == shared_release_script.call({"key", "redlock:s:{key}"}, {"me"}));
    CHECK(each.options.is_release);
  }
}

TEST_CASE("the_release_of_a_reader_does_not_mean_that_the_lock_is_free") {
  const bool is_shared = GENERATE(true, false);
  const Claim claim = is_shared ? example_shared_claim() : example_fenced_claim();
  RecordingOutbox outbox{3};
  ReleaseOperation release{example_lease(500ms, claim), 3};
  release.start(at(1ms), outbox);
  CHECK(outbox.sent().size() == 3);
  for (const Sent& sent : outbox.sent()) CHECK(sent.command == claim.release_command());
  CHECK(outbox.released_keys.empty() == is_shared);
  CHECK(release.written_key() == "key");  // so whoever waits for the lock reads it again
}

TEST_CASE("a_reader_watches_its_own_key") {
  ListeningEngine nodes;
  const auto lease = example_lease(1h, reader_with_token());
  nodes.engine.watch(lease, at(0ms));
  nodes.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(nodes.take_bytes(node) == reading);
    nodes.engine.answered(node, string_reply("me"), at(5ms));
    nodes.connect_listener(node, at(5ms));
  }
  nodes.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(nodes.take_bytes(node) == tracking_on(100 + static_cast<int>(node)) + caching_on + reading);
    for (const Reply& reply : {ok(), ok(), string_reply("me")}) nodes.engine.answered(node, reply, at(5ms));
  }
  for (NodeIndex node = 0; node < 3; ++node)  // other readers come and go
    for (const char* const key : {"key", "redlock:s:{key}", "redlock:s:{key}:you"})
      nodes.engine.answered(nodes.listener(node), push(key), at(6ms));
  nodes.engine.on_time(at(6ms));
  CHECK(nodes.is_quiet());
  for (const NodeIndex node : {0U, 2U}) {
    nodes.engine.answered(nodes.listener(node), push(own_key), at(7ms));
    nodes.engine.on_time(at(7ms));
    CHECK(nodes.take_bytes(node) == caching_on + reading);
    nodes.engine.answered(node, ok(), at(7ms));
    CHECK(lease->state(at(7ms)) == State::held);
    nodes.engine.answered(node, string_reply(""), at(7ms));
  }
  CHECK(lease->loss(at(7ms)) == Loss::deleted);
  CHECK(nodes.is_quiet());
}

TEST_CASE("all_readers_of_this_client_look_at_their_copies_when_it_asks_for_their_lock") {
  ListeningEngine nodes;
  const auto reads = [](const std::string& bytes, const std::string& key) {
    return bytes.find(command({"GETRANGE", key, "0", "3"})) != bytes.npos;
  };
  const std::vector<std::shared_ptr<LeaseState>> leases{lease_of("one"), lease_of("two"),
                                                        lease_of("one", "another")};
  for (const auto& lease : leases) nodes.engine.watch(lease, at(0ms));
  nodes.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(reads(nodes.take_bytes(node), "redlock:s:{another}:one"));
  nodes.engine.submit(Ref<Operation>{new Asking{"key", "please", 3, 50ms}}, at(6ms));
  nodes.engine.on_time(at(6ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    const std::string sent = nodes.take_bytes(node);
    CHECK(sent.find("please") != sent.npos);
    CHECK(reads(sent, "redlock:s:{key}:one"));
    CHECK(reads(sent, "redlock:s:{key}:two"));
    CHECK_FALSE(reads(sent, "redlock:s:{another}:one"));
  }
}
