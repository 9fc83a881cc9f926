// The enumerations that calls, leases and node reports answer with.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "redlock/export.hpp"

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

/// The enumerator's name: `"no_quorum"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Errc) noexcept;

/// The category "redlock". Conditions: `timed_out` equals `std::errc::timed_out`, `cancelled` equals
/// `std::errc::operation_canceled`, `misconfigured` equals `std::errc::invalid_argument`, `held` equals
/// `std::errc::device_or_resource_busy`.
[[nodiscard]] REDLOCK_EXPORT const std::error_category& category() noexcept;
[[nodiscard]] REDLOCK_EXPORT std::error_code make_error_code(Errc) noexcept;

/// What the servers said to a release. None of them is an error.
enum class Release : std::uint8_t {
  released,      ///< The lease was in force until now, and a majority of the nodes deleted our value.
  already_lost,  ///< The lease had ended before: it was lost, for the reason that `loss()` tells.
  unknown,       ///< Too few nodes answered to tell. Copies that could not be deleted expire by themselves.
};

/// The enumerator's name: `"already_lost"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Release) noexcept;

/// What has become of a lock: see the table of `Lease`.
enum class State : std::uint8_t { held, in_doubt, lost, released };
/// The enumerator's name: `"in_doubt"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(State) noexcept;

/// Why a lease was lost. Whatever it was: from then on others may have the lock.
enum class Loss : std::uint8_t {
  none,             ///< It was not.
  deadline_passed,  ///< Nobody extended it in time.
  no_quorum,        ///< It was to be extended, and until the deadline too few nodes answered.
  deleted,          ///< A majority can no longer have our value: keys were deleted, or nodes lost their data.
  taken,            ///< The same, and some nodes have somebody else's value.
  max_hold,         ///< `LockOptions::max_hold` was over.
  shut_down,        ///< `LockClient::shut_down` was called.
};

/// In words, for people.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Loss) noexcept;

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

}  // namespace v1
}  // namespace redlock

template <>
struct std::is_error_code_enum<redlock::Errc> : std::true_type {};
