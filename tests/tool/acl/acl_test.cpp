// redlock acl: each set of rules is enough, and none of its rules can be left out.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"
#include "tool/acl/rules.hpp"
#include "tool/program.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::LockOptions;
using redlock::Order;
using redlock::Redlock;
using redlock::Renewal;
using redlock::tool::acl_rules;
using redlock::tool::Feature;

using Rules = std::vector<std::string>;

const std::string resources[] = {"r", "{r}"};  // the companions of a key with a hash tag have other names

/// A server that is in use already, and its user "app".
struct Fixture {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  std::string url = "redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(0));

  Fixture() {
    Redlock locks{{nodes.url(0)}, {.key_prefix = "app:"}};
    REQUIRE(is_granted(locks.try_lock_for("r", 20s)));
  }
  /// The server remembers no lock, line, script or refusal.
  void allow(const Rules& rules) {
    Rules command{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
    command.insert(command.end(), rules.begin(), rules.end());
    REQUIRE(server.command(command) == "OK");
    server.command({"CLIENT", "KILL", "USER", "app"});
    server.command({"SCRIPT", "FLUSH"});
    for (const char* const pattern : {"app:*", "redlock:q?*", "redlock:s*"})
      for (const std::string& key : server.keys(pattern)) server.del(key);
    REQUIRE(server.command({"ACL", "LOG", "RESET"}) == "OK");
  }
  std::string refusals() { return server.command({"ACL", "LOG"}); }
  bool has_refused() { return refusals() != "[]"; }
  Redlock client() {
    return Redlock{{url}, {.key_prefix = "app:", .on_warning = [](std::string_view) {}}};
  }
};

/// Does what the feature is for. Returns whether it works; may end early when the server has refused something.
using Scenario = std::function<bool(Fixture&)>;

bool take_and_release(Fixture& f, LockOptions options) {
  Redlock locks = f.client();
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    options.at_least = resource == "r" ? 0s : 30s;
    f.server.del("redlock:f:{app:r}");  // so that the server compares the first token with its clock
    auto lease = locks.try_lock(resource, options);
    return lease && lease->release() == redlock::Release::released;
  });
}
bool use_plain(Fixture& f) {
  return take_and_release(f, {.fencing = false, .renewal = Renewal::none, .order = Order::none});
}
bool use_tokens(Fixture& f) { return take_and_release(f, {.renewal = Renewal::none, .order = Order::none}); }

bool extend_and_lose(Fixture& f) {
  Redlock locks = f.client();
  const std::uint64_t pings = f.server.calls("ping");
  auto lease = locks.try_lock(
      "r",
      {.fencing = false, .renewal = Renewal::none, .order = Order::none, .on_lost = [](redlock::Loss) {}});
  if (!lease) return false;
  REQUIRE(eventually([&] { return f.server.pttl("app:r") < 30000; }));  // else there is nothing to extend
  std::error_code error;
  if (!lease->extend(error)) return false;
  if (!eventually([&] { return f.has_refused() || f.server.calls("ping") > pings; })) return false;
  const std::stop_token lost = lease->stop_token();
  f.server.del("app:r");
  return eventually([&] { return lost.stop_requested(); });
}

bool ask_for_locks(Fixture& f) {
  for (const std::string& resource : resources) {
    Redlock locks = f.client();
    std::atomic<bool> is_asked = false;
    auto lease = locks.try_lock(resource, {.fencing = false,
                                           .renewal = Renewal::none,
                                           .order = Order::none,
                                           .on_revoke = [&](std::string_view) { is_asked = true; }});
    if (!lease) return false;
    locks.revoke(resource);
    if (!eventually([&] { return is_asked || f.has_refused(); })) return false;
    if (!is_asked) return false;
  }
  return true;
}

bool extend_lose_and_ask(Fixture& f) { return extend_and_lose(f) && ask_for_locks(f); }

bool stand_in_line(Fixture& f) {
  for (const std::string& resource : resources) {
    Redlock locks = f.client();
    WaitingLine line{f.nodes, "app:" + resource};
    const std::string key = "app:" + resource;
    REQUIRE(f.server.command({"SET", key, "somebody"}) == "OK");
    auto got = std::async(std::launch::async, [&] {
      return is_granted(locks.try_lock_for(
          resource, 20s, {.fencing = false, .renewal = Renewal::none, .order = Order::fifo}));
    });
    const auto has_ended = [&] { return got.wait_for(0s) == std::future_status::ready; };
    const bool stands = eventually([&] { return has_ended() || f.has_refused() || line.flags() == 1; });
    f.server.del(key);
    if (!got.get() || !stands) return false;
  }
  return true;
}

/// Two readers beside each other, of which one is extended.
bool share(Fixture& f) {
  Redlock locks = f.client();
  const LockOptions options{.shared = true, .renewal = Renewal::none, .order = Order::none};
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    auto first = locks.try_lock(resource, options);
    auto second = locks.try_lock(resource, options);
    std::error_code error;
    return first && second && first->extend(error) && first->release() == redlock::Release::released &&
           second->release() == redlock::Release::released;
  });
}

bool operate(Fixture& f) {
  const auto runs = [&](Rules words, const std::string& expected) {
    words.insert(words.end(), {"--node", f.url, "--key-prefix", "app:"});
    const Program::Ending ending = run_tool(words);
    return ending.output.find(expected) != std::string::npos;
  };
  return runs({"list"}, "RESOURCE") && runs({"status", "r"}, "Nobody holds r") &&
         runs({"nodes"}, "1 of 1 nodes vote");
}

struct Set {
  Feature feature;
  Scenario scenario;
};
const Set sets[] = {
    {Feature::plain, use_plain},       {Feature::fenced, use_tokens}, {Feature::renewed, extend_lose_and_ask},
    {Feature::waiting, stand_in_line}, {Feature::shared, share},      {Feature::operating, operate}};

}  // namespace

TEST_CASE("a_user_with_the_rules_of_a_feature_can_use_it_and_is_refused_nothing") {
  Fixture f;
  for (const Set& set : sets) {
    CAPTURE(name_of(set.feature));
    f.allow(acl_rules({set.feature}, "app:"));
    CHECK(set.scenario(f));
    CHECK(f.refusals() == "[]");
  }
}

TEST_CASE("without_any_rule_of_a_feature_something_is_refused") {
  Fixture f;
  Rules before;
  for (const Set& set : sets) {
    const Rules rules = acl_rules({set.feature}, "app:");
    for (const std::string& rule : rules) {
      if (std::ranges::find(before, rule) != before.end()) continue;  // a feature before this one needs it
      CAPTURE(name_of(set.feature), rule);
      Rules others = rules;
      std::erase(others, rule);
      f.allow(others);
      static_cast<void>(set.scenario(f));
      CHECK(eventually([&] { return f.has_refused(); }));
    }
    before.insert(before.end(), rules.begin(), rules.end());
  }
}

TEST_CASE("redlock_acl_prints_a_line_with_a_placeholder_for_the_password") {
  const Program::Ending plain = run_tool({"acl", "--for", "plain", "--key-prefix", "app:", "--user", "me"});
  CHECK(plain.code == 0);
  CHECK(plain.output ==
        "ACL SETUSER me reset on >PASSWORD ~app:* ~redlock:node:app: ~redlock:quarantine:app: "
        "+client|setname +role +info +script|load +eval +evalsha +set +getrange +del +exists +pttl +time\n");
  const std::string all = run_tool({"acl"}).output;
  CHECK(all.starts_with("ACL SETUSER locks reset on >PASSWORD ~* &__redis__:invalidate &redlock:turn:* +"));
  CHECK(all == run_tool({"acl", "--for", "waiting", "shared", "renewed"}).output);
  CHECK(all == run_tool({"acl", "--for", "waiting,shared,renewed"}).output);
  for (const char* const wrong : {"everything", "plain,everything"})
    CHECK_THAT(run_tool({"acl", "--for", wrong}).errors,
               contains("--for: everything not in {plain,fenced,renewed,waiting,shared,operator}\n"));
  CHECK_THAT(run_tool({"acl", "--help"}).output, contains("--for FEATURE[,FEATURE] ..."));
  CHECK(run_tool({"acl", "--for", "everything"}).code == 64);
  for (const char* const name : {"", "two words", "\"quoted\""}) {
    const Program::Ending refused = run_tool({"acl", "--user", name});
    CHECK(refused.code == 64);
    CHECK_THAT(refused.errors, contains("visible ASCII characters"));
  }
}

TEST_CASE("a_prefix_is_quoted_in_the_rules") {
  CHECK(acl_rules({Feature::plain}, "a*[b] \\c").front() == "~a\\*\\[b\\]??c*");
}

TEST_CASE("a_user_with_the_rules_of_tokens_and_renewal_can_observe_an_election_and_is_refused_nothing") {
  Fixture f;
  f.allow(acl_rules({Feature::fenced, Feature::renewed}, "app:"));
  Redlock locks = f.client();
  redlock::Election election{locks, "r", "a", {.order = Order::none}};
  std::atomic<std::uint64_t> token{0};
  const redlock::Observation observation = election.observe(
      [&](const std::optional<redlock::Leader>& leader) { token = leader ? leader->token.value() : 0; });
  const redlock::Lease lease = election.try_campaign().value();
  CHECK(eventually([&] { return token == lease.fencing_token().value(); }));
  CHECK(f.refusals() == "[]");
}
