// What the library keeps for one held lock, beside what the core decides about it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "redlock/core/lease/lease_state.hpp"
#include "redlock/lease.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

class LossNotifier;

/// The state of one lease, with what the user wants to be told about it. Shared by the `Lease`, the client's
/// `LeaseRegistry`, the renewals and the `LossNotifier`.
class LeaseRecord final : public core::LeaseState, public std::enable_shared_from_this<LeaseRecord> {
 public:
  using OnLost = std::function<void(Loss)>;

  /// `since`: when the attempt began. `observer`: may be null.
  LeaseRecord(std::string name, core::Claim what, core::Time since, core::Time valid_until,
              core::Time ends_at, OnLost call, LossNotifier& notifier, Observer* observer)
      : LeaseState{std::move(what), valid_until, ends_at},
        resource{std::move(name)},
        on_lost{std::move(call)},
        loss_notifier{notifier},
        since_{since},
        observer_{observer} {}

  const std::string resource;
  std::optional<Release> release_outcome;   // once released; only the thread that owns the `Lease` uses it
  OnLost on_lost;                           // empty once it was called, or will not be called any more
  std::stop_source stop{std::nostopstate};  // under the loss notifier's mutex
  std::atomic<bool> is_in_loss_notifier = false;  // it was added there once
  LossNotifier& loss_notifier;
  std::size_t place = static_cast<std::size_t>(-1);  // in the `LeaseRegistry`, under its mutex

  /// Calls what the user gave us. `to_stop`: a copy of `stop`, as others may ask for their tokens meanwhile.
  void tell(const std::stop_source& to_stop) {
    const OnLost call = std::exchange(on_lost, nullptr);
    if (observer_) count(Clock::now(), Release::already_lost);
    to_stop.request_stop();
    if (call) call(loss(Clock::now()));
  }
  /// Nothing is called any more. What the user gave us is destroyed here, and not under the client's mutex when the last
  /// reply comes: it may own a lease, or the client.
  void retire() noexcept { on_lost = nullptr; }

  /// It is over, in this way: for the observer. Only the first call counts.
  void count(core::Time ended, Release how) noexcept try {
    if (!observer_ || is_counted_.exchange(true)) return;
    const core::Span left = how == Release::already_lost
                                ? core::Span::zero()
                                : std::max<core::Span>(deadline() - ended, core::Span::zero());
    observer_->ended({.resource = claim.key,
                      .held = std::min(ended, deadline()) - since_,
                      .validity_left = left,
                      .release = how,
                      .loss = loss(ended)});
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then it is not counted
  }

 private:
  void lost_early() noexcept override;

  const core::Time since_;
  Observer* const observer_;
  std::atomic<bool> is_counted_ = false;
};

}  // namespace redlock::inline v1::detail
