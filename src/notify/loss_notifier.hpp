// Reports losses of leases to the users' callbacks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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

/// Calls each user's callback once when its lease is lost, at the lease's deadline at the latest. Also tells holders once that
/// somebody asks for their lock, and runs other calls of the user's code, in no particular order.
///
/// Threads take turns: one waits for the next deadline or for a lease that is lost earlier, and wakes up some times
/// beforehand (`next_wake_up`). Before it calls a callback, another thread takes over the waiting, so a callback that
/// hangs does not delay other reports. At most 16 threads run. Nothing here needs the client's mutex, and no callback
/// runs under the notifier's own mutex.
class LossNotifier final : public LossReports {
 public:
  using Report = std::function<void(std::string_view)>;

  /// `report`: receives warnings, and a message when a callback throws. May be empty. Starts no thread.
  explicit LossNotifier(Report report);
  /// Blocks while callbacks run on other threads, unless it is called inside a callback.
  ~LossNotifier() override;
  LossNotifier(const LossNotifier&) = delete;
  LossNotifier& operator=(const LossNotifier&) = delete;

  bool add(std::span<const std::shared_ptr<LeaseRecord>>) override;
  [[nodiscard]] std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&) override;
  bool wait(const std::shared_ptr<LeaseRecord>&, core::Time until, const std::stop_token&) override;
  void lost(const std::shared_ptr<LeaseRecord>&) noexcept override;
  void asked(const std::shared_ptr<LeaseRecord>&, std::string_view why) noexcept override;
  void forget(const std::shared_ptr<LeaseRecord>&) noexcept override;
  void begin() override;
  bool call_soon(std::function<void()>) noexcept override;
  [[nodiscard]] const Report& report() const noexcept override;
  /// Passes a warning to `report` soon, on a thread of the notifier.
  void warn(std::string what) noexcept;
  void close_in_child() const noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>&);

  const std::shared_ptr<State> state_;  // outlives this object if a callback destroys it
};

}  // namespace redlock::inline v1::detail
