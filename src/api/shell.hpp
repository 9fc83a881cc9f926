// What a client needs beside the core: the time, the nodes, and a way to report losses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "notify/lease_record.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/watch/holder_watch.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/login/credentials.hpp"

namespace redlock::inline v1::detail {

/// Runs the operations of one client. There are two: `SocketShell`, and the one behind `testing::FakeLocks`, which has
/// nodes and a clock in memory. Thread safe.
class Shell {
 public:
  /// What a shell is made of.
  struct Parts {
    std::vector<Endpoint> nodes;
    std::vector<core::Session::Settings> sessions;  // one for each node
    core::Span connect_timeout{};
    CredentialsSource credentials;  // may be empty: see `Options`
    core::Span credentials_interval{};
    std::optional<core::RestartGuard::Settings> guard;
    Observer* observer = nullptr;
    std::string member;                            // the client's name in lines
    std::function<void(std::string_view)> report;  // receives warnings; may be empty
  };

  Shell() = default;
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  virtual ~Shell() = default;
  /// Closes all descriptors without sending anything.
  virtual void close_in_child() const noexcept {}

  [[nodiscard]] virtual core::Time now() const noexcept = 0;
  /// Returns a random number, for jitter.
  [[nodiscard]] virtual std::uint64_t random() = 0;

  /// Submits an operation, blocks until it is done, and returns what `take(operation)` made of it under the
  /// client's mutex. A stop request abandons it.
  template <class Operation, class Take>
  auto run(std::unique_ptr<Operation> fresh, const std::stop_token& stop, Take&& take) {
    using Taken = std::invoke_result_t<Take, Operation&>;
    if constexpr (std::is_void_v<Taken>) {
      run_until_done(std::move(fresh), stop,
                     [&take](core::Operation& ended) { take(static_cast<Operation&>(ended)); });
    } else {
      std::optional<Taken> taken;
      run_until_done(std::move(fresh), stop, [&taken, &take](core::Operation& ended) {
        taken.emplace(take(static_cast<Operation&>(ended)));
      });
      return std::move(*taken);
    }
  }

  /// Starts renewing and watching the lease. Throws std::system_error if the system has no thread for it.
  virtual void keep(const std::shared_ptr<core::LeaseState>&) = 0;
  /// Starts watching the lease's key: the lease is lost as soon as a majority of the nodes has lost it. Throws like
  /// `keep`.
  virtual void watch(const std::shared_ptr<core::LeaseState>&) = 0;
  /// Starts telling who has a lock, until `stop_watching`. Throws like `keep`.
  virtual void watch_holder(std::unique_ptr<core::HolderWatch>) = 0;
  virtual void stop_watching(const core::HolderWatch*) = 0;
  /// Counts the leases of this client. Set it in every lease that was granted. Null if restarts are not guarded.
  [[nodiscard]] virtual core::HeldLeases* held_leases() noexcept = 0;
  /// Stops renewing and watching the lease, and leaves the lock on the nodes. Returns true if the lease was in force.
  virtual bool let_go(const std::shared_ptr<core::LeaseState>&) = 0;
  /// Marks these leases as lost. Cancels all acquisitions, also later ones.
  virtual void shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases) = 0;

  [[nodiscard]] virtual LossReports& losses() noexcept = 0;

 protected:
  using Take = std::function<void(core::Operation&)>;
  virtual void run_until_done(std::unique_ptr<core::Operation>, const std::stop_token&, const Take&) = 0;
};

}  // namespace redlock::inline v1::detail
