// Each set of rules is enough for what it is for, and none of its rules can be left out.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "tool/acl/limited_user.hpp"
#include "tool/acl/rules.hpp"
#include "tool/program.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::LockOptions;
using redlock::LockResult;
using redlock::Order;
using redlock::Redlock;
using redlock::Renewal;
using redlock::tool::acl_rules;
using redlock::tool::Feature;

using Rules = LimitedUser::Rules;

const std::string resources[] = {"r", "{r}"};  // the companions of a key with a hash tag have other names

bool releases(Lease& lease) { return lease.release() == redlock::Release::released; }

/// Does what the feature is for. Returns whether it works; may end early when the server has refused something.
using Scenario = std::function<bool(LimitedUser&)>;

/// Last of all, as one of the locks is kept.
bool take_and_release(LimitedUser& f, LockOptions options) {
  Redlock locks = f.client();
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    options.at_least = resource == "r" ? 0s : 30s;
    f.server.del(f.companion("f", "r"));  // so that the server compares the first token with its clock
    auto lease = locks.try_lock(resource, options);
    return lease && releases(*lease);
  });
}

/// Several together, of which one is taken from its holder.
bool take_several(LimitedUser& f, const LockOptions& options) {
  Redlock locks = f.client();
  auto leases = locks.try_lock_all({"r 1", "r 2"}, options);
  if (!leases) return false;
  locks.break_lock("r 1", (*leases)[0].owner_value());
  return f.server.pttl(f.key("r 1")) == -2 && releases((*leases)[1]);
}

/// Both seats, after which there is none.
bool take_seats(LimitedUser& f, LockOptions options) {
  options.seats = 2;
  Redlock locks = f.client();
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    auto first = locks.try_lock(resource, options);
    auto second = locks.try_lock(resource, options);
    return first && second && locks.try_lock(resource, options).code() == redlock::Errc::held &&
           releases(*first) && releases(*second);
  });
}

bool hand_over(LimitedUser& f, const LockOptions& options) {
  Redlock giver = f.client();
  Redlock taker = f.client();
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    auto given = giver.try_lock(resource, options);
    if (!given) return false;
    auto taken = taker.adopt(given->orphan().value(), options);
    return taken && (!options.fencing || taken->fencing_token() > given->fencing_token()) && releases(*taken);
  });
}

/// Somebody has the lock, until the call has asked twice.
bool poll(LimitedUser& f, const LockOptions& options) {
  Redlock locks = f.client();
  REQUIRE(f.server.command({"SET", f.key("r"), "somebody"}) == "OK");
  auto got =
      std::async(std::launch::async, [&] { return is_granted(locks.try_lock_for("r", 60s, options)); });
  const std::uint64_t before = f.server.calls("evalsha");
  const auto has_ended = [&] { return got.wait_for(0s) == std::future_status::ready; };
  const bool polls =
      eventually([&] { return has_ended() || f.has_refused() || f.server.calls("evalsha") >= before + 2; });
  f.server.del(f.key("r"));
  return got.get() && polls;
}

bool use_without_order(LimitedUser& f, const LockOptions& options) {
  return take_several(f, options) && take_seats(f, options) && hand_over(f, options) && poll(f, options) &&
         take_and_release(f, options);
}
bool use_plain(LimitedUser& f) {
  return use_without_order(f, {.fencing = false, .renewal = Renewal::none, .order = Order::none});
}
bool use_tokens(LimitedUser& f) {
  return use_without_order(f, {.renewal = Renewal::none, .order = Order::none});
}

bool extend_and_lose(LimitedUser& f) {
  Redlock locks = f.client(std::nullopt);  // its second connection soon asks whether the node is there
  const std::uint64_t pings = f.server.calls("ping");
  auto lease = locks.try_lock(
      "r",
      {.fencing = false, .renewal = Renewal::none, .order = Order::none, .on_lost = [](redlock::Loss) {}});
  if (!lease) return false;
  REQUIRE(eventually([&] { return f.server.pttl(f.key("r")) < 30000; }));  // else there is nothing to extend
  std::error_code error;
  if (!lease->extend(error)) return false;
  if (!eventually([&] { return f.has_refused() || f.server.calls("ping") > pings; })) return false;
  const std::stop_token lost = lease->stop_token();
  f.server.del(f.key("r"));
  return eventually([&] { return lost.stop_requested(); });
}

bool ask_for_locks(LimitedUser& f) {
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

/// The lease extends itself, and the one who hands it over hears at once that it has been taken.
bool renew_and_be_robbed(LimitedUser& f) {
  Redlock locks = f.client();
  Redlock robber = f.client();
  const LockOptions options{.ttl = 4s, .fencing = false, .order = Order::none};
  auto lease = locks.try_lock("r", options);
  if (!lease) return false;
  const redlock::Clock::time_point first = lease->deadline();
  if (!eventually([&] { return f.has_refused() || !lease->valid() || lease->deadline() > first; }))
    return false;
  const std::stop_token lost = lease->stop_token();
  const LockResult taken =
      robber.adopt({.resource = "r", .owner_value = lease->owner_value()}, {.fencing = false});
  return taken && eventually([&] { return lost.stop_requested(); }) && lease->loss() == redlock::Loss::taken;
}

bool extend_lose_and_ask(LimitedUser& f) {
  return extend_and_lose(f) && ask_for_locks(f) && renew_and_be_robbed(f);
}

/// `key` is held until a call stands in its line. `name`: of the line.
bool stand_in(LimitedUser& f, const std::string& name, const std::string& key,
              const std::function<bool(Redlock&)>& call) {
  Redlock locks = f.client();
  WaitingLine line{f.nodes, name};
  REQUIRE(f.server.command({"SET", key, "somebody"}) == "OK");
  auto got = std::async(std::launch::async, [&] { return call(locks); });
  const auto has_ended = [&] { return got.wait_for(0s) == std::future_status::ready; };
  const bool stands = eventually([&] { return has_ended() || f.has_refused() || line.flags() == 1; });
  f.server.del(key);
  return got.get() && stands;
}

bool stand_in_line(LimitedUser& f) {
  const LockOptions options{.fencing = false, .renewal = Renewal::none, .order = Order::fifo};
  LockOptions seat = options;
  seat.seats = 1;
  for (const std::string& resource : resources) {
    const std::string key = f.key(resource);
    const auto one = [&](Redlock& locks) { return is_granted(locks.try_lock_for(resource, 60s, options)); };
    const auto any_seat = [&](Redlock& locks) { return is_granted(locks.try_lock_for(resource, 60s, seat)); };
    if (!stand_in(f, key, key, one) || !stand_in(f, key + '#', key + "#0", any_seat)) return false;
  }
  return stand_in(f, f.key("r"), f.key("r"), [&](Redlock& locks) {
    return locks.try_lock_all_for({"q", "r"}, 60s, options).code() == std::error_code{};
  });
}

/// A writer becomes a reader, beside whom there is another one, who is extended.
bool share(LimitedUser& f) {
  Redlock locks = f.client();
  const LockOptions options{.shared = true, .renewal = Renewal::none, .order = Order::none};
  return std::ranges::all_of(resources, [&](const std::string& resource) {
    auto writer = locks.try_lock(resource, {.renewal = Renewal::none, .order = Order::none});
    if (!writer) return false;
    auto first = locks.downgrade(std::move(*writer), options);
    auto second = locks.try_lock(resource, options);
    auto third = locks.try_lock(resource, options);
    std::error_code error;
    if (!first || !second || !third || !second->extend(error)) return false;
    locks.break_lock(resource, third->owner_value());
    return locks.check(first->sequencer()) == redlock::SequencerState::valid && releases(*first) &&
           releases(*second) && f.server.pttl(f.key(resource)) == -2;
  });
}

bool operate(LimitedUser& f) {
  const auto runs = [&](Rules words, const std::string& expected) {
    words.insert(words.end(), {"--node", f.urls[0], "--key-prefix", f.prefix});
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
  LimitedUser f{some_prefix()};
  for (const Set& set : sets) {
    CAPTURE(f.prefix, name_of(set.feature));
    f.allow(acl_rules({set.feature}, f.prefix));
    CHECK(set.scenario(f));
    CHECK(f.refusals().empty());
  }
}

TEST_CASE("without_any_rule_of_a_feature_something_is_refused") {
  LimitedUser f{some_prefix()};
  Rules before;
  for (const Set& set : sets) {
    const Rules rules = acl_rules({set.feature}, f.prefix);
    for (const std::string& rule : rules) {
      if (std::ranges::find(before, rule) != before.end()) continue;  // a feature before this one needs it
      if (f.prefix.empty() && !rule.starts_with('~')) continue;       // the same as with a prefix
      CAPTURE(f.prefix, name_of(set.feature), rule);
      Rules others = rules;
      std::erase(others, rule);
      f.allow(others);
      static_cast<void>(set.scenario(f));
      CHECK(eventually([&] { return f.has_refused(); }));
    }
    before.insert(before.end(), rules.begin(), rules.end());
  }
}

TEST_CASE("a_user_with_the_rules_of_plain_locks_is_refused_every_other_feature") {
  LimitedUser f{some_prefix()};
  for (const Set& set : sets) {
    if (set.feature == Feature::plain) continue;
    CAPTURE(f.prefix, name_of(set.feature));
    f.allow(acl_rules({Feature::plain}, f.prefix));
    CHECK_FALSE(set.scenario(f));
    CHECK(f.has_refused());
  }
}
