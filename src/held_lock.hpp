// What a lease guards.
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

#include "redlock/core/tenure.hpp"
#include "redlock/lease.hpp"
#include "redlock/observer.hpp"

namespace redlock::inline v1::detail {

class Client;
class Herald;

/// A tenure whose loss may be told. Shared by the lease, the renewals and the herald.
class Holding final : public core::Tenure, public std::enable_shared_from_this<Holding> {
 public:
  using OnLost = std::function<void(Loss)>;

  /// `since`: when the attempt began. `observer`: may be null.
  Holding(core::Claim what, core::Time since, core::Time valid_until, core::Time ends_at, OnLost call,
          Herald& teller, Observer* observer)
      : Tenure{std::move(what), valid_until, ends_at},
        on_lost{std::move(call)},
        herald{teller},
        since_{since},
        observer_{observer} {}

  OnLost on_lost;                           // empty once called, or once it will not be
  std::stop_source stop{std::nostopstate};  // of the herald
  std::atomic<bool> has_audience = false;   // likewise: it was watched
  Herald& herald;
  std::size_t place = static_cast<std::size_t>(-1);  // of `Holdings`

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

/// One held lock, as the lease has it.
struct HeldLock {
  HeldLock(std::shared_ptr<Client> of, std::string name, std::shared_ptr<Holding> what)
      : client{std::move(of)}, resource{std::move(name)}, holding{std::move(what)} {}

  const std::shared_ptr<Client> client;
  const std::string resource;
  const std::shared_ptr<Holding> holding;
  std::optional<Release> release_outcome;  // the owner's: once released
};

}  // namespace redlock::inline v1::detail
