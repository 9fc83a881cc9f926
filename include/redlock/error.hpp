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
