// All connections of one client.
#pragma once

#include <poll.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "io/closing_sockets.hpp"
#include "io/connection.hpp"
#include "io/tls/certificate_ends.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

/// Moves bytes between the engine and the sockets: makes and closes connections as the engine wants, sends what it has
/// queued, and tells it what arrived and what broke. Knows no threads and does not block, except in `finish`. Use it under
/// the client's mutex.
class Connections {
 public:
  /// Throws `Error` (invalid_argument) if the TLS options of a node cannot be used.
  Connections(core::Engine& engine, const std::vector<Endpoint>& endpoints, core::Span connect_timeout);
  void close_in_child() const noexcept;

  // ── from every thread ────────────────────────────────────────────────────────────────────────────────────

  /// Reads connections that were not used for some milliseconds before new commands are sent on them, so that a connection that
  /// the server has closed is replaced first.
  void read_stale(core::Time now);
  /// Sends what the sockets take.
  void flush(core::Time now);
  /// There is something to do that a poll of what `append_to` appended does not wait for.
  [[nodiscard]] bool need_more_than_polled() const noexcept;
  /// Connections are being closed gracefully.
  [[nodiscard]] bool are_closing() const noexcept { return !closing_.empty(); }

  // ── from the driver, which alone opens and closes descriptors ────────────────────────────────────────────

  /// Does what the engine wants done, and sends.
  void update(core::Time now);
  /// Appends the descriptors to poll.
  void append_to(std::vector<pollfd>& polls);
  /// When such a poll must end.
  [[nodiscard]] core::Time timer() const noexcept;
  /// Handles what such a poll has found. `polls` begins with what `append_to` appended. `may_be_due`: a timer of the engine may
  /// be. `awaited`: what the driver waits for, if anything. Once it is done, and no other operation is active, replies may be
  /// left to the next call.
  void handle(const std::vector<pollfd>& polls, core::Time now, bool may_be_due,
              const core::Operation* awaited = nullptr);
  /// Sends what is queued and reads to the end. Blocks until `until` at the latest.
  void finish(core::Time until);

  // ── for the background ───────────────────────────────────────────────────────────────────────────────────

  /// Appends what to poll while nobody drives: the connections for commands only if `with_ends`, and only for their end,
  /// then the listeners for data. Returns how many connections for commands were appended.
  std::ptrdiff_t append_idle_to(std::vector<pollfd>& polls, bool with_ends) const;
  /// Which descriptors may have changed, and whether a server has refused a login.
  struct Changes {
    bool commands = false;
    bool listeners = false;
    bool logins = false;
  };
  /// Returns the changes since the last call.
  [[nodiscard]] Changes take_changes() noexcept { return std::exchange(changes_, {}); }

 private:
  void run_errands(core::ConnectionIndex, core::Time now);
  [[nodiscard]] bool may_stay_unread(core::ConnectionIndex, const pollfd&,
                                     const core::Operation* awaited) const noexcept;
  void dial(core::ConnectionIndex, Connection::Dial outcome, core::Time now);
  void note_certificates(core::ConnectionIndex, core::Time now);
  void note_change(core::ConnectionIndex) noexcept;
  [[nodiscard]] bool has_unsent(core::ConnectionIndex) const noexcept;
  void handle_one(core::ConnectionIndex, core::Time now);
  void read(core::ConnectionIndex, core::Time now);
  bool flush_one(core::ConnectionIndex, core::Time now);

  core::Engine& engine_;
  std::vector<Connection> all_;
  std::vector<bool> polled_for_output_;  // by connection: the poll ends when the socket has room again
  std::vector<pollfd> stale_;            // during `read_stale`
  CertificateEnds certificates_;
  ClosingSockets closing_;
  Changes changes_;
};

}  // namespace redlock::inline v1::detail
