// A text by which another service checks that a request comes from the holder of a lock.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

/// Names one acquisition of a lock, for a service that the holder sends requests to. The holder gets it from
/// `Lease::sequencer` and adds its text to each request. The service can do two things with it (docs/sequencers.md):
///
///     const auto sequencer = redlock::Sequencer::parse(request.header("Lock"));
///     if (sequencer.resource() != "ledger") return refuse();
///     if (locks.check(sequencer) == redlock::SequencerState::stale) return refuse();   // early, by asking the nodes
///     if (!mark.run(sequencer.token(), write)) return refuse();                        // decides, without the nodes
///
/// The first, `LockClient::check`, only says how the lock was a moment ago: the lease may end before the service acts. It saves
/// work that would be refused anyway. The second, a `HighWaterMark` or another guard that compares tokens, decides: it lets no
/// former holder write after a later one, whatever clocks and networks do.
///
/// A sequencer is no secret and no proof: it has no signature. Whoever reads the lock's key on the nodes, or a request, can
/// make one. A plain value; it does not own the lock, and outlives the lease. A moved-from object may only be assigned to or
/// destroyed.
class REDLOCK_EXPORT Sequencer {
 public:
  /// Takes the text of a sequencer apart. Each sequencer has one text; any other spelling of it is refused, too. Throws `Error`
  /// (invalid_argument), whose message says what is wrong and what is allowed.
  [[nodiscard]] static Sequencer parse(std::string_view text);

  /// The resource, as given to the lock call, without the key prefix; of a semaphore the seat. Any bytes: print it escaped.
  [[nodiscard]] const std::string& resource() const noexcept { return resource_; }
  /// The lease's fencing token; none (0) if it has none.
  [[nodiscard]] FencingToken token() const noexcept { return token_; }
  /// The first 16 hex digits of the lease's owner value.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Returns true for a lock that several readers may hold at the same time. Their tokens may be equal.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

  /// Returns `redlock1;`, then `x` (exclusive) or `s` (shared), the token, the id and the percent-encoded resource, with a
  /// semicolon between two of them: `redlock1;x;4711;0123456789abcdef;invoice%2F42`. Only the letters and digits of ASCII and
  /// `-._~` stand for themselves; hex digits of other bytes are upper case. Printable ASCII without spaces and quotes, at most
  /// 12333 characters.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Sequencer&, const Sequencer&) = default;

 private:
  friend class Lease;
  REDLOCK_INTERNAL Sequencer(bool is_shared, FencingToken token, std::string id,
                             std::string resource) noexcept;

  bool is_shared_;
  FencingToken token_;
  std::string id_;
  std::string resource_;
};

/// Writes `to_string()`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const Sequencer&);

}  // namespace v1
}  // namespace redlock
