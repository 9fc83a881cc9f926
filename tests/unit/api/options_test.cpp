#include "redlock/options.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/limits.hpp"
#include "redlock/error.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/lease.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::Duration;
using redlock::LockOptions;
using redlock::Options;
using redlock::RestartGuard;
using redlock::detail::Timing;

// The reason why the call is refused; empty if it is accepted.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const redlock::Error& error) {
    CHECK(error.code() == redlock::Errc::invalid_argument);
    CHECK(error.nodes().empty());
    const std::string_view text = error.what();
    return std::string{text.substr(text.find(": ") + 2)};
  }
  return {};
}

std::string refusal(const Options& options) {
  return refusal([&] { redlock::detail::check(options); });
}

std::string refusal(const Options& options, Duration ttl) {
  return refusal([&] { static_cast<void>(redlock::detail::timing(options, LockOptions{.ttl = ttl})); });
}

std::string refusal(std::string_view prefix, std::string_view resource) {
  return refusal([&] { static_cast<void>(redlock::detail::lock_key(prefix, resource)); });
}

std::string wait_refusal(Duration node_wait) {
  return refusal([&] { static_cast<void>(redlock::detail::node_wait({.node_wait = node_wait})); });
}

Options with_max_ttl(Duration time) {
  Options options;
  options.max_ttl = time;
  return options;
}
Options with_connect_timeout(Duration time) {
  Options options;
  options.connect_timeout = time;
  return options;
}

Options with_node_timeout(Duration time) {
  Options options;
  options.node_timeout = time;
  return options;
}

Options with_drift(Duration time) {
  Options options;
  options.drift = time;
  return options;
}

Options with_prefix(std::string prefix) {
  Options options;
  options.key_prefix = std::move(prefix);
  return options;
}

Timing timing(Duration ttl, const Options& options = {}) {
  return redlock::detail::timing(options, LockOptions{.ttl = ttl});
}

}  // namespace

TEST_CASE("the_defaults_are_accepted") {
  CHECK(refusal(Options{}).empty());
  CHECK(timing(LockOptions{}.ttl) ==
        Timing{.ttl = 30s, .drift = 302ms, .node_timeout = 250ms, .fence_memory = 720h});
}

TEST_CASE("timeouts_are_from_1_ms_to_60_s") {
  for (const Duration good : {Duration{1ms}, Duration{1500us}, Duration{60s}}) {
    CHECK(refusal(with_connect_timeout(good)).empty());
    CHECK(refusal(with_node_timeout(good)).empty());
  }
  CHECK(refusal(with_connect_timeout(0ms)) == "connect_timeout is 0 s; allowed: 1 ms to 60 s");
  CHECK(refusal(with_connect_timeout(-1s)) == "connect_timeout is -1 s; allowed: 1 ms to 60 s");
  CHECK(refusal(with_connect_timeout(1ms - 1ns)) == "connect_timeout is 999999 ns; allowed: 1 ms to 60 s");
  CHECK(refusal(with_connect_timeout(60s + 1ms)) == "connect_timeout is 60001 ms; allowed: 1 ms to 60 s");
  CHECK(refusal(with_node_timeout(0ms)) == "node_timeout is 0 s; allowed: 1 ms to 60 s");
  CHECK(refusal(with_node_timeout(48h)) == "node_timeout is 2 days; allowed: 1 ms to 60 s");
  CHECK(refusal(with_node_timeout(std::chrono::hours::max())) ==
        "node_timeout is unlimited; allowed: 1 ms to 60 s");
}

TEST_CASE("a_refused_time_of_one_day_is_in_the_singular") {
  Options options;
  options.credentials_interval = 0s;
  CHECK(refusal(options) == "credentials_interval is 0 s; allowed: 10 ms to 1 day");
}

TEST_CASE("the_hold_time_is_from_the_ttl_to_3650_days") {
  const auto refused = [](Duration max_hold) {
    return refusal([&] { static_cast<void>(redlock::detail::timing({}, {.max_hold = max_hold})); });
  };
  const std::string allowed = "; allowed: the ttl, which is 30 s, to 3650 days";
  CHECK(refused(30s).empty());
  CHECK(refused(24h * 3650).empty());
  CHECK(refused(1s) == "max_hold is 1 s" + allowed);
  CHECK(refused(24h * 3651) == "max_hold is 3651 days" + allowed);
}

TEST_CASE("the_drift_is_at_least_0_and_less_than_the_ttl") {
  CHECK(refusal(with_drift(0s)).empty());
  CHECK(timing(10s, with_drift(0s)).drift == 0s);
  CHECK(timing(10s, with_drift(10s - 1ns)).drift == 10s - 1ns);
  CHECK(refusal(with_drift(-1ms)) == "drift is -1 ms; allowed: 0 s to less than the ttl");
  CHECK(refusal(with_drift(10s), 10s) == "drift is 10 s; it must be less than the ttl, which is 10 s");
  CHECK(refusal(with_drift(Duration{std::chrono::hours::max()}), 10s).find("it must be less than the ttl") !=
        std::string::npos);
}

TEST_CASE("the_default_drift_is_one_percent_of_the_ttl_plus_2_ms") {
  CHECK(timing(10ms).drift == 2100us);
  CHECK(timing(1s).drift == 12ms);
  CHECK(timing(365 * 24h, with_max_ttl(365 * 24h)).drift == 87h + 36min + 2ms);
}

TEST_CASE("the_default_node_timeout_is_a_tenth_of_the_ttl_but_at_most_250_ms") {
  CHECK(timing(10ms).node_timeout == 1ms);
  CHECK(timing(2s).node_timeout == 200ms);
  CHECK(timing(2500ms).node_timeout == 250ms);
  CHECK(timing(1h, with_max_ttl(1h)).node_timeout == 250ms);
  CHECK(timing(1min, with_node_timeout(7s)).node_timeout == 7s);
}

TEST_CASE("the_ttl_is_from_10_ms_to_365_days") {
  const std::string note = "; with a restart guard to the nodes' max_ttl, which is 60 s by default";
  CHECK(timing(10ms).ttl == 10ms);
  CHECK(timing(365 * 24h, with_max_ttl(365 * 24h)).ttl == 365 * 24h);
  CHECK(refusal({}, 10ms - 1ns) == "ttl is 9999999 ns; allowed: 10 ms to 365 days" + note);
  CHECK(refusal({}, 0s) == "ttl is 0 s; allowed: 10 ms to 365 days" + note);
  CHECK(refusal({}, -30s) == "ttl is -30 s; allowed: 10 ms to 365 days" + note);
  CHECK(refusal({}, 366 * 24h) == "ttl is 366 days; allowed: 10 ms to 365 days" + note);
  CHECK(refusal({}, 365 * 24h + 1ms) == "ttl is 31536000001 ms; allowed: 10 ms to 365 days" + note);
}

TEST_CASE("the_delay_after_a_loss_is_from_0_to_365_days_and_prolongs_the_memory_of_counters") {
  const auto with = [](Duration lock_delay) { return LockOptions{.ttl = 1s, .lock_delay = lock_delay}; };
  CHECK(redlock::detail::timing({}, with(0s)).lock_delay == 0s);
  CHECK(redlock::detail::timing({}, with(1500us)).lock_delay == 2ms);
  CHECK(redlock::detail::timing({.fence_memory = 1s}, with(9s)).fence_memory == 100s);
  const auto refused = [&](Duration lock_delay) {
    return refusal([&] { static_cast<void>(redlock::detail::timing({}, with(lock_delay))); });
  };
  CHECK(refused(-1ns) == "lock_delay is -1 ns; allowed: 0 s to 365 days");
  CHECK(refused(366 * 24h) == "lock_delay is 366 days; allowed: 0 s to 365 days");
}

TEST_CASE("the_minimum_time_of_a_lock_is_from_0_to_the_ttl") {
  const auto with = [](Duration at_least) { return LockOptions{.ttl = 1s, .at_least = at_least}; };
  CHECK(redlock::detail::timing({}, with(0s)).at_least == 0s);
  CHECK(redlock::detail::timing({}, with(1500us)).at_least == 2ms);
  CHECK(redlock::detail::timing({}, with(1s)).at_least == 1s);
  const auto refused = [&](Duration at_least) {
    return refusal([&] { static_cast<void>(redlock::detail::timing({}, with(at_least))); });
  };
  CHECK(refused(-1ns) == "at_least is -1 ns; allowed: 0 s to the ttl, which is 1 s");
  CHECK(refused(1001ms) == "at_least is 1001 ms; allowed: 0 s to the ttl, which is 1 s");
  CHECK(refused(Duration{std::chrono::hours::max()}).starts_with("at_least is "));
}

TEST_CASE("a_shared_lock_has_a_token_and_neither_seats_nor_a_minimum_time") {
  const auto refused = [](const LockOptions& options) {
    return refusal([&] { redlock::detail::check_shared(options); });
  };
  CHECK(refused({.shared = true}).empty());
  CHECK(refused({.ttl = 1s, .lock_delay = 1s, .shared = true}).empty());
  CHECK(refused({.at_least = 1s, .seats = 2, .fencing = false}).empty());  // of other locks
  CHECK(refused({.seats = 2, .shared = true}) ==
        "shared and seats are both set; a semaphore's seat has one holder");
  CHECK(refused({.at_least = 1ms, .shared = true}) ==
        "shared and at_least are both set; only an exclusive lock can be kept");
  CHECK(refused({.shared = true, .fencing = false}).starts_with("shared is set and fencing is false; "));
}

TEST_CASE("no_shared_lock_is_adopted") {
  const auto refused = [](const LockOptions& options) {
    const redlock::Handover handover{"r", std::string(40, 'a'), redlock::FencingToken{7}};
    return refusal([&] { redlock::detail::check_adoption(handover, options); });
  };
  CHECK(refused({}).empty());
  CHECK(refused({.shared = true}).starts_with("shared is set; only an exclusive lock is adopted"));
}

TEST_CASE("the_wait_for_nodes_is_from_0_to_3650_days") {
  using redlock::detail::node_wait;
  CHECK(node_wait({}) == std::nullopt);
  CHECK(node_wait({.node_wait = 0ms}) == 0ms);
  CHECK(node_wait({.node_wait = 24h * 3650}) == 24h * 3650);
  const std::string allowed = "; allowed: 0 s to 3650 days";
  CHECK(wait_refusal(-1ns) == "node_wait is -1 ns" + allowed);
  CHECK(wait_refusal(24h * 3650 + 1s) == "node_wait is 315360001 s" + allowed);
}

TEST_CASE("max_ttl_does_not_limit_the_ttl_because_the_nodes_do") {
  CHECK(timing(1h).ttl == 1h);
  CHECK(refusal(with_max_ttl(10ms)).empty());
  CHECK(refusal(with_max_ttl(365 * 24h)).empty());
  CHECK(refusal(with_max_ttl(9ms)) == "max_ttl is 9 ms; allowed: 10 ms to 365 days");
  CHECK(refusal(with_max_ttl(366 * 24h)) == "max_ttl is 366 days; allowed: 10 ms to 365 days");
}

TEST_CASE("a_single_node_lock_refuses_options_of_the_restart_guard") {
  CHECK(redlock::detail::unguarded({}).restart_guard == RestartGuard::off);
  Options options;
  options.restart_guard = RestartGuard::off;
  CHECK(redlock::detail::unguarded(options).restart_guard == RestartGuard::off);
  const auto refused = [](const Options& wanted) {
    return refusal([&] { static_cast<void>(redlock::detail::unguarded(wanted)); });
  };
  options.restart_guard = RestartGuard::strict;
  CHECK(refused(options).find("SingleNodeLock has no restart guard") == 0);
  CHECK(refused(with_max_ttl(2min)).find("use Redlock instead") != std::string::npos);
  options = {};
  options.durable_nodes = true;
  CHECK_FALSE(refused(options).empty());
}

TEST_CASE("the_ttl_is_rounded_up_to_whole_milliseconds_before_anything_is_derived_from_it") {
  CHECK(timing(10ms + 1ns) ==
        Timing{.ttl = 11ms, .drift = 2110us, .node_timeout = 1100us, .fence_memory = 720h});
  CHECK(timing(std::chrono::duration<double>{0.0125}).ttl == 13ms);
  CHECK(timing(10ms + 1ns, with_drift(10500us)).drift == 10500us);
}

TEST_CASE("a_key_prefix_is_at_most_1024_arbitrary_bytes") {
  CHECK(refusal(with_prefix(std::string(1024, '\0'))).empty());
  CHECK(refusal(with_prefix(std::string(1025, 'x'))) == "key_prefix has 1025 bytes; allowed: 0 to 1024");
}

TEST_CASE("a_resource_is_1_to_4096_arbitrary_bytes") {
  CHECK(redlock::detail::lock_key("", "a") == "a");
  CHECK(redlock::detail::lock_key("app:", std::string_view{"a\0b", 3}) == std::string{"app:a\0b", 7});
  CHECK(redlock::detail::lock_key("", std::string(4096, '\xff')) == std::string(4096, '\xff'));
  CHECK(refusal("app:", "") == "the resource has 0 bytes; allowed: 1 to 4096");
  CHECK(refusal("", std::string(4097, 'x')) == "the resource has 4097 bytes; allowed: 1 to 4096");
}

TEST_CASE("no_lock_key_starts_with_the_reserved_prefix") {
  const std::string why = " starts with \"redlock:\", which is reserved for the library's own keys";
  CHECK(refusal(with_prefix("redlock:app:")) == "key_prefix" + why);
  CHECK(refusal("", "redlock:node") == "the resource" + why);
  CHECK(refusal("app:", "redlock:node") == "the resource" + why);
  // Neither part alone has the reserved prefix, but the whole key has it.
  CHECK(refusal("red", "lock:node") == "key_prefix and resource together form a key that" + why);
  CHECK(refusal("redlock", ":") == "key_prefix and resource together form a key that" + why);
  CHECK(refusal(with_prefix("redlock")).empty());
  CHECK(redlock::detail::lock_key("redlock", "/a") == "redlock/a");
  CHECK(redlock::detail::lock_key("", "Redlock:a") == "Redlock:a");
}

TEST_CASE("options_refuse_numbers_that_are_no_enumerators") {
  Options options;
  options.restart_guard = static_cast<RestartGuard>(3);
  CHECK(refusal(options) == "restart_guard is 3, which is not one of its enumerators");
  options.restart_guard = static_cast<RestartGuard>(-1);
  CHECK(refusal(options) == "restart_guard is -1, which is not one of its enumerators");
  CHECK(refusal([&] { static_cast<void>(redlock::detail::unguarded(options)); }) == refusal(options));
  const auto refusal_of = [](const LockOptions& lock) {
    return refusal([&] { static_cast<void>(redlock::detail::timing({}, lock)); });
  };
  CHECK(refusal_of({.renewal = static_cast<redlock::Renewal>(2)}) ==
        "renewal is 2, which is not one of its enumerators");
  CHECK(refusal_of({.order = static_cast<redlock::Order>(255)}) ==
        "order is 255, which is not one of its enumerators");
  for (const auto renewal : {redlock::Renewal::automatic, redlock::Renewal::none})
    for (const auto order : {redlock::Order::fifo, redlock::Order::none})
      CHECK(refusal_of({.renewal = renewal, .order = order}).empty());
}
