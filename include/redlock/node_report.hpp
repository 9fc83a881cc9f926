// What one node said, for people.
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

/// One node's part in an operation. A value: nothing refers back to the client. Contains no password.
struct NodeReport {
  std::string node;                              ///< The endpoint, without credentials.
  NodeStatus status = NodeStatus::unreachable;   ///< What became of the request.
  std::string message;                           ///< Details, often the server's own bytes; may be empty.
  std::optional<std::string> owner;              ///< The owner value that the node holds, where known.
  std::optional<std::chrono::milliseconds> ttl;  ///< What is left of that key's life, where known.

  std::optional<FencingToken> counter = {};  ///< The last fencing token that the node knows of, where known.

  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

/// `redis://10.0.0.7:6379: timed out (no answer within 250 ms)`: one line, without a line end.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const NodeReport&);

}  // namespace v1
}  // namespace redlock
