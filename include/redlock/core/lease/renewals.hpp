// When which lease is to be extended.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/lease_state.hpp"

namespace redlock::inline v1::core {

/// The leases of one client that renew themselves. Each is extended when a third of its ttl has passed, a little earlier
/// by chance, so that many clients that began together do not go on together; and at moments that the leases of one
/// client share, so that their commands travel together. After a failure it is tried again soon, until the deadline.
class Renewals {
 public:
  explicit Renewals(std::uint64_t seed) noexcept : random_{seed} {}

  /// From now on it is renewed.
  void add(const std::shared_ptr<LeaseState>& lease, Time now) {
    lease->renewals = this;
    schedule(lease, now);
  }
  /// Never any more. An extension that is under way goes on.
  static void stop(const std::shared_ptr<LeaseState>& lease) noexcept {
    if (Renewals* const renewals = std::exchange(lease->renewals, nullptr)) renewals->strike(lease);
  }
  /// An extension has ended, in whatever way: if the lease is renewed, the next one is scheduled.
  static void extended(const std::shared_ptr<LeaseState>& lease, Time now) {
    if (Renewals* const renewals = lease->renewals) renewals->schedule(lease, now);
  }

  [[nodiscard]] Time timer() const noexcept { return due_.empty() ? never : due_.begin()->first; }
  /// When it was due, and what.
  using Due = std::pair<Time, std::shared_ptr<LeaseState>>;
  /// Those whose time has come, a batch of them; the rest is due at once. The end of its extension puts each on the list
  /// again.
  [[nodiscard]] std::vector<Due> take_due(Time now) {
    std::vector<Due> taken;
    while (timer() <= now && taken.size() < batch) {
      taken.push_back(*due_.begin());
      strike(taken.back().second);
    }
    return taken;
  }

  [[nodiscard]] std::size_t size() const noexcept { return due_.size(); }

 private:
  static constexpr std::size_t batch = 512;

  void strike(const std::shared_ptr<LeaseState>& lease) noexcept {
    if (lease->renewal_due != never) due_.erase({std::exchange(lease->renewal_due, never), lease});
  }
  void schedule(const std::shared_ptr<LeaseState>& lease, Time now) {
    strike(lease);
    const Span ttl = lease->claim.ttl;
    const State state = lease->state(now);
    if (state == State::lost || state == State::released) return stop(lease);
    Time due = state == State::held ? common_moment(now + ttl / 3 - by_chance(ttl / 30), ttl)
                                    : now + pause_after_doubt(ttl);
    // Of one that is over by then what is left is released.
    due = lease->is_final() ? lease->deadline() : std::min(std::max(due, now), lease->deadline());
    due_.emplace(due, lease);
    lease->renewal_due = due;
  }
  [[nodiscard]] static Time common_moment(Time about, Span ttl) noexcept {
    return about - about.time_since_epoch() % std::max<Span>(ttl / 300, std::chrono::milliseconds{1});
  }
  [[nodiscard]] Span pause_after_doubt(Span ttl) noexcept {
    const Span pause =
        std::clamp<Span>(ttl / 20, std::chrono::milliseconds{1}, std::chrono::milliseconds{500});
    return pause - by_chance(pause / 4);
  }
  [[nodiscard]] Span by_chance(Span most) noexcept {
    return Span{static_cast<Span::rep>(next_random(random_) % static_cast<std::uint64_t>(most.count() + 1))};
  }

  std::uint64_t random_;
  std::set<Due> due_;
};

}  // namespace redlock::inline v1::core
