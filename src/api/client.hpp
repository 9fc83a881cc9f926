// The implementation of `Redlock` and `SingleNodeLock`.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "api/lease_registry.hpp"
#include "api/shell.hpp"
#include "notify/event_queue.hpp"
#include "notify/lease_record.hpp"
#include "os/fork_guard.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "redlock/core/lock/pursuit.hpp"
#include "redlock/core/operation/holding.hpp"
#include "redlock/core/watch/holder_watch.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"
#include "redlock/fencing/sequencer.hpp"
#include "redlock/kinds/leases.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/options.hpp"

namespace redlock::inline v1::detail {

[[nodiscard]] std::chrono::microseconds system_wall_clock();

/// Runs each call as operations on the reactor and turns their outcomes into leases and failures. Shared by the client
/// object and all its leases. Thread safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// Returns the time since the Unix epoch: proposals for fencing counters are made from it.
  using WallClock = std::function<std::chrono::microseconds()>;

  /// Makes the shell. Called in the constructor.
  using MakeShell = std::function<OwnProcessPtr<Shell>(Shell::Parts)>;
  static OwnProcessPtr<Shell> make_socket_shell(Shell::Parts);

  /// Throws Error (invalid_argument).
  Client(const std::vector<Endpoint>& nodes, Options options, WallClock wall_clock = system_wall_clock,
         const MakeShell& make_shell = make_socket_shell);

  /// Why there is no lease.
  struct Failure {
    Errc code{};
    std::string details;
    std::vector<NodeReport> nodes;
  };
  using Record = std::shared_ptr<LeaseRecord>;
  using Attempts = core::Attempts;

  /// Throws Error (invalid_argument) in a child of fork().
  void check_process() const;
  [[nodiscard]] bool is_of_this_process() const noexcept;

  /// Throws Error (invalid_argument) for bad arguments. `is_election`: for the observer, and for those who read the owner
  /// value.
  LockResult acquire(std::string_view resource, const LockOptions&, Attempts, core::Time give_up_at,
                     const std::stop_token&, bool is_election = false);
  /// Likewise.
  LockAllResult acquire_all(std::span<const std::string_view> resources, const LockOptions&, Attempts,
                            core::Time give_up_at, const std::stop_token&);
  LockResult adopt(const Handover&, const LockOptions&);
  /// Likewise. Ends the lease.
  LockResult downgrade(Lease&&, LockOptions);
  std::vector<NodeReport> inspect(std::string_view resource);
  /// Likewise.
  std::vector<NodeReport> revoke(std::string_view resource, std::string_view why);
  /// Likewise.
  std::vector<NodeReport> break_lock(std::string_view resource,
                                     std::span<const std::string_view> owner_values);
  /// `nodes`: may be null.
  SequencerState check(const Sequencer&, std::vector<NodeReport>* nodes = nullptr);
  /// Returns what a majority shows. Throws Error (no_quorum, misconfigured) if it shows nothing.
  core::Holding holder(std::string_view resource);
  /// Reports who has the lock, as `HolderWatch` does, until `stop_watching`. Throws Error (invalid_argument), and
  /// std::system_error if the system has no thread for it.
  const core::HolderWatch* watch_holder(std::string_view resource, core::HolderWatch::Report);
  /// Returns false in a child of fork(), where it does nothing.
  bool stop_watching(const core::HolderWatch*) noexcept;
  [[nodiscard]] LossReports& news() const noexcept { return shell_->losses(); }
  [[nodiscard]] core::Time now() const noexcept { return shell_->now(); }
  /// Returns what the nodes have then. Throws Error.
  std::chrono::nanoseconds raise_max_ttl(Duration max_ttl);

  /// Returns none if the lease was extended.
  std::optional<Failure> extend(const Record&);
  /// Call either `release` or `orphan`, once per lease.
  Release release(const Record&) noexcept;
  /// Releases those that were not released before, all at once, if they are of one client. `Lease::release` then returns the
  /// outcome of each.
  static void release(std::span<Lease>) noexcept;
  bool orphan(const Record&) noexcept;
  void shut_down();

  /// Both throw std::system_error if the system has no thread or timer for it, and Error (invalid_argument) in a child of
  /// fork().
  [[nodiscard]] std::stop_token stop_token(const Record&);
  /// Returns true if the lease is still in force.
  bool wait_lost(const Record&, core::Time until, const std::stop_token&);

 private:
  friend struct TestAccess;  // the tests define it
  /// What is left of an attempt that got the lock.
  struct Granted {
    explicit Granted(core::Acquisition& attempt)
        : begun{attempt.begun()},
          valid_until{attempt.valid_until()},
          claim{attempt.take_claim()},
          tally{attempt.take_tally()} {}
    core::Time begun;
    core::Time valid_until;
    core::Claim claim;
    core::Tally tally;
  };

  [[nodiscard]] static Observer::Kind kind_of(const LockOptions&) noexcept;
  [[nodiscard]] core::Claim claim_of(std::string_view resource, const LockOptions&) const;
  [[nodiscard]] core::LockCall call_of(std::string_view resource, const LockOptions&, Attempts,
                                       core::Time give_up_at);
  std::optional<LockResult> run(core::LockCall&&, std::string_view resource, const LockOptions&,
                                const std::stop_token&);
  std::optional<LockAllResult> run(core::LockCall&&, std::vector<core::Claim>,
                                   std::span<const std::string_view> resources,
                                   const std::vector<std::size_t>& order, const LockOptions&,
                                   const std::stop_token&);
  [[nodiscard]] Failure failed(const core::Pursuit::Failure&) const;
  Lease make_lease(std::string_view resource, const LockOptions&, Granted& granted);
  [[nodiscard]] bool begin_leases(std::span<const Record>, const LockOptions&);
  [[nodiscard]] bool keep(std::span<const Record>, const LockOptions&);
  void release_all(std::span<const Record>) noexcept;
  void forget(const Record&) noexcept;
  void tell_of_wait(std::string_view resource, Observer::Kind, std::error_code, core::Time called);
  void check_downgrade(const Lease&, core::Time now) const;
  [[nodiscard]] core::Span default_wait() const;
  [[nodiscard]] std::unique_ptr<core::Inspection> inspection_of(std::string_view resource) const;
  /// `yes`: the status of a node that voted for the call.
  [[nodiscard]] Failure explain(Errc, const core::Tally&, NodeStatus yes = NodeStatus::granted) const;
  [[nodiscard]] std::vector<NodeReport> reports(const core::Tally&, NodeStatus yes) const;

  const Options options_;
  const std::vector<std::string> names_;  // of the nodes
  const std::string label_;               // of locks whose options have none
  const std::string member_;              // this client's name in lines
  const unsigned generation_;
  const WallClock wall_clock_;
  std::atomic<bool> is_shut_down_ = false;
  const OwnProcessPtr<LeaseRegistry> registry_;
  const OwnProcessPtr<EventQueue> events_;  // null without an observer
  const OwnProcessPtr<Shell> shell_;
};

}  // namespace redlock::inline v1::detail
