// Nothing that one of five nodes falsely says becomes true.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/hostile/beset_client.hpp"
#include "integration/support/loss_recorder.hpp"
#include "redlock/core/line/gates.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::FencingToken;
using redlock::Handover;
using redlock::holder_of;
using redlock::Lease;
using redlock::LockClient;
using redlock::LockOptions;
using redlock::LockResult;
using redlock::Release;

/// The client does not get the lock, and is told of no other holder than the owner of this lease. It may be told of none: it
/// asks no further once a majority has voted.
void check_held(LockClient& locks, const Lease& lease) {
  const LockResult refused = locks.try_lock(lease.resource());
  CAPTURE(refused.message());
  CHECK(refused.code() == Errc::held);
  const auto holder = holder_of(refused.nodes());
  if (holder) CHECK(holder->owner_value == lease.owner_value());
}

/// The node becomes hostile. The client calls for its own lock until the attack has taken effect. Some attacks do so only on
/// connections that listen, so the client has to listen because of this lease.
void suffer(BesetClient& client, const Attack& attack, const Lease& lease) {
  client.suffer(attack);
  REQUIRE(eventually([&] {
    check_held(client.locks, lease);
    return client.has_suffered();
  }));
}

bool stands_in_line(FiveNodes& five, const std::string& resource) {
  const std::string order = redlock::core::LineKeys{resource}.order;
  return std::ranges::any_of(five.servers, [&](RawClient& server) {
    return server.command({"EXISTS", order}) == "1";
  });
}

/// A call that waits for a lock. Its client waits only a short time for each reply.
struct CallInLine {
  explicit CallInLine(FiveNodes& five)
      : client{
            five,
            {.connect_timeout = 20s, .node_timeout = 200ms, .on_warning = [this](std::string_view warning) {
               if (warning.find("poll instead") != warning.npos) polls = true;
             }}} {}
  void wait_for(const std::string& resource) {
    result =
        std::async(std::launch::async, [this, resource] { return client.locks.try_lock_for(resource, 20s); });
  }

  std::atomic<bool> polls{false};
  BesetClient client;
  std::future<LockResult> result;
};

/// Another lock at each call, whose line is ordered by node 0 if that node is asked. `number`: of the last one.
std::string next_lock_of_gate(FiveNodes& five, int& number) {
  std::vector<std::string> run_ids;
  for (std::size_t node = 0; node < 5; ++node) run_ids.push_back(five.servers[node].info("run_id").value());
  for (;;) {
    std::string resource = "line " + std::to_string(++number);
    if (redlock::core::best_suited(5, resource, [&](std::size_t node) { return run_ids[node]; }) == 0U)
      return resource;
  }
}

}  // namespace

TEST_CASE("a_node_that_says_yes_or_no_to_everything_says_it_to_every_script") {
  for (const redlock::core::Script* const script : redlock::core::all_scripts) {
    CAPTURE(script->source);
    const attack::Command command{"EVALSHA", std::string{script->sha1}};
    CHECK(attack::yes_to(command, "truth") != "truth");
    CHECK(attack::no_to(command, "truth", "holder") != "truth");
  }
}

TEST_CASE("a_hostile_node_ends_no_lease_and_gives_no_lock_to_two") {
  FiveNodes five;
  for (const Attack& attack : five.attacks()) {
    INFO("attack: " << attack.name);
    BesetClient client{five};
    LossRecorder losses;
    Lease lease = client.locks.lock("truth", {.ttl = 60s, .on_lost = losses.callback()}).value();
    REQUIRE(eventually([&] { return five.honest_copies("truth") == 4 && client.locks.listens(1); }));
    suffer(client, attack, lease);

    check_held(five.honest, lease);
    check_held(client.locks, lease);
    CHECK(lease.extend());
    CHECK(holder_of(client.locks.inspect("truth")).value().owner_value == lease.owner_value());
    CHECK(lease.valid());
    CHECK(losses.losses().empty());
    CHECK(lease.release() == Release::released);

    REQUIRE(eventually([&] { return five.honest_copies("truth") == 0; }));
    CHECK(is_granted(client.locks.try_lock("truth")));
    REQUIRE(eventually([&] { return five.honest_copies("truth") == 0; }));
  }
}

// Each attack has a client of its own, and all are made at once: a renewal takes a third of the ttl, which is long, so that no
// lease ends because the machine is busy.
TEST_CASE("a_hostile_node_spoils_no_renewal") {
  struct Renewed {
    std::unique_ptr<BesetClient> client;
    std::unique_ptr<LossRecorder> losses;
    Lease lease;
    redlock::Clock::time_point deadline;
  };
  FiveNodes five;
  const std::vector<Attack> attacks = five.attacks();
  std::vector<Renewed> all;
  for (const Attack& attack : attacks) {
    auto client = std::make_unique<BesetClient>(five);
    auto losses = std::make_unique<LossRecorder>();
    Lease lease = client->locks.lock(attack.name, {.ttl = 12s, .on_lost = losses->callback()}).value();
    all.push_back({std::move(client), std::move(losses), std::move(lease), {}});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("attack: " << attacks[i].name);
    // A node that says yes to an extension lies.
    REQUIRE(five.servers[0].command({"SET", attacks[i].name, "another"}) == "OK");
    suffer(*all[i].client, attacks[i], all[i].lease);
    all[i].deadline = all[i].lease.deadline();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("attack: " << attacks[i].name);
    const Renewed& renewed = all[i];
    CHECK(eventually([&] { return renewed.lease.deadline() > renewed.deadline + 500ms; }));
    CHECK(renewed.lease.valid());
    CHECK(renewed.losses->losses().empty());
  }
}

// Tokens of the same lock rise from one holder to the next, whoever of them reaches the hostile node.
TEST_CASE("a_hostile_node_spoils_neither_adoptions_nor_shared_locks_nor_tokens") {
  FiveNodes five;
  const LockOptions reading{.ttl = 60s, .shared = true};
  for (const Attack& attack : five.attacks()) {
    INFO("attack: " << attack.name);
    BesetClient client{five};
    Lease left = five.honest.lock("adopted", {.ttl = 60s}).value();
    REQUIRE(eventually([&] { return five.honest_copies("adopted") == 4; }));
    const Handover handover = left.orphan().value();
    LossRecorder losses;
    const Lease watched = client.locks.lock(attack.name, {.ttl = 60s, .on_lost = losses.callback()}).value();
    suffer(client, attack, watched);

    Lease adopted = client.locks.adopt(handover, {.ttl = 60s}).value();
    CHECK(adopted.fencing_token() > handover.token);
    check_held(five.honest, adopted);
    CHECK(adopted.release() == Release::released);

    Lease writer = client.locks.try_lock("shared", {.ttl = 60s}).value();
    const FencingToken first = writer.fencing_token();
    Lease reader = client.locks.downgrade(std::move(writer), reading).value();
    CHECK(reader.fencing_token() > first);
    Lease other = five.honest.try_lock("shared", reading).value();
    CHECK(five.honest.try_lock("shared").code() == Errc::held);
    CHECK(client.locks.try_lock("shared").code() == Errc::held);
    CHECK(reader.extend());
    const FencingToken last = std::max(reader.fencing_token(), other.fencing_token());
    CHECK(other.release() == Release::released);
    CHECK(five.honest.try_lock("shared").code() == Errc::held);
    CHECK(reader.release() == Release::released);
    REQUIRE(eventually([&] { return five.honest_copies("shared") == 0; }));
    CHECK(five.honest.try_lock("shared", {.ttl = 60s}).value().fencing_token() > last);
    REQUIRE(eventually([&] { return five.honest_copies("shared") == 0; }));
  }
}

// Some attacks happen only on connections that have worked, and others only in the handshakes of new ones. Where the node says
// that others come first, the call waits for as long as a flag lives, so the results are awaited after all calls have begun.
TEST_CASE("a_call_in_line_gets_the_lock_whatever_the_node_says_that_orders_the_line") {
  FiveNodes five;
  int number = 0;
  std::vector<std::unique_ptr<CallInLine>> on_old_connections;
  std::vector<std::unique_ptr<CallInLine>> on_new_connections;
  for (auto* const calls : {&on_old_connections, &on_new_connections})
    for (const Attack& attack : five.attacks()) {
      INFO("attack: " << attack.name << (calls == &on_old_connections ? "" : ", on new connections"));
      const std::string resource = next_lock_of_gate(five, number);
      CallInLine& call = *calls->emplace_back(std::make_unique<CallInLine>(five));
      Lease held = five.honest.lock(resource).value();
      REQUIRE(eventually([&] { return five.honest_copies(resource) == 4; }));
      attack.begin(call.client.proxy);
      if (calls == &on_new_connections) call.client.proxy.cut();
      call.wait_for(resource);
      // The hostile node executes commands, whatever it replies. If it says that the client has no rights, the call polls.
      REQUIRE(eventually([&] { return stands_in_line(five, resource) || call.polls; }));
      CHECK(held.release() == Release::released);
    }
  const std::vector<Attack> attacks = five.attacks();
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    INFO("attack: " << attacks[i].name);
    CHECK(eventually([&] {
      return on_old_connections[i]->client.has_suffered() || on_new_connections[i]->client.has_suffered();
    }));
    for (CallInLine* const call : {on_old_connections[i].get(), on_new_connections[i].get()}) {
      LockResult result = call->result.get();
      CAPTURE(result.message());
      CHECK(result);
      if (result) CHECK(result->release() == Release::released);
    }
  }
}

TEST_CASE("a_node_that_says_to_all_that_others_come_first_orders_their_line_no_longer") {
  FiveNodes five;
  int number = 0;
  const std::string resource = next_lock_of_gate(five, number);
  std::atomic<int> warnings{0};
  redlock::Options options = FiveNodes::patient;
  options.on_warning = [&](std::string_view warning) {
    warnings += warning.find("lets calls wait for others that are not there") != warning.npos ? 1 : 0;
  };
  BesetClient one{five, options};
  BesetClient other{five, options};
  for (BesetClient* const client : {&one, &other})
    client->proxy.rewrite([](const attack::Command& command, std::string reply) {
      using attack::integer;
      return attack::calls(command, redlock::core::line_script) && reply.starts_with('*')
                 ? attack::array({integer(2), integer(3), integer(-1), integer(1), attack::bulk("a line")})
                 : std::move(reply);
    });
  const auto both_get_it = [&](const std::vector<std::size_t>& gates) {
    Lease held = five.honest.lock(resource).value();
    const auto wait = [&](BesetClient& client) {
      return std::async(std::launch::async,
                        [&] { return client.locks.try_lock_for(resource, 120s).value().release(); });
    };
    auto first = wait(one);
    auto second = wait(other);
    REQUIRE(eventually([&] {
      int standing = 0;
      for (const std::size_t gate : gates)
        standing += std::stoi(five.servers[gate].command({"ZCARD", redlock::core::LineKeys{resource}.order}));
      return standing == 2;
    }));
    CHECK(held.release() == Release::released);
    CHECK(first.get() == Release::released);
    CHECK(second.get() == Release::released);
  };

  both_get_it({0});
  CHECK(warnings == 0);  // for all that these clients know, the others may have been paused
  both_get_it({0});
  CHECK(eventually([&] { return warnings == 2; }));
  both_get_it({1, 2, 3, 4});
  CHECK(warnings == 2);
}
