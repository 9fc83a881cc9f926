// Refused arguments, and results that say the same in each form.
#include <algorithm>
#include <chrono>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
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
using redlock::LockResult;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;

/// A call's result, and the error that `value` throws if there is no lease, say the same.
void check(LockResult result) {
  CHECK(result.has_value() == !result.code());
  CHECK(static_cast<bool>(result) == result.has_value());
  CHECK(result.message().empty() == result.has_value());
  if (result) {
    CHECK(result->valid());
    CHECK(result.nodes().empty());
    CHECK(result.value().release() == Release::released);
    return;
  }
  const Error error = error_of([&] { (void)result.value(); });
  CHECK(error.code() == result.code());
  CHECK(error.what() == result.message());
  CHECK(std::ranges::equal(error.nodes(), result.nodes()));
  CHECK(error_of([&] { (void)*result; }).code() == result.code());
  CHECK(error_of([&] { (void)result->valid(); }).code() == result.code());
  CHECK(error_of([&] { (void)std::as_const(result).value(); }).code() == result.code());
  CHECK(error_of([&] { (void)std::move(result).value(); }).code() == error.code());
}

/// Makes every call of a client.
void check_results(redlock::LockClient& locks, const std::string& resource, const LockOptions& options) {
  check(locks.try_lock(resource, options));
  check(locks.try_lock_for(resource, 500ms, options));
  check(locks.try_lock_for(resource, -1s, options));
  check(locks.try_lock_until(resource, std::chrono::system_clock::now() + 100ms, options));
  check(locks.try_lock_until(resource, std::chrono::steady_clock::time_point::min(), options));
  check(locks.adopt({resource, "an owner"}, options));
  std::stop_source stop;
  stop.request_stop();  // otherwise the call might never return
  check(locks.lock(resource, options, stop.get_token()));
}

/// The outcome of `inspect`: `{}` for reports, otherwise the code.
std::error_code outcome_of_inspect(redlock::LockClient& locks, const std::string& resource) try {
  return locks.inspect(resource).empty() ? Errc::held : std::error_code{};
} catch (const Error& error) {
  return error.code();
}

std::string refusal(const std::vector<Endpoint>& nodes, const Options& options = {}) {
  const Error error = error_of([&] { Redlock{nodes, options}; });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.code() == std::errc::invalid_argument);
  CHECK(error.nodes().empty());
  return error.what();
}

}  // namespace

TEST_CASE("a_result_and_the_error_that_it_throws_say_the_same") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms}};
  SECTION("free") { check_results(locks, "r", {}); }
  SECTION("held") {
    servers.command({"SET", "r", "somebody"});
    check_results(locks, "r", {});
  }
  SECTION("no quorum") {
    nodes.kill(0);
    check_results(locks, "r", {});
  }
  SECTION("misconfigured server") {
    servers.command({"HSET", "r", "field", "value"});
    check_results(locks, "r", {});
  }
  SECTION("empty resource") { check_results(locks, "", {}); }
  SECTION("resource too long") { check_results(locks, std::string(4097, 'x'), {}); }
  SECTION("a resource of the library's own") { check_results(locks, "redlock:node", {}); }
  SECTION("ttl too short") { check_results(locks, "r", {.ttl = 9ms}); }
}

TEST_CASE("both_forms_of_inspect_have_the_same_outcome") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  for (const std::string& resource : {std::string{"r"}, std::string{}, std::string{"redlock:node"}}) {
    std::error_code ec = Errc::lost;
    const auto reports = locks.inspect(resource, ec);
    CHECK(reports.empty() == static_cast<bool>(ec));
    CHECK(ec == outcome_of_inspect(locks, resource));
  }
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

  auto next = locks.lock("next", {.ttl = 5s}).value();
  CHECK(next.release() == Release::released);
  CHECK_FALSE(next.extend());
  CHECK_FALSE(next.extend(ec));
  CHECK(ec == Errc::lost);
}

TEST_CASE("a_refusal_names_the_allowed_range_and_contacts_no_server") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  const auto text = [&](const std::string& resource, const LockOptions& options) {
    const Error error = error_of([&] { (void)locks.try_lock(resource, options).value(); });
    CHECK(error.code() == Errc::invalid_argument);
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
  CHECK_THAT(refusal({node}, {.connect_timeout = 0s}), contains("connect_timeout is 0 s; allowed:"));
  CHECK_THAT(refusal({node}, {.node_timeout = 61s}), contains("node_timeout is 61 s; allowed: 1 ms to 60 s"));
  CHECK_THAT(refusal({node}, {.drift = -1ms}), contains("drift is -1 ms; allowed:"));
  CHECK_THAT(refusal({node}, {.key_prefix = std::string(1025, 'x')}), contains("key_prefix has 1025 bytes"));
  CHECK_THAT(refusal({node}, {.key_prefix = "redlock:"}), contains("key_prefix starts with"));
}

TEST_CASE("a_drift_as_long_as_the_ttl_is_refused_by_the_call") {
  Redlock locks{{"redis://127.0.0.1:1"}, {.drift = 1s}};
  const Error error = error_of([&] { (void)locks.try_lock("r", {.ttl = 1s}).value(); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK_THAT(error.what(), contains("drift is 1 s; it must be less than the ttl, which is 1 s"));
}
