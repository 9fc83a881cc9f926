// Telling of losses.
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

/// Calls what users gave us for the loss of a lease, each once, at the lease's deadline at the latest.
///
/// Threads take turns: one keeps the *watch*, until the earliest deadline or an earlier word, and looks up some times
/// on the way (`next_wake_up`). Before it calls a user's code it hands the watch over, and so a callback that hangs keeps
/// nobody else from being told. Nothing here needs the client's mutex, nor holds its own while user code runs.
class LossNotifier {
 public:
  using Report = std::function<void(std::string_view)>;

  /// `report`: told of callbacks that throw, and of warnings. May be empty. No thread is started.
  explicit LossNotifier(Report report);
  /// Waits for callbacks that run on other threads.
  ~LossNotifier();
  LossNotifier(const LossNotifier&) = delete;
  LossNotifier& operator=(const LossNotifier&) = delete;

  /// From now on its loss is told. Throws std::system_error when the system has no thread or timer for it.
  void watch(const std::shared_ptr<LeaseRecord>&);
  /// Also watches.
  [[nodiscard]] std::stop_token stop_token(const std::shared_ptr<LeaseRecord>&);
  /// Also watches. Blocks until it is lost, released, or the time or a stop request has come; and, when it was lost, up to
  /// 100 ms longer, until its callback begins. Whether it is still in force.
  bool wait(const std::shared_ptr<LeaseRecord>&, core::Time until, const std::stop_token&);
  /// It was lost before its deadline.
  void lost(const std::shared_ptr<LeaseRecord>&) noexcept;
  /// Told to `report`, soon.
  void warn(std::string what) noexcept;
  /// It was released: nothing of it is called any more. Waits for its callback if that runs on another thread.
  void forget(const std::shared_ptr<LeaseRecord>&) noexcept;
  void close_in_child() const noexcept;

 private:
  struct State;
  static void run(const std::shared_ptr<State>&);

  const std::shared_ptr<State> state_;  // outlives this object in a thread that destroys it from a callback
};

}  // namespace redlock::inline v1::detail
