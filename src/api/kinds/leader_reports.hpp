// Tells one observer of an election who leads.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "notify/lease_record.hpp"
#include "notify/user_code.hpp"
#include "redlock/core/operation/holding.hpp"
#include "redlock/kinds/election.hpp"

namespace redlock::inline v1::detail {

[[nodiscard]] std::optional<Leader> leader_of(const core::Holding&);

/// Passes what a client sees to the user's callback: one call at a time, and only the newest. Thread safe.
class LeaderReports : public std::enable_shared_from_this<LeaderReports> {
 public:
  using Callback = std::function<void(const std::optional<Leader>&)>;

  explicit LeaderReports(Callback callback) : callback_{std::make_shared<Callback>(std::move(callback))} {}
  LeaderReports(const LeaderReports&) = delete;
  LeaderReports& operator=(const LeaderReports&) = delete;

  /// To be called under the client's mutex. `news`: of this client.
  void changed(const core::Holding& seen, LossReports& news) noexcept try {
    const std::lock_guard lock{mutex_};
    newest_ = seen;
    if (!callback_ || is_delivering_) return;
    is_delivering_ =
        news.call_soon([self = shared_from_this(), report = news.report()] { self->deliver(report); });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory: the next change is reported
  }

  /// No call begins any more. Blocks while one runs on another thread, except inside a callback.
  void stop() noexcept {
    std::unique_lock lock{mutex_};
    const std::shared_ptr<Callback> last = std::exchange(callback_, nullptr);
    if (!runs_user_code) has_ended_.wait(lock, [this] { return !is_calling_; });
    lock.unlock();  // before the callback is destroyed, which is the user's code
  }

 private:
  void deliver(const std::function<void(std::string_view)>& report) noexcept {
    std::unique_lock lock{mutex_};
    try {
      while (callback_ && newest_) deliver_newest(lock, report);
    } catch (const std::exception&) {  // no memory: the leader is reported at the next change
    }
    is_delivering_ = false;
  }
  void deliver_newest(std::unique_lock<std::mutex>& lock,
                      const std::function<void(std::string_view)>& report) {
    std::optional<Leader> leader = leader_of(*newest_);
    newest_.reset();
    if (!leader && !has_led_) return;
    has_led_ = leader.has_value();
    is_calling_ = true;
    auto call = [callback = callback_, leader = std::move(leader)] { (*callback)(leader); };
    lock.unlock();
    run_callback(std::move(call), "an observer of an election", report);
    lock.lock();
    is_calling_ = false;
    has_ended_.notify_all();
  }

  std::mutex mutex_;
  // The mutex guards all members below.
  std::condition_variable has_ended_;   // a call
  std::shared_ptr<Callback> callback_;  // null once stopped
  std::optional<core::Holding> newest_;
  bool has_led_ = true;         // false once a call has reported that nobody leads
  bool is_delivering_ = false;  // `deliver` runs, or will
  bool is_calling_ = false;
};

}  // namespace redlock::inline v1::detail
