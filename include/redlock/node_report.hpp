// What nodes report: the result of an operation on one node, who has a lock, and who waits for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// A client that stands in line for a lock (`Order::fifo`). If several of its calls wait, they stand there as one.
struct InLine {
  std::string client = {};  ///< 16 hex digits, which tell clients apart; empty if the node has another form.
  std::string label = {};   ///< `host:pid program` of the client. It may be any bytes: escape them.
  std::chrono::nanoseconds waited{};  ///< How long its first call has waited, when the node answered.

  friend bool operator==(const InLine&, const InLine&) = default;
};

/// The result of an operation on one node. A plain value without references to the client. Contains no
/// password.
struct NodeReport {
  std::string node;                             ///< The endpoint, without credentials.
  NodeStatus status = NodeStatus::unreachable;  ///< The result of the request.
  std::string message;  ///< Details, often the server's own text, escaped; may be empty.
  std::optional<std::string>
      owner;  ///< The owner value that the node holds, if known. See `Holder::is_kept` and `Holder::is_shared`.
  std::optional<std::chrono::nanoseconds> ttl;  ///< The key's remaining ttl, if known and finite.

  std::optional<FencingToken> counter = {};  ///< The last fencing token that the node knows, if known.

  /// For `quarantined`: after how long the node votes again, at the earliest. Empty if it does not say, because
  /// people have to do something first; the message says what.
  std::optional<std::chrono::nanoseconds> votes_in = {};

  /// Who stands in line, in order, as `inspect` read it: the first 100. Usually one node orders the line and has it. Empty
  /// if it has none, or if this client has no right to read it (`zrange`, on the keys `redlock:q?:*`).
  std::vector<InLine> line = {};

  /// The owner values of the readers that share the lock on this node, as `inspect` read them: the first 100 in the order of
  /// their first 16 bytes. Empty without `Holder::is_shared`, or if this client has no right to read them (`smembers`, on the
  /// keys `redlock:s*`).
  std::vector<std::string> readers = {};
  /// How many readers share the lock on this node, also those that are not in `readers`.
  std::size_t reader_count = 0;

  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

/// Writes one line without a line end, such as `redis://10.0.0.7:6379: timed out (no answer within 250 ms)`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const NodeReport&);

/// The holder of a lock, as nodes reported it. The owner values of this library are `<40 hex digits> <label> @<since>`, with
/// the time as seconds since 1970, up to the year 9999, followed by ` leader` if the lock is that of an `Election`. All this
/// comes from the holder: any program may write anything there.
struct Holder {
  Holder() = default;
  /// Takes the owner value apart.
  REDLOCK_EXPORT explicit Holder(std::string owner_value);

  /// Returns true if nobody holds the lock any more, but `LockOptions::at_least` keeps it on the nodes for `ttl`. Then the
  /// owner value is `redlock:kept`.
  [[nodiscard]] REDLOCK_EXPORT bool is_kept() const noexcept;

  /// Returns true if readers hold the lock (`LockOptions::shared`). Then the owner value is `redlock:shared`, and
  /// `readers_in` returns who they are.
  [[nodiscard]] REDLOCK_EXPORT bool is_shared() const noexcept;

  /// The value of the lock's key, which may be another program's: any bytes.
  std::string owner_value;
  /// `LockOptions::label` of the holder; empty if the owner value has another form. Any bytes: `operator<<` escapes them.
  std::string label;
  /// When the holder asked for the lock, by its own clock; none if the owner value has another form.
  std::optional<std::chrono::sys_seconds> since;
  /// True if the holder leads an election; false if the owner value has another form.
  bool is_leader = false;
  /// The time until the lock expires if it is not extended, as it was when the nodes answered; none if it never expires
  /// or is not known. The greatest of the nodes' values. It includes `LockOptions::lock_delay`: during the delay, the former
  /// holder is shown.
  std::optional<std::chrono::nanoseconds> ttl;

  friend bool operator==(const Holder&, const Holder&) = default;
};

/// Returns whom at least half of the nodes report; empty if there is none. So it is empty for the error of a lock without
/// `LockOptions::fencing`, because the nodes do not say who is in the way of such a one.
[[nodiscard]] REDLOCK_EXPORT std::optional<Holder> holder_of(std::span<const NodeReport> reports);

/// Returns who stands in line for the lock, in order, according to the reports of `inspect`. Each client is in it once: it
/// may be on several nodes for some seconds, after the node that orders the line has failed.
[[nodiscard]] REDLOCK_EXPORT std::vector<InLine> line_in(std::span<const NodeReport> reports);

/// Returns the readers that at least half of the nodes report, in the order of their owner values, without a ttl. Of more than
/// 100 readers, these are the first 100.
[[nodiscard]] REDLOCK_EXPORT std::vector<Holder> readers_in(std::span<const NodeReport> reports);

/// Returns how many readers share the lock: the greatest number that at least half of the nodes have.
[[nodiscard]] REDLOCK_EXPORT std::size_t reader_count_in(std::span<const NodeReport> reports);

/// Writes `web3:4711 backup since 2026-11-23 14:02:11 UTC`, or `leader web3 since …`, or the owner value if it has another
/// form, or `nobody, kept by at_least`, or `readers`. Unprintable bytes are escaped.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const Holder&);

}  // namespace v1
}  // namespace redlock
