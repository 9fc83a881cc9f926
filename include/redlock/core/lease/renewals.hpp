// The schedule of automatic renewals.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

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
  /// Takes the leases whose renewal is due, at most a batch of them, and calls `extend(due, lease)` for each; the rest
  /// remains due. The end of its extension schedules a lease again. If `extend` throws, because memory has run out, this lease
  /// and those behind it remain due.
  template <class Extend>
  void extend_due(Time now, const Extend& extend) {
    for (std::size_t taken = 0; timer() <= now && taken < batch; ++taken) {
      const Time due = due_.begin()->first;
      const std::shared_ptr<LeaseState> lease = due_.begin()->second;
      move(lease, never);
      try {
        extend(due, lease);
      } catch (...) {
        if (lease->renewals == this && lease->renewal_due == never) move(lease, due);
        throw;
      }
    }
  }

 private:
  static constexpr std::size_t batch = 512;
  /// A lease, and when its renewal is due: `never` while its extension is under way. So that an extension needs no memory, its
  /// entry is kept meanwhile.
  using Due = std::pair<Time, std::shared_ptr<LeaseState>>;

  void unschedule(const std::shared_ptr<LeaseState>& lease) noexcept {
    due_.erase(Due{std::exchange(lease->renewal_due, never), lease});
  }
  void move(const std::shared_ptr<LeaseState>& lease, Time due) {
    if (auto entry = due_.extract(Due{lease->renewal_due, lease})) {
      entry.value().first = due;
      due_.insert(std::move(entry));
    } else {
      due_.emplace(due, lease);
    }
    lease->renewal_due = due;
  }
  void schedule(const std::shared_ptr<LeaseState>& lease, Time now) {
    const Span ttl = lease->claim.ttl;
    const State state = lease->state(now);
    if (state == State::lost || state == State::released) return stop(lease);
    Time due = state == State::held ? rounded_down(now + ttl / 3 - jitter(ttl / 30), ttl)
                                    : now + pause_after_doubt(ttl);
    // An extension that begins at the deadline releases what is left of the lease.
    due = lease->is_final() ? lease->deadline() : std::min(std::max(due, now), lease->deadline());
    move(lease, due);
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
