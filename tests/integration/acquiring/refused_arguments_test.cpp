// Refused arguments, and the same outcome from both forms of every call.
#include <chrono>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::Error;
using redlock::LockOptions;
using redlock::Options;
using redlock::Redlock;
using redlock::SingleNodeLock;

/// The outcome of a call: `{}` for a lock, otherwise the code. `empty`: the code for an empty optional.
template <class Call>
std::error_code outcome_of(Call&& call, Errc empty) {
  try {
    return call() ? std::error_code{} : std::error_code{empty};
  } catch (const Error& error) {
    return error.code();
  }
}

/// Makes every call of a client in the form that throws and in the form with a code.
void check_forms_agree(redlock::LockClient& locks, const std::string& resource, const LockOptions& options) {
  std::stop_source stop;
  std::error_code ec = Errc::lost;
  std::error_code thrown = outcome_of([&] { return locks.try_lock(resource, options); }, Errc::held);
  (void)locks.try_lock(resource, options, ec);
  CHECK(ec == thrown);

  ec = Errc::lost;
  thrown = outcome_of([&] { return locks.try_lock_for(resource, 500ms, options); }, Errc::timed_out);
  (void)locks.try_lock_for(resource, 500ms, options, {}, ec);
  CHECK(ec == thrown);

  ec = Errc::lost;
  thrown = outcome_of([&] { return locks.try_lock_for(resource, -1s, options); }, Errc::held);
  (void)locks.try_lock_for(resource, -1s, options, {}, ec);
  CHECK(ec == thrown);

  stop.request_stop();  // otherwise some calls would never return
  ec = Errc::lost;
  thrown = outcome_of([&] { return locks.lock(resource, options, stop.get_token()).valid(); }, Errc::held);
  (void)locks.lock(resource, options, stop.get_token(), ec);
  CHECK(ec == thrown);

  ec = Errc::lost;
  thrown = outcome_of([&] { return !locks.inspect(resource).empty(); }, Errc::held);
  CHECK(locks.inspect(resource, ec).empty() == static_cast<bool>(thrown));
  CHECK(ec == thrown);
}

std::string refusal(const std::vector<Endpoint>& nodes, const Options& options = {}) {
  const Error error = error_of([&] { Redlock{nodes, options}; });
  CHECK(error.code() == Errc::misconfigured);
  CHECK(error.code() == std::errc::invalid_argument);
  CHECK(error.nodes().empty());
  return error.what();
}

}  // namespace

TEST_CASE("both_forms_of_every_call_have_the_same_outcome") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms}};
  SECTION("free") { check_forms_agree(locks, "r", {}); }
  SECTION("held") {
    servers.command({"SET", "r", "somebody"});
    check_forms_agree(locks, "r", {});
  }
  SECTION("no quorum") {
    nodes.kill(0);
    check_forms_agree(locks, "r", {});
  }
  SECTION("misconfigured server") {
    servers.command({"HSET", "r", "field", "value"});
    check_forms_agree(locks, "r", {});
  }
  SECTION("empty resource") { check_forms_agree(locks, "", {}); }
  SECTION("resource too long") { check_forms_agree(locks, std::string(4097, 'x'), {}); }
  SECTION("a resource of the library's own") { check_forms_agree(locks, "redlock:node", {}); }
  SECTION("ttl too short") { check_forms_agree(locks, "r", {.ttl = 9ms}); }
}

TEST_CASE("both_forms_of_extend_have_the_same_outcome") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms, .max_ttl = 5s}};
  auto lease = locks.try_lock("r", {.ttl = 5s});
  REQUIRE(lease);
  std::error_code ec = Errc::lost;
  CHECK(lease->extend());
  CHECK(lease->extend(ec));
  CHECK_FALSE(ec);

  nodes.pause(0);
  CHECK_FALSE(lease->extend());
  CHECK_FALSE(lease->extend(ec));
  CHECK(ec == Errc::no_quorum);
  nodes.resume(0);

  servers.command({"FLUSHALL"});
  while (lease->extend(ec) || ec == Errc::no_quorum) continue;
  CHECK(ec == Errc::lost);
  CHECK_FALSE(lease->extend());

  auto next = locks.lock("next", {.ttl = 5s});
  CHECK(next.release() == redlock::Release::released);
  CHECK_FALSE(next.extend());
  CHECK_FALSE(next.extend(ec));
  CHECK(ec == Errc::lost);
}

TEST_CASE("a_refusal_names_the_allowed_range_and_contacts_no_server") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  const auto text = [&](const std::string& resource, const LockOptions& options) {
    const Error error = error_of([&] { (void)locks.try_lock(resource, options); });
    CHECK(error.code() == Errc::misconfigured);
    CHECK(error.nodes().empty());
    return std::string{error.what()};
  };
  CHECK_THAT(text("", {}), contains("the resource has 0 bytes; allowed: 1 to 4096"));
  CHECK_THAT(text(std::string(4097, 'x'), {}), contains("the resource has 4097 bytes; allowed: 1 to 4096"));
  CHECK_THAT(text("redlock:x", {}), contains("the resource starts with \"redlock:\""));
  CHECK_THAT(text("r", {.ttl = 9ms}), contains("ttl is 9 ms; allowed: 10 ms to 365 days"));
  CHECK_THAT(text("r", {.ttl = -1s}), contains("ttl is -1 s; allowed:"));
  CHECK_THAT(text("r", {.ttl = std::chrono::hours{24 * 366}}), contains("ttl is 366 days; allowed:"));
  CHECK(servers.calls("role") == 0);
}

TEST_CASE("bad_options_and_node_lists_are_refused_at_construction") {
  const std::string node = "redis://127.0.0.1:1";
  CHECK_THAT(refusal({}), contains("0 nodes were given; allowed: 1 to 31"));
  CHECK_THAT(refusal(std::vector<Endpoint>(32, node)), contains("32 nodes were given; allowed: 1 to 31"));
  CHECK_THAT(refusal({node, "127.0.0.1:1"}), contains("redis://127.0.0.1:1 was given twice"));
  CHECK_THAT(refusal({"rediss://127.0.0.1:1"}), contains("this build has no TLS"));
  CHECK_THAT(refusal({node}, {.connect_timeout = 0s}), contains("connect_timeout is 0 s; allowed:"));
  CHECK_THAT(refusal({node}, {.node_timeout = 61s}), contains("node_timeout is 61 s; allowed: 1 ms to 60 s"));
  CHECK_THAT(refusal({node}, {.drift = -1ms}), contains("drift is -1 ms; allowed:"));
  CHECK_THAT(refusal({node}, {.key_prefix = std::string(1025, 'x')}), contains("key_prefix has 1025 bytes"));
  CHECK_THAT(refusal({node}, {.key_prefix = "redlock:"}), contains("key_prefix starts with"));
  CHECK_THAT(error_of([] { SingleNodeLock{"rediss://127.0.0.1:1"}; }).what(), contains("no TLS"));
}

TEST_CASE("a_drift_as_long_as_the_ttl_is_refused_by_the_call") {
  Redlock locks{{"redis://127.0.0.1:1"}, {.drift = 1s}};
  const Error error = error_of([&] { (void)locks.try_lock("r", {.ttl = 1s}); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK_THAT(error.what(), contains("drift is 1 s; it must be less than the ttl, which is 1 s"));
}
