// Outcomes that are not a lock, sorted by what the caller does next.
#pragma once

#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/node_report.hpp"

namespace redlock {
inline namespace v1 {

/// Why there is no lock, or no more.
///
/// | code          | meaning                                                   | what the caller does next     |
/// |---------------|-----------------------------------------------------------|-------------------------------|
/// | held          | somebody else has the lock                                | try later, or wait            |
/// | timed_out     | a waiting call's time was over and the lock was still held| try later                     |
/// | no_quorum     | fewer than a majority of the nodes voted                  | look at the nodes, or retry   |
/// | too_slow      | a majority granted, but the validity was already used up  | longer ttl, or nearer nodes   |
/// | lost          | the lease is gone                                         | stop touching the resource    |
/// | cancelled     | stop was requested, or the client was shut down           | –                             |
/// | misconfigured | a bad option, or a server that can never vote as it is    | fix the program or the server |
///
/// *held* and *timed_out* are ordinary: calls that return an optional return an empty one and throw nothing.
/// When a call for a lock ends with one of these, the releases for whatever was granted have been queued on
/// every node. `Lease::extend` releases only what is *lost*; after *no_quorum* and *misconfigured* the lease
/// stands, in doubt.
enum class Errc { held = 1, timed_out, no_quorum, too_slow, lost, cancelled, misconfigured };

/// The category "redlock". Conditions: `timed_out` equals `std::errc::timed_out`, `cancelled` equals
/// `std::errc::operation_canceled`, `misconfigured` equals `std::errc::invalid_argument`, `held` equals
/// `std::errc::device_or_resource_busy`.
[[nodiscard]] REDLOCK_EXPORT const std::error_category& category() noexcept;
[[nodiscard]] REDLOCK_EXPORT std::error_code make_error_code(Errc) noexcept;

/// What exceptional outcomes throw. `what()` names the outcome, the details and every node on a line of its own;
/// no password is in it. A value: it outlives the client, and may be copied to other threads.
class REDLOCK_EXPORT Error : public std::system_error {
 public:
  Error(Errc code, const std::string& details, std::vector<NodeReport> nodes = {});
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  Error(Error&&) = default;
  Error& operator=(Error&&) = default;

  /// A report for every configured node, in the order of configuration; empty when no node was asked.
  [[nodiscard]] std::span<const NodeReport> nodes() const noexcept { return nodes_; }

 private:
  std::vector<NodeReport> nodes_;
};

}  // namespace v1
}  // namespace redlock

template <>
struct std::is_error_code_enum<redlock::Errc> : std::true_type {};
