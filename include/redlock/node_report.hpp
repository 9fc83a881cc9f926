// What one node said, for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

/// What became of a request to one node. The first three are votes; every other value means that the node did
/// not vote, and why.
enum class NodeStatus : std::uint8_t {
  granted,    ///< The node granted; it was asked to release when the attempt failed.
  held,       ///< The node holds somebody else's value, or somebody came between while a token was agreed on.
  free,       ///< The node has no value for the resource.
  timed_out,  ///< No answer within the node timeout (or no connection within the connect timeout).
  unreachable,      ///< No connection: refused, no route, name not found. Being redialled.
  connection_lost,  ///< The connection broke before the answer came. Being redialled.
  overloaded,       ///< More than 1 MiB waits to be sent to this node: it does not keep up.
  loading,          ///< LOADING: the server is reading its data from disk.
  busy,             ///< BUSY: the server is stuck in somebody's script.
  out_of_memory,    ///< OOM: maxmemory is reached.
  not_persisting,   ///< MISCONF: the server cannot save and refuses writes.
  server_error,     ///< Another error reply; the text is in the report.
  protocol_error,   ///< What came back is not RESP2, or not an answer to what was asked.
  auth_required,    ///< NOAUTH: the server wants a password. *Misconfigured.*
  wrong_password,   ///< WRONGPASS, or ERR from AUTH. *Misconfigured.*
  no_permission,    ///< NOPERM: the ACL forbids a command or key that is needed. *Misconfigured.*
  read_only,        ///< READONLY: the server refuses writes because it is a replica. *Misconfigured.*
  replica,          ///< ROLE says that it is a replica or a sentinel, not a master. *Misconfigured.*
  wrong_type,       ///< WRONGTYPE: the key is not a string: not a lock of this kind. *Misconfigured.*
  put_back,         ///< The node had lost the lease's copy, and got it back; it does not count yet.
  bad_counter,      ///< The resource's fencing counter is no whole number below 2^53 - 1. *Misconfigured.*
  same_node,        ///< The same server as another endpoint of the list. *Misconfigured.*
  quarantined,  ///< The node lost its data, or is new: it grants nothing until all that it may have forgotten is over.
  other_deployment,  ///< The node's marker names other nodes, another number of them, or another max_ttl. *Misconfigured.*
};

/// The enumerator's name with spaces: `"timed out"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(NodeStatus) noexcept;

/// Whether only a change of the program's or the server's configuration can help.
[[nodiscard]] REDLOCK_EXPORT bool is_misconfiguration(NodeStatus) noexcept;

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
