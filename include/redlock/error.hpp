// The exception that calls throw.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/node_report.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// Thrown by `LockResult::value` if there is no lease, and by other calls for every outcome that they do not return (see
/// `Errc`). `what()` contains the outcome, the details, and a line for each node; it never contains a password. A plain value:
/// it may outlive the client and may be copied to other threads. Copying does not throw.
class REDLOCK_EXPORT Error : public std::system_error {
 public:
  Error(std::error_code code, std::string details, std::vector<NodeReport> nodes = {});
  ~Error() override;
  Error(const Error&) noexcept = default;  // also moves, so that no Error is without its contents
  Error& operator=(const Error&) noexcept = default;

  /// Returns the details alone; may be empty.
  [[nodiscard]] const std::string& details() const noexcept { return contents_->details; }
  /// Returns a report for each configured node, in the configured order; empty if no node was asked.
  [[nodiscard]] std::span<const NodeReport> nodes() const noexcept { return contents_->nodes; }

 private:
  struct Contents {
    std::string details;
    std::vector<NodeReport> nodes;
  };
  std::shared_ptr<const Contents> contents_;
};

}  // namespace v1
}  // namespace redlock
