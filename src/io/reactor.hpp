// The reactor: runs operations, with the waiting threads doing the I/O themselves.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "io/connections.hpp"
#include "io/sockets/poller.hpp"
#include "io/threads/background_thread.hpp"
#include "io/threads/parking.hpp"
#include "os/wake_event.hpp"
#include "redlock/core/engine/engine.hpp"

namespace redlock::inline v1::detail {

/// Runs operations on the nodes for the threads that call it.
///
/// The I/O of a call needs no other thread. One of the threads that wait for an operation polls the sockets and handles
/// everything that becomes ready, also for other operations; it is the *driver*. The other waiting threads park until their
/// operation is done or the driver's role passes to them; one whose call pauses between attempts only sleeps, and neither
/// drives nor gets that role. Handing every operation to an I/O thread would cost two context
/// switches. A background thread drives only if something must happen while no caller waits: renewals, redials, releases that
/// are not sent or answered yet, invalidation messages, and connections that end while a lease is in force. It gives way to
/// every caller.
///
/// One mutex guards everything, and nothing blocks while holding it. Polling, parking and waking threads are done
/// without the mutex.
class Reactor {
 public:
  /// What is called under the mutex.
  struct Calls {
    std::function<void(std::string)> warn;  ///< With a warning for the user.
    std::function<void()> login_refused;    ///< A server has refused a login.
  };
  /// `observer`, `member`: for the engine.
  Reactor(const std::vector<Endpoint>& endpoints, std::vector<core::Session::Settings> sessions,
          core::Span connect_timeout, std::uint64_t seed,
          const std::optional<core::RestartGuard::Settings>& guard, Observer* observer, std::string member,
          Calls calls);
  /// Leaves all lines, sends what is queued and reads to the end, for at most 250 ms. Releases that wait for a new connection are
  /// sent if it is made in that time.
  ~Reactor();
  /// Closes all descriptors without sending anything, except those of connections that were being closed.
  void close_in_child() const noexcept;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  /// Submits an operation, blocks until it is done, and returns what `take(operation)` made of it under the
  /// mutex. A stop request abandons it.
  template <class Operation, class Take>
  auto run(std::unique_ptr<Operation> fresh, const std::stop_token& stop, Take&& take) {
    Operation& operation = *fresh;
    Successor successor;  // woken last: after the mutex is free again
    std::unique_lock lock{mutex_};
    const core::Ref<core::Operation> kept{fresh.release()};
    wait_for(kept, stop, lock, successor);
    return std::forward<Take>(take)(operation);
  }

  /// Starts renewing the lease, and watching it if it is held for more than a moment. Throws std::system_error if the system
  /// has no thread for it.
  void keep(const std::shared_ptr<core::LeaseState>&);
  /// Starts watching the lease's key: the lease is lost as soon as a majority of the nodes has lost it. Throws like
  /// `keep`.
  void watch(const std::shared_ptr<core::LeaseState>&);
  /// Starts telling who has a lock, until `stop_watching`. Throws like `keep`.
  void watch_holder(std::unique_ptr<core::HolderWatch>);
  void stop_watching(const core::HolderWatch*);
  /// Counts the leases of this client. Set it in every lease that was granted. Null if restarts are not guarded. Only the
  /// pointer may be used without the mutex.
  [[nodiscard]] core::HeldLeases* held_leases() noexcept { return engine_.held_leases(); }
  /// Stops renewing and watching the lease, and leaves the lock on the nodes. Returns true if the lease was in force.
  bool let_go(const std::shared_ptr<core::LeaseState>&);
  /// Logs in at the node with these credentials from now on, on the connections that there are as well.
  void log_in(core::NodeIndex node, const Credentials&);
  /// Marks these leases as lost. Cancels all acquisitions, also later ones.
  void shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases);

 private:
  friend struct TestAccess;  // the tests define it
  using Lock = std::unique_lock<std::mutex>;
  using Operation = core::Ref<core::Operation>;
  struct Successor {
    ParkingSlot* slot = nullptr;
    ~Successor() {
      if (slot) slot->unpark();
    }
  };
  class Visit;
  class OnStop;

  void wait_for(const Operation&, const std::stop_token&, Lock&, Successor&);
  void submit(const Operation&, ParkingSlot& me);
  [[nodiscard]] bool can_drive() const noexcept;
  void take_over(ParkingSlot& me);
  [[nodiscard]] ParkingSlot* stop_driving(const ParkingSlot& me) noexcept;
  void leave_to_background(core::Time now);
  void sleep_until(core::Time, ParkingSlot& me, Lock&);
  void stop(const Operation&);
  void wake_for_timers(core::Time now);
  void leave(const Operation&, ParkingSlot& me, Successor&) noexcept;
  void schedule_background(core::Time now);
  [[nodiscard]] core::Time background_timer(core::Time now) const noexcept;
  [[nodiscard]] core::Span background_delay() const noexcept;
  void background();
  void run_background(Lock&);
  enum class Sockets : bool { ignored, polled };
  bool sleep_in_background(Lock&, Sockets);
  [[nodiscard]] bool is_lease_in_force(core::Time now) noexcept;

  void leave_nodes(core::Time until);
  void drive(Lock&, ParkingSlot& me, const core::Operation* awaited);
  void tell_background_of_changes();
  void wake_finished(Lock&);
  void kick();
  [[nodiscard]] bool needs_attention() const noexcept {
    return engine_.needs_attention() || connections_.are_closing();
  }
  [[nodiscard]] bool is_background(const ParkingSlot& slot) const noexcept {
    return &slot == &background_slot_;
  }

  std::mutex mutex_;
  // mutex_ guards all members below, except that the polls belong to their threads while these poll.
  core::Engine engine_;
  Poller poller_;
  Connections connections_;

  ParkingSlot* driver_ = nullptr;  // the thread that polls and reads, or is about to
  bool polling_ = false;           // the driver polls, without the mutex
  bool kicked_ = false;            // wake_ is set already
  bool is_wake_watched_ = false;   // by the poller
  core::Time polls_until_{};       // when the driver's poll ends by itself
  WakeEvent wake_;                 // ends the poll of a driver that is a caller; each poll waits for it
  ParkingPool slots_;
  ParkingList parked_;
  ParkingList asleep_;                   // the calls of these threads pause between attempts
  WakeUp* waking_ = nullptr;             // collects threads while finished operations are gone through
  PollSet poll_;                         // of a driver that is a caller
  PollSet background_poll_;              // of the background, which may still poll when a caller takes over
  std::vector<pollfd> background_idle_;  // of the background while it does not drive
  ParkingRow background_row_;
  ParkingSlot background_slot_{background_row_, 0};
  BackgroundThread background_;
  bool watches_for_ends_ = false;   // the background's sleep ends with any connection for commands
  bool is_beside_callers_ = false;  // when the background has last looked, a caller drove or had just driven
  core::Time last_driven_{};        // when a caller drove; one whose call ends at once does not
  const Calls calls_;
  bool stopping_ = false;
  const unsigned generation_;
};

}  // namespace redlock::inline v1::detail
