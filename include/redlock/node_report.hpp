// What nodes report: the result of an operation on one node, and who has a lock.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// The result of an operation on one node. A plain value without references to the client. Contains no
/// password.
struct NodeReport {
  std::string node;                              ///< The endpoint, without credentials.
  NodeStatus status = NodeStatus::unreachable;   ///< The result of the request.
  std::string message;                           ///< Details, often the server's own text; may be empty.
  std::optional<std::string> owner;              ///< The owner value that the node holds, if known.
  std::optional<std::chrono::milliseconds> ttl;  ///< The key's remaining ttl, if known and finite.

  std::optional<FencingToken> counter = {};  ///< The last fencing token that the node knows, if known.

  /// For `quarantined`: after how long the node votes again, at the earliest. Empty if it does not say, because
  /// people have to do something first; the message says what.
  std::optional<std::chrono::milliseconds> votes_in = {};

  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

/// Writes one line without a line end, such as `redis://10.0.0.7:6379: timed out (no answer within 250 ms)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const NodeReport&);

/// The holder of a lock, as nodes reported it.
struct Holder {
  /// The value of the lock's key, which may be another program's: any bytes.
  std::string owner_value;
  /// The time until the lock expires if it is not extended, as it was when the nodes answered; none if it never expires
  /// or is not known. The greatest of the nodes' values.
  std::optional<std::chrono::nanoseconds> ttl;

  friend bool operator==(const Holder&, const Holder&) = default;
};

}  // namespace v1
}  // namespace redlock
