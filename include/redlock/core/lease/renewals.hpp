// The schedule of automatic renewals.
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
#include "redlock/core/lease/due_order.hpp"
#include "redlock/core/lease/lease_state.hpp"

namespace redlock::inline v1::core {

/// The leases of one client that are renewed automatically. Each lease is extended when a third of its ttl has passed,
/// minus some jitter, so that clients that started at the same time do not stay in step. Due times are rounded down to
/// a grid, so that the commands for several leases of one client travel together. A failed extension is tried again
/// soon, until the deadline.
class Renewals {
 public:
  explicit Renewals(std::uint64_t seed) noexcept : random_{seed} {}

  /// Starts renewing the lease.
  void add(const std::shared_ptr<LeaseState>& lease, Time now) {
    lease->renewals = this;
    schedule(lease, now);
  }
  /// Stops renewing the lease. An extension that is under way goes on.
  static void stop(const std::shared_ptr<LeaseState>& lease) noexcept {
    if (Renewals* const renewals = std::exchange(lease->renewals, nullptr)) renewals->unschedule(lease);
  }
  /// An extension has ended, with any outcome. Schedules the next one if the lease is renewed.
  static void extended(const std::shared_ptr<LeaseState>& lease, Time now) {
    if (Renewals* const renewals = lease->renewals) renewals->schedule(lease, now);
  }

  [[nodiscard]] Time timer() const noexcept { return due_.empty() ? never : due_.begin()->first; }
  /// A lease, and when its renewal was due.
  using Due = std::pair<Time, std::shared_ptr<LeaseState>>;
  /// Takes the leases whose renewal is due, at most a batch of them; the rest remains due. The end of its extension
  /// schedules a lease again.
  [[nodiscard]] std::vector<Due> take_due(Time now) {
    std::vector<Due> taken;
    while (timer() <= now && taken.size() < batch) {
      taken.push_back(*due_.begin());
      unschedule(taken.back().second);
    }
    return taken;
  }

  [[nodiscard]] std::size_t size() const noexcept { return due_.size(); }

 private:
  static constexpr std::size_t batch = 512;

  void unschedule(const std::shared_ptr<LeaseState>& lease) noexcept {
    if (lease->renewal_due != never) due_.erase({std::exchange(lease->renewal_due, never), lease});
  }
  void schedule(const std::shared_ptr<LeaseState>& lease, Time now) {
    unschedule(lease);
    const Span ttl = lease->claim.ttl;
    const State state = lease->state(now);
    if (state == State::lost || state == State::released) return stop(lease);
    Time due = state == State::held ? rounded_down(now + ttl / 3 - jitter(ttl / 30), ttl)
                                    : now + pause_after_doubt(ttl);
    // An extension that begins at the deadline releases what is left of the lease.
    due = lease->is_final() ? lease->deadline() : std::min(std::max(due, now), lease->deadline());
    due_.emplace(due, lease);
    lease->renewal_due = due;
  }
  [[nodiscard]] static Time rounded_down(Time about, Span ttl) noexcept {
    return about - about.time_since_epoch() % std::max<Span>(ttl / 300, std::chrono::milliseconds{1});
  }
  [[nodiscard]] Span pause_after_doubt(Span ttl) noexcept {
    const Span pause =
        std::clamp<Span>(ttl / 20, std::chrono::milliseconds{1}, std::chrono::milliseconds{500});
    return pause - jitter(pause / 4);
  }
  [[nodiscard]] Span jitter(Span most) noexcept {
    return Span{static_cast<Span::rep>(next_random(random_) % static_cast<std::uint64_t>(most.count() + 1))};
  }

  std::uint64_t random_;
  std::set<Due, DueOrder> due_;
};

}  // namespace redlock::inline v1::core
