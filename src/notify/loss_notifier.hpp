// Reports losses of leases to the users' callbacks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "notify/lease_record.hpp"
#include "os/descriptor.hpp"
#include "redlock/core/lease/loss_queue.hpp"

namespace redlock::inline v1::detail {

/// Calls each user's callback once when its lease is lost, at the lease's deadline at the latest.
///
/// Threads take turns: one waits for the next deadline or for a lease that is lost earlier, and wakes up some times
/// beforehand (`next_wake_up`). Before it calls a callback, another thread takes over the waiting, so a callback that
/// hangs does not delay other reports. At most 16 threads run. Nothing here needs the client's mutex, and no callback
/// runs under the notifier's own mutex.
class LossNotifier {
 public:
  using Report = std::function<void(std::string_view)>;

  /// `report`: receives warnings, and a message when a callback throws. May be empty. Starts no thread.
  explicit LossNotifier(Report report);
  /// Blocks while callbacks run on other threads, unless it is called inside a callback.
  ~LossNotifier();
  LossNotifier(const LossNotifier&) = delete;
  LossNotifier& operator=(const LossNotifier&) = delete;

  /// Adds a lease, whose loss will be reported. Throws std::system_error if the system has no thread or timer for it.
  void add(const std::shared_ptr<LeaseRecord>&);
  /// A token that is stopped when the lease is lost. Adds the lease and throws like `add`.
  [[nodiscard]] std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&);
  /// Blocks until the lease is lost or released, until `until`, or until a stop request. After a loss, blocks up to
  /// 100 ms longer until the lease's callback has begun. Returns true if the lease is still in force. Adds the lease and
  /// throws like `add`.
  bool wait(const std::shared_ptr<LeaseRecord>&, core::Time until, const std::stop_token&);
  /// The lease was lost before its deadline: reports that now.
  void lost(const std::shared_ptr<LeaseRecord>&) noexcept;
  /// Passes a warning to `report` soon, on a thread of the notifier.
  void warn(std::string what) noexcept;
  /// The lease was released: no report of its loss begins any more. Blocks while its callback runs on another thread,
  /// unless it is called inside a callback.
  void forget(const std::shared_ptr<LeaseRecord>&) noexcept;
  void close_in_child() const noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>&);

  const std::shared_ptr<State> state_;  // outlives this object if a callback destroys it
};

}  // namespace redlock::inline v1::detail
