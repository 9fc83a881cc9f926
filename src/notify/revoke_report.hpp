// Tells the holder of a lease that somebody asks for its lock.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "notify/user_code.hpp"

namespace redlock::inline v1::detail {

/// Calls the user's callback once. Thread safe.
class RevokeReport : public std::enable_shared_from_this<RevokeReport> {
 public:
  using Callback = std::function<void(std::string_view why)>;

  explicit RevokeReport(Callback callback) : callback_{std::move(callback)} {}
  RevokeReport(const RevokeReport&) = delete;
  RevokeReport& operator=(const RevokeReport&) = delete;

  /// To be called at most once, under the client's mutex. `news`: of this client, which has begun to make calls.
  template <class News>
  void tell(std::string_view why, News& news) noexcept try {
    news.call_soon([self = shared_from_this(), text = std::string{why}, report = news.report()] {
      self->call(text, report);
    });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory: the holder is not told
  }

  /// No call begins any more. Blocks while it runs on another thread, except inside a callback.
  void stop() noexcept {
    std::unique_lock lock{mutex_};
    const Callback last = std::exchange(callback_, nullptr);
    if (!runs_user_code) has_ended_.wait(lock, [this] { return !is_calling_; });
    lock.unlock();  // before the callback is destroyed, which is the user's code
  }

 private:
  void call(const std::string& why, const std::function<void(std::string_view)>& report) {
    std::unique_lock lock{mutex_};
    Callback callback = std::exchange(callback_, nullptr);
    if (!callback) return;
    is_calling_ = true;
    lock.unlock();
    run_callback([call = std::move(callback), &why] { call(why); }, "a revocation callback", report);
    lock.lock();
    is_calling_ = false;
    has_ended_.notify_all();
  }

  std::mutex mutex_;
  // The mutex guards all members below.
  std::condition_variable has_ended_;
  Callback callback_;  // null once called or stopped
  bool is_calling_ = false;
};

}  // namespace redlock::inline v1::detail
