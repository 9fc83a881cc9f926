#include "api/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "os/process_label.hpp"
#include "redlock/core/lease/asking.hpp"
#include "redlock/core/lease/breaking.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/error.hpp"

namespace redlock {
inline namespace v1 {
namespace detail {
namespace {

using std::chrono::milliseconds;

constexpr Clock::duration shortest_timeout = milliseconds{1};
constexpr Clock::duration longest_timeout = std::chrono::seconds{60};
constexpr Clock::duration shortest_ttl = milliseconds{10};
constexpr Clock::duration longest_hold = std::chrono::hours{3650 * 24};
constexpr Clock::duration longest_ttl = std::chrono::hours{365 * 24};
constexpr Clock::duration longest_memory = std::chrono::hours{3650 * 24};
constexpr std::size_t longest_prefix = 1024;
constexpr std::size_t longest_resource = 4096;
constexpr std::uint64_t greatest_token = (std::uint64_t{1} << 53U) - 2;
constexpr std::string_view own_keys = "redlock:";

[[noreturn]] void refuse(const std::string& why) { throw Error(Errc::invalid_argument, why); }

// In the largest unit that expresses it exactly.
std::string text(Clock::duration time) {
  const auto count = time.count();
  if (time == Clock::duration::max()) return "unlimited";
  if (time % std::chrono::hours{24} == time.zero() && count != 0) {
    const auto days = time / std::chrono::hours{24};
    return std::to_string(days) + (days == 1 ? " day" : " days");
  }
  if (time % std::chrono::seconds{1} == time.zero())
    return std::to_string(time / std::chrono::seconds{1}) + " s";
  if (time % milliseconds{1} == time.zero()) return std::to_string(time / milliseconds{1}) + " ms";
  return std::to_string(count) + " ns";
}

/// `note`: more about what is allowed.
void check_between(std::string_view name, Clock::duration least, Clock::duration given, Clock::duration most,
                   std::string_view note = "") {
  if (given >= least && given <= most) return;
  refuse((std::string{name} + " is " + text(given) + "; allowed: " + text(least) + " to " + text(most))
             .append(note));
}

void check_length(std::string_view name, std::size_t least, std::size_t given, std::size_t most) {
  if (given >= least && given <= most) return;
  refuse(std::string{name} + " has " + std::to_string(given) + " bytes; allowed: " + std::to_string(least) +
         " to " + std::to_string(most));
}

/// The enumerators count from 0 to `last`: a cast can make other values.
template <class Enumeration>
void check_enumerator(std::string_view name, Enumeration given, Enumeration last) {
  if (given >= Enumeration{} && given <= last) return;
  refuse(std::string{name} + " is " + std::to_string(static_cast<int>(given)) +
         ", which is not one of its enumerators");
}

void check_guard(const Options& options) {
  check_enumerator("restart_guard", options.restart_guard, RestartGuard::off);
}

void check_owner_value(std::string_view owner_value) {
  check_length("the owner value", 1, owner_value.size(), core::Breaking::longest_owner);
  if (owner_value.starts_with(own_keys))
    refuse("the owner value starts with \"redlock:\": nobody owns a lock with such a value");
}

void check_is_not_ours(std::string_view name, std::string_view key) {
  if (!key.starts_with(own_keys)) return;
  refuse(std::string{name} + " starts with \"redlock:\", which is reserved for the library's own keys");
}

}  // namespace

void check_max_ttl(Duration max_ttl) { check_between("max_ttl", shortest_ttl, max_ttl, longest_ttl); }

void check(const Options& options) {
  check_guard(options);
  check_between("connect_timeout", shortest_timeout, options.connect_timeout, longest_timeout);
  if (options.node_timeout) {
    check_between("node_timeout", shortest_timeout, *options.node_timeout, longest_timeout);
  }
  check_between("credentials_interval", milliseconds{10}, options.credentials_interval,
                std::chrono::hours{24});
  if (options.drift && *options.drift < Duration{}) {
    refuse("drift is " + text(*options.drift) + "; allowed: 0 s to less than the ttl");
  }
  check_between("fence_memory", Clock::duration::zero(), options.fence_memory, longest_memory);
  check_max_ttl(options.max_ttl);
  check_length("key_prefix", 0, options.key_prefix.size(), longest_prefix);
  check_is_not_ours("key_prefix", options.key_prefix);
}

Options unguarded(Options options) {
  check_guard(options);
  if (options.restart_guard == RestartGuard::strict || options.durable_nodes ||
      options.max_ttl != Options{}.max_ttl) {
    refuse(
        "SingleNodeLock has no restart guard: it takes neither restart_guard = strict nor durable_nodes nor "
        "max_ttl; use Redlock instead, which accepts a single node too");
  }
  options.restart_guard = RestartGuard::off;
  return options;
}

std::string lock_key(std::string_view prefix, std::string_view resource) {
  check_length("the resource", 1, resource.size(), longest_resource);
  check_is_not_ours("the resource", resource);
  auto key = std::string{prefix}.append(resource);
  check_is_not_ours("key_prefix and resource together form a key that", key);
  return key;
}

Timing timing(const Options& options, const LockOptions& lock) {
  check_enumerator("renewal", lock.renewal, Renewal::none);
  check_enumerator("order", lock.order.value_or(Order::fifo), Order::none);
  check_between("ttl", shortest_ttl, lock.ttl, longest_ttl,
                "; with a restart guard to the nodes' max_ttl, which is 60 s by default");
  const Clock::duration ttl = std::chrono::ceil<milliseconds>(lock.ttl.get());
  check_between("lock_delay", Clock::duration::zero(), lock.lock_delay, longest_ttl);
  const Clock::duration lock_delay = std::chrono::ceil<milliseconds>(lock.lock_delay.get());
  if (lock.at_least < Duration{} || lock.at_least > Duration{ttl})
    refuse("at_least is " + text(lock.at_least) + "; allowed: 0 s to the ttl, which is " + text(ttl));
  if (lock.max_hold && (*lock.max_hold < Duration{ttl} || *lock.max_hold > Duration{longest_hold}))
    refuse("max_hold is " + text(*lock.max_hold) + "; allowed: the ttl, which is " + text(ttl) + ", to " +
           text(longest_hold));
  const Clock::duration drift = options.drift ? options.drift->get() : core::default_drift(ttl);
  if (drift >= ttl) {
    refuse("drift is " + text(drift) + "; it must be less than the ttl, which is " + text(ttl));
  }
  const Clock::duration memory = std::chrono::ceil<milliseconds>(options.fence_memory.get());
  return {
      .ttl = ttl,
      .lock_delay = lock_delay,
      .at_least = std::chrono::ceil<milliseconds>(lock.at_least.get()),
      .drift = drift,
      .node_timeout = options.node_timeout.value_or(std::min(default_node_timeout, ttl / 10)),
      .fence_memory = memory == Clock::duration::zero() ? memory : std::max(memory, 10 * (ttl + lock_delay))};
}

void check_label(std::string_view label) { check_length("the label", 0, label.size(), longest_label); }

void check_why(std::string_view why) {
  check_length("the reason of a revocation", 1, why.size(), core::Asking::longest_reason);
}

void check_broken(std::span<const std::string_view> owner_values) {
  if (owner_values.empty() || owner_values.size() > core::Breaking::most_owners)
    refuse("break_lock has " + std::to_string(owner_values.size()) + " owner values; allowed: 1 to " +
           std::to_string(core::Breaking::most_owners));
  for (const std::string_view owner_value : owner_values) check_owner_value(owner_value);
}

std::size_t seats_of(std::string_view resource, const LockOptions& lock) {
  if (!lock.seats) return 0;
  const std::size_t seats = *lock.seats;
  if (seats < 1 || seats > core::most_seats)
    refuse("seats is " + std::to_string(seats) + "; allowed: 1 to " + std::to_string(core::most_seats));
  const std::size_t added = core::seat_key("", seats - 1).size() + 1;
  check_length("the resource, as the name of a semaphore,", 1, resource.size(), longest_resource - added);
  return seats;
}

void check_shared(const LockOptions& lock) {
  if (!lock.shared) return;
  if (lock.seats) refuse("shared and seats are both set; a semaphore's seat has one holder");
  if (lock.at_least > Duration{})
    refuse("shared and at_least are both set; only an exclusive lock can be kept");
  if (!lock.fencing)
    refuse(
        "shared is set and fencing is false; shared locks need the counter, which takes no further round "
        "trip");
}

void check_has_no_seats(const LockOptions& lock) {
  if (lock.seats)
    refuse(
        "seats is set; a call for several locks takes no seats, so acquire the permits of a semaphore one by "
        "one");
}

LockOptions for_one_holder(LockOptions lock, std::string_view kind) {
  const std::string has_one_holder = "is set; " + std::string{kind} + " has one holder at a time, so use ";
  if (lock.seats) refuse("seats " + has_one_holder + "Semaphore");
  if (lock.shared) refuse("shared " + has_one_holder + "SharedMutex");
  return lock;
}

std::optional<Clock::duration> node_wait(const LockOptions& lock) {
  if (!lock.node_wait) return std::nullopt;
  check_between("node_wait", Clock::duration::zero(), *lock.node_wait, longest_hold);
  return lock.node_wait->get();
}

LockOptions without_node_wait(LockOptions lock) {
  lock.node_wait.reset();
  return lock;
}

void check_adoption(const Handover& handover, const LockOptions& options) {
  const FencingToken token = handover.token;
  check_owner_value(handover.owner_value);
  if (token.value() > greatest_token)
    refuse("the fencing token is " + std::to_string(token.value()) + "; allowed: 0 (no token) to " +
           std::to_string(greatest_token));
  if (options.shared)
    refuse(
        "shared is set; only an exclusive lock is adopted, which LockClient::downgrade then makes a shared "
        "one");
  if (!options.fencing && token) refuse("the lock to adopt has a fencing token; set fencing = true");
}

}  // namespace detail
}  // namespace v1
}  // namespace redlock
