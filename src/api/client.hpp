// The implementation of `Redlock` and `SingleNodeLock`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/lease_registry.hpp"
#include "io/reactor.hpp"
#include "notify/event_queue.hpp"
#include "notify/lease_record.hpp"
#include "notify/loss_notifier.hpp"
#include "os/fork_guard.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"

namespace redlock::inline v1::detail {

/// Turns calls into operations on the reactor, and operations' ends into leases and failures. Shared by the
/// client object and all its leases. Thread safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// Throws Error (misconfigured).
  Client(const std::vector<Endpoint>& nodes, Options options);

  /// Why there is no lease.
  struct Failure {
    Errc code{};
    std::string details;
    std::vector<NodeReport> nodes;
  };
  struct Outcome {
    std::optional<Lease> lease;
    Failure failure;  // without a lease
  };
  using Record = std::shared_ptr<LeaseRecord>;
  enum class Patience : bool { one_attempt, until_time };

  /// Throws Error (misconfigured) for bad arguments.
  Outcome acquire(std::string_view resource, const LockOptions&, Patience, core::Time give_up_at,
                  const std::stop_token&);
  /// Likewise.
  Outcome adopt(std::string_view resource, std::string_view owner_value, FencingToken, const LockOptions&);
  std::vector<NodeReport> inspect(std::string_view resource);

  /// Returns none if the lease was extended.
  std::optional<Failure> extend(const Record&);
  /// Call either `release` or `orphan`, once per lease.
  Release release(const Record&) noexcept;
  bool orphan(const Record&) noexcept;
  void shut_down();

  /// Both throw std::system_error if the system has no thread or timer for it, and Error (misconfigured) in a child of
  /// fork().
  [[nodiscard]] std::stop_token stop_token(const Record&);
  /// Returns true if the lease is still in force.
  bool wait_lost(const Record&, core::Time until, const std::stop_token&);

  [[nodiscard]] Reactor& reactor() noexcept { return *reactor_; }
  /// For tests: from now on this client's wall clock is off by so much.
  void skew_proposals(std::chrono::microseconds skew) noexcept { proposal_skew_ = skew; }
  /// For tests: acquisitions that had one.
  [[nodiscard]] std::uint64_t second_rounds() const noexcept { return second_rounds_; }

 private:
  struct Attempt;

  void check_process() const;
  [[nodiscard]] core::Claim claim_of(std::string_view resource, const LockOptions&) const;
  Outcome pursue(std::string_view resource, const LockOptions&, Patience, core::Time give_up_at,
                 const std::stop_token&);
  [[nodiscard]] std::uint64_t proposal() const noexcept;
  Attempt attempt(core::Claim, core::Acquisition::Purpose, core::Time give_up_at, const std::stop_token&);
  Lease make_lease(std::string_view resource, const LockOptions&, Attempt& granted);
  [[nodiscard]] Errc why_not(const Attempt&) const noexcept;
  void pause(core::Time until, const std::stop_token&) const;
  void add_to_notifier_if_possible(const Record&);
  [[nodiscard]] Failure explain(Errc, const core::Tally&) const;
  [[nodiscard]] std::vector<NodeReport> reports(const core::Tally&, NodeStatus yes) const;

  const Options options_;
  const std::vector<std::string> names_;  // of the nodes
  const unsigned generation_;
  std::atomic<std::chrono::microseconds> proposal_skew_{};
  std::atomic<std::uint64_t> second_rounds_ = 0;
  std::stop_source shutting_down_;
  const OwnProcessPtr<LeaseRegistry> registry_;
  const OwnProcessPtr<EventQueue> events_;  // null without an observer
  const OwnProcessPtr<LossNotifier> loss_notifier_;
  const OwnProcessPtr<Reactor> reactor_;  // uses the loss notifier, so it is destroyed first
};

}  // namespace redlock::inline v1::detail
