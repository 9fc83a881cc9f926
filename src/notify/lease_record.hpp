// One held lock as the library keeps it: the core's state and the user's callback.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/lease/lease_state.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::detail {

class LeaseRecord;

/// Tells users of losses and of other news. Thread safe.
class LossReports {
 public:
  virtual ~LossReports() = default;
  /// Adds leases, whose losses will be reported. Returns false, and adds none, if one of them is over. Throws std::system_error if
  /// the system has no thread or timer for it.
  virtual bool add(std::span<const std::shared_ptr<LeaseRecord>>) = 0;
  /// A token that is stopped when the lease is lost. Adds the lease and throws like `add`.
  [[nodiscard]] virtual std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&) = 0;
  /// Blocks until the lease is lost or released, until `until`, or until a stop request. After a loss, blocks up to
  /// 100 ms longer until the lease's callback has begun. Returns true if the lease is still in force. Adds the lease and
  /// throws like `add`.
  virtual bool wait(const std::shared_ptr<LeaseRecord>&, core::Time until, const std::stop_token&) = 0;
  /// The lease was lost before its deadline: reports that now. Called under the client's mutex.
  virtual void lost(const std::shared_ptr<LeaseRecord>&) noexcept = 0;
  /// Somebody asks the holder to give the lock up: calls the lease's `on_revoke` soon. Drops the request if the lease is over
  /// or memory runs out. To be called under the client's mutex, for a lease that was added.
  virtual void asked(const std::shared_ptr<LeaseRecord>&, std::string_view why) noexcept = 0;
  /// The lease was released: no callback of it begins any more. With real nodes, blocks while one runs on another thread,
  /// unless it is called inside a callback.
  virtual void forget(const std::shared_ptr<LeaseRecord>&) noexcept = 0;

  /// Makes sure that `call_soon` has a thread. Throws like `add`.
  virtual void begin() = 0;
  /// Calls this soon, without the client's mutex, on a thread that may run the user's code. To be called under the client's
  /// mutex. Returns false, and does nothing, if memory runs out.
  virtual bool call_soon(std::function<void()>) noexcept = 0;
  /// An exception left the user's callback: tells the user.
  [[nodiscard]] virtual const std::function<void(std::string_view)>& report() const noexcept = 0;
};

/// The state of one lease, with the user's callbacks and stop source. Shared by the `Lease`, the client's
/// `LeaseRegistry`, the renewals and the `LossReports`.
class LeaseRecord final : public core::LeaseState, public std::enable_shared_from_this<LeaseRecord> {
 public:
  using OnLost = std::function<void(Loss)>;
  using OnRevoke = std::function<void(std::string_view why)>;

  /// `since`: when the attempt began. `observer`: may be null.
  LeaseRecord(std::string name, core::Claim&& what, core::Time since, core::Time valid_until,
              core::Time ends_at, OnLost call, LossReports& losses, Observer* observer)
      : LeaseState{std::move(what), valid_until, ends_at},
        resource{std::move(name)},
        on_lost{std::move(call)},
        loss_reports{losses},
        since_{since},
        observer_{observer} {
    set_returned(false);
  }

  const std::string resource;
  std::optional<Release> release_outcome;   // once released; used only by the thread that owns the `Lease`
  OnLost on_lost;                           // empty once `take_callback` or `retire` was called
  OnRevoke on_revoke;                       // empty once `take_request` or `retire` was called
  std::stop_source stop{std::nostopstate};  // guarded by the mutex of the loss reports
  std::atomic<bool> is_in_loss_notifier = false;  // it was added to the notifier at some time
  LossReports& loss_reports;
  std::size_t place = static_cast<std::size_t>(-1);  // index in the `LeaseRegistry`, guarded by its mutex

  /// Reports a loss to the observer, and returns what is to be called: it requests the stop and calls the user's
  /// callback. To be called under the mutex of the loss reports; the result is to be called and destroyed without it.
  [[nodiscard]] auto take_callback(core::Time now) {
    if (observer_) count(now, Release::already_lost);
    return [to_stop = stop, call = std::exchange(on_lost, nullptr), reason = loss(now)]() mutable {
      to_stop.request_stop();
      if (call) call(reason);
    };
  }
  /// Returns what is to be called because somebody asks for the lock: the user's callback, the first time. To be called like
  /// `take_callback`.
  [[nodiscard]] auto take_request(std::string why) {
    return [call = std::exchange(on_revoke, nullptr), reason = std::move(why)] {
      if (call) call(reason);
    };
  }
  /// Destroys the user's callbacks; nothing is called any more. This must not happen under the client's mutex, where the
  /// last reference to this record may be dropped, because the callback may own a lease or the client.
  void retire() noexcept {
    on_lost = nullptr;
    on_revoke = nullptr;
  }

  /// Whether its call returns it; at first not. Only of a lease that is returned the observer hears, and only such a lease keeps
  /// the lock for a delay or a minimum time.
  void set_returned(bool is_returned) noexcept {
    was_used = is_returned;
    is_counted_ = !is_returned;
  }

  /// Reports the end of the lease to the observer. Only the first call has an effect.
  void count(core::Time ended, Release how) noexcept try {
    if (!observer_ || is_counted_.exchange(true)) return;
    const core::Span left = how == Release::already_lost
                                ? core::Span::zero()
                                : std::max<core::Span>(deadline() - ended, core::Span::zero());
    const Loss known = loss(ended);
    // Only the release has found that the owner value is gone.
    const bool is_found_now = known == Loss::none && how == Release::already_lost;
    observer_->ended({.resource = claim.key,
                      .kind = claim.observed_as,
                      .held = std::min(ended, deadline()) - since_,
                      .validity_left = left,
                      .release = how,
                      .loss = is_found_now ? Loss::deleted : known});
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the observer misses this lease
  }

 private:
  void lost_early() noexcept override { loss_reports.lost(shared_from_this()); }
  void asked(std::string_view why) noexcept override { loss_reports.asked(shared_from_this(), why); }

  const core::Time since_;
  Observer* const observer_;
  std::atomic<bool> is_counted_ = true;  // or not to be
};

}  // namespace redlock::inline v1::detail
