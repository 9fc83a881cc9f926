// The exception that calls throw.
#pragma once

#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/node_report.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// Thrown for every outcome that a call does not return (see `Errc`). `what()` contains the outcome, the
/// details, and a line for each node; it never contains a password. A plain value: it may outlive the client
/// and may be copied to other threads.
class REDLOCK_EXPORT Error : public std::system_error {
 public:
  Error(Errc code, const std::string& details, std::vector<NodeReport> nodes = {});
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  Error(Error&&) = default;
  Error& operator=(Error&&) = default;

  /// Returns a report for each configured node, in the configured order; empty if no node was asked.
  [[nodiscard]] std::span<const NodeReport> nodes() const noexcept { return nodes_; }

 private:
  std::vector<NodeReport> nodes_;
};

}  // namespace v1
}  // namespace redlock
