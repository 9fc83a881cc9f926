// What a call for a lock returns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/node_report.hpp"

namespace redlock {
inline namespace v1 {

/// What a call for a lock returns: a lease, or why there is none. `Held` is `Lease`, or `Leases` for several locks; what is said
/// of a lease below holds for these as well.
///
///     if (const auto lease = locks.try_lock("invoice/42"))     // without exceptions
///       pay(*lease);
///     else
///       log(lease.message());
///
///     const redlock::Lease lease = locks.lock("invoice/42").value();  // throws Error if there is none
///
/// Give the result a name: it releases the lock when it is destroyed. A temporary result would release the lock right after it
/// was asked whether there is a lease, so asking a temporary does not compile.
///
/// Threads: as for `Lease`. A result whose lease was moved out still says that it has one, and that one is empty.
template <class Held>
class [[nodiscard]] REDLOCK_EXPORT BasicLockResult {
 public:
  /// A result with this lease.
  BasicLockResult(Held lease) noexcept : lease_{std::move(lease)} {}  // NOLINT(google-explicit-constructor)
  /// A result without a lease. `code` must not be zero. `details` and `nodes` are as for `Error`.
  explicit BasicLockResult(std::error_code code, std::string details = {},
                           std::vector<NodeReport> nodes = {}) noexcept
      : code_{code}, details_{std::move(details)}, nodes_{std::move(nodes)} {}

  /// Returns true if there is a lease. (It may have been lost since: ask `Lease::valid`.)
  [[nodiscard]] bool has_value() const& noexcept { return !code_; }
  bool has_value() const&& = delete;
  [[nodiscard]] explicit operator bool() const& noexcept { return has_value(); }
  explicit operator bool() const&& = delete;

  /// Return the lease. Throw `Error` if there is none.
  [[nodiscard]] Held& value() & { return checked().lease_; }
  [[nodiscard]] const Held& value() const& {
    check();
    return lease_;
  }
  [[nodiscard]] Held value() && { return std::move(checked().lease_); }
  [[nodiscard]] Held& operator*() & { return value(); }
  [[nodiscard]] const Held& operator*() const& { return value(); }
  [[nodiscard]] Held operator*() && { return std::move(*this).value(); }
  [[nodiscard]] Held* operator->() & { return &value(); }
  [[nodiscard]] const Held* operator->() const& { return &value(); }
  const Held* operator->() const&& = delete;

  /// Returns why there is no lease: an `Errc`, or the system's error if it has no thread, timer or random numbers. Zero if
  /// there is a lease.
  [[nodiscard]] std::error_code code() const noexcept { return code_; }
  /// Returns true if the lock could not be had although nothing is wrong: somebody else holds it or stands in line for it, or
  /// `LockOptions::at_least` keeps it. The code is then `Errc::held` or `Errc::timed_out`.
  [[nodiscard]] bool is_held() const noexcept {
    return code_ == make_error_code(Errc::held) || code_ == make_error_code(Errc::timed_out);
  }
  /// Returns the outcome, the details, and a line for each node: the text of the `Error` that `value` throws. Empty if there is
  /// a lease. Never contains a password.
  [[nodiscard]] std::string message() const;
  /// Returns a report for each configured node, in the configured order; empty if no node was asked or there is a lease.
  [[nodiscard]] std::span<const NodeReport> nodes() const& noexcept { return nodes_; }
  std::span<const NodeReport> nodes() const&& = delete;
  /// Returns `holder_of(nodes())`: who has the lock, as far as the nodes have said. It may be empty although `is_held()`: if
  /// others stand in line for a lock that is free, if no owner has at least half of the nodes, and without
  /// `LockOptions::fencing`.
  [[nodiscard]] std::optional<Holder> holder() const { return holder_of(nodes_); }

 private:
  void check() const;
  BasicLockResult& checked() {
    check();
    return *this;
  }
  [[nodiscard]] Error error() const;

  Held lease_;
  std::error_code code_;
  std::string details_;
  std::vector<NodeReport> nodes_;
};

extern template class BasicLockResult<Lease>;

using LockResult = BasicLockResult<Lease>;

}  // namespace v1
}  // namespace redlock
