// The enumerations in the results of calls, in leases and in node reports.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <system_error>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// Why a call did not return a lock, or why a lock ended.
///
/// | code             | meaning                                                  | who can help: what to do next              |
/// |------------------|----------------------------------------------------------|--------------------------------------------|
/// | held             | somebody else has the lock or stands in line, or `at_least` keeps it | time: try later, or wait       |
/// | timed_out        | the lock was still held when the wait ended              | time: try later                            |
/// | no_quorum        | too few nodes voted, which can pass                      | time: retry; if it lasts, check the nodes  |
/// | too_slow         | a majority granted the lock, but its validity was used up | time: longer ttl, or nearer nodes          |
/// | lost             | the lease is gone                                        | nobody: stop using the resource            |
/// | cancelled        | a stop was requested, or the client was shut down        | –                                          |
/// | misconfigured    | so many servers can never vote that no majority is left  | operators: fix the servers or the list     |
/// | invalid_argument | an invalid argument, option or use                       | programmers: fix the call                  |
///
/// With *held* and *timed_out*, the lock could not be had although nothing is wrong. `LockResult::code` and `Error::code`
/// return these codes.
///
/// When a call for a lock ends with any of these codes, its releases have been queued for every node.
/// `Lease::extend` releases a lease only if it is *lost*; after *no_quorum* and *misconfigured* the lease
/// remains, in doubt.
enum class Errc {
  held = 1,
  timed_out,
  no_quorum,
  too_slow,
  lost,
  cancelled,
  misconfigured,
  invalid_argument
};

/// Returns the enumerator's name, such as `"no_quorum"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Errc) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Errc);

/// Returns the error category "redlock". Conditions: `timed_out` equals `std::errc::timed_out`, `cancelled`
/// equals `std::errc::operation_canceled`, `invalid_argument` equals `std::errc::invalid_argument`, `held`
/// equals `std::errc::device_or_resource_busy`.
[[nodiscard]] REDLOCK_EXPORT const std::error_category& category() noexcept;
[[nodiscard]] REDLOCK_EXPORT std::error_code make_error_code(Errc) noexcept;

/// The result of a release. None of them is an error.
enum class Release : std::uint8_t {
  released,  ///< The lease was valid; a majority has deleted its value, or keeps the lock as `at_least` says.
  already_lost,  ///< Nothing to release: the lease was lost (`loss()` says why, unless only the release found out), orphaned
                 ///< or empty.
  unknown,  ///< Too few nodes answered to know. Copies that were not deleted expire.
};

/// Returns the enumerator's name, such as `"already_lost"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Release) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Release);

/// The state of a lease: see the table in `Lease`.
enum class State : std::uint8_t { held, in_doubt, lost, released };
/// Returns the enumerator's name, such as `"in_doubt"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(State) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, State);

/// Why a lease was lost. After any loss, somebody else may have the lock.
enum class Loss : std::uint8_t {
  none,             ///< It was not lost.
  deadline_passed,  ///< It was not extended in time.
  no_quorum,        ///< Extensions were tried, but too few nodes answered before the deadline.
  deleted,    ///< No majority holds the owner value any more: keys were deleted, or nodes lost their data.
  taken,      ///< As `deleted`, and some nodes hold somebody else's value.
  max_hold,   ///< `LockOptions::max_hold` was reached.
  shut_down,  ///< `LockClient::shut_down` was called.
};

/// Returns a description for people.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Loss) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Loss);

/// Whether a lease is still held, as somebody else sees it: the result of `LockClient::check`.
enum class SequencerState : std::uint8_t {
  valid,  ///< A majority of the nodes has just shown the holder's owner value.
  stale,  ///< So many nodes have another value, or none, that no majority has the holder's: the lease is over.
  unknown,  ///< Too few nodes answered to tell.
};
/// Returns the enumerator's name, such as `"stale"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(SequencerState) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, SequencerState);

/// The result of a request to one node. The first three are votes. Every other value says why the node did
/// not vote; `is_misconfiguration` returns true for those marked *Misconfigured*.
enum class NodeStatus : std::uint8_t {
  granted,  ///< The node granted the lock. If the attempt failed, it was asked to release it.
  held,  ///< Another owner value is there, or others stand in line, or the fencing counter changed meanwhile.
  free,  ///< The node has no value for the resource.
  timed_out,  ///< No answer within the node timeout, or no connection within the connect timeout.
  /// No connection: refused, no route, name not found, or the server has as many clients as its `maxclients` allows. The
  /// client reconnects.
  unreachable,
  connection_lost,  ///< The connection broke before the answer arrived. The client reconnects.
  not_awaited,  ///< The call ended before the node answered, because the others had decided it, its time was over or you ended it.
  overloaded,   ///< The node does not keep up: too much is unsent or unanswered.
  loading,      ///< LOADING: the server is reading its data from disk.
  busy,         ///< BUSY: a script has been running on the server for too long.
  out_of_memory,   ///< OOM: maxmemory is reached.
  not_persisting,  ///< MISCONF: the server cannot save its data and refuses writes.
  server_error,    ///< Another error reply; the report contains its text.
  protocol_error,  ///< The reply is not RESP2, does not answer the request, or is too large.
  auth_required,   ///< NOAUTH: the server requires a password. *Misconfigured.*
  wrong_password,  ///< WRONGPASS, or ERR from AUTH. *Misconfigured.*
  no_permission,  ///< NOPERM: the ACL forbids a required command or key. DENIED: protected mode. *Misconfigured.*
  read_only,      ///< READONLY: the server refuses writes because it is a replica. *Misconfigured.*
  replica,        ///< ROLE: the server is a replica or a sentinel, not a master. *Misconfigured.*
  wrong_type,  ///< WRONGTYPE: the key is not a string, so it is not one of these locks. *Misconfigured.*
  put_back,    ///< The node had lost the lease's copy; it was put back but does not count yet.
  /// The resource's fencing counter is not a whole number below 2^53 - 1, or is too far from those of the other
  /// nodes (docs/fencing.md). *Misconfigured.*
  bad_counter,
  same_node,    ///< The same server as another endpoint in the list. *Misconfigured.*
  quarantined,  ///< The node lost its data or is new. It grants nothing until forgotten locks have expired.
  other_deployment,  ///< The node's marker names other nodes or another number of them, or is none. *Misconfigured.*
  ttl_too_long,  ///< The ttl plus lock_delay is longer than `max_ttl` of the nodes. *Misconfigured.*
  tls_failed,  ///< One side refuses the other's certificate, or does not speak the same TLS. *Misconfigured.*
};

/// Returns the enumerator's name with spaces, such as `"timed out"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(NodeStatus) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, NodeStatus);

/// Returns true if only a change in the configuration of the program or the server can help.
[[nodiscard]] REDLOCK_EXPORT bool is_misconfiguration(NodeStatus) noexcept;

#ifdef __cpp_lib_format
namespace detail {

/// Formats an enumerator as its `to_string`, with the options for text: `std::format("{:>12}", State::held)`.
template <class Enum>
struct NameFormatter : std::formatter<std::string_view> {
  template <class Context>
  auto format(Enum value, Context& context) const {
    return std::formatter<std::string_view>::format(to_string(value), context);
  }
};

}  // namespace detail
#endif

}  // namespace v1
}  // namespace redlock

template <>
struct std::is_error_code_enum<redlock::Errc> : std::true_type {};

#ifdef __cpp_lib_format
template <>
struct std::formatter<redlock::Errc> : redlock::detail::NameFormatter<redlock::Errc> {};
template <>
struct std::formatter<redlock::Release> : redlock::detail::NameFormatter<redlock::Release> {};
template <>
struct std::formatter<redlock::State> : redlock::detail::NameFormatter<redlock::State> {};
template <>
struct std::formatter<redlock::Loss> : redlock::detail::NameFormatter<redlock::Loss> {};
template <>
struct std::formatter<redlock::SequencerState> : redlock::detail::NameFormatter<redlock::SequencerState> {};
template <>
struct std::formatter<redlock::NodeStatus> : redlock::detail::NameFormatter<redlock::NodeStatus> {};
#endif
