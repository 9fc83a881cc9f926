// All connections of one client.
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "io/sockets/closing_sockets.hpp"
#include "io/sockets/connection.hpp"
#include "io/sockets/poller.hpp"
#include "io/tls/certificate_ends.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

/// Moves bytes between the engine and the sockets: makes and closes connections as the engine wants, sends what it has
/// queued, and tells it what arrived and what broke. Knows no threads and does not block, except in `finish`. Use it under
/// the client's mutex.
class Connections {
 public:
  /// `poller`: gets the open connections, each with its index as tag. Throws `Error` (invalid_argument) if the TLS options of a
  /// node cannot be used.
  Connections(core::Engine& engine, Poller& poller, const std::vector<Endpoint>& endpoints,
              core::Span connect_timeout);
  void close_in_child() const noexcept;

  // ── from every thread ────────────────────────────────────────────────────────────────────────────────────

  /// Reads connections that were not used for some milliseconds before new commands are sent on them, so that a connection that
  /// the server has closed is replaced first.
  void read_stale(core::Time now);
  /// Sends what the sockets take.
  void flush(core::Time now);
  /// There is something to do that a poll after `prepare` does not wait for.
  [[nodiscard]] bool need_more_than_polled() const noexcept;
  /// Connections are being closed gracefully.
  [[nodiscard]] bool are_closing() const noexcept { return !closing_.empty(); }

  // ── from the driver, which alone opens and closes descriptors ────────────────────────────────────────────

  /// Does what the engine wants done, sends, and tells the poll what to wait for besides the open connections.
  void prepare(PollSet& poll, core::Time now);
  /// When that poll must end.
  [[nodiscard]] core::Time timer() const noexcept;
  /// Handles what that poll has found. `may_be_due`: a timer of the engine or of a connection may be. `awaited`: what the driver
  /// waits for, if anything. Once it is done, and no other operation is active, replies may be left to the next call.
  void handle(const PollSet& poll, core::Time now, bool may_be_due, const core::Operation* awaited = nullptr);
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
  struct Link {
    core::Session& session;
    Connection connection;
    bool is_watched = false;            // by the poller
    bool is_polled_for_output = false;  // the poll ends when the socket has room again

    [[nodiscard]] bool has_unsent() const noexcept {
      return !session.unsent().empty() || connection.has_unsent();
    }
  };

  void run_errands(core::ConnectionIndex, core::Time now);
  [[nodiscard]] bool may_stay_unread(core::ConnectionIndex, short events,
                                     const core::Operation* awaited) const noexcept;
  void handle_one(core::ConnectionIndex, core::Time now);
  void dial(core::ConnectionIndex, Connection::Dial outcome, core::Time now);
  [[nodiscard]] std::unique_ptr<Transport> take_transport(Link&) noexcept;
  void note_certificates(core::ConnectionIndex, core::Time now);
  void note_change(core::ConnectionIndex) noexcept;
  void read(core::ConnectionIndex, core::Time now);
  bool flush_one(core::ConnectionIndex, core::Time now);

  core::Engine& engine_;
  Poller& poller_;
  std::vector<Link> links_;    // by connection
  std::vector<pollfd> stale_;  // during `read_stale`
  std::unique_ptr<Transport::Room> room_ = std::make_unique_for_overwrite<Transport::Room>();
  CertificateEnds certificates_;
  ClosingSockets closing_;
  Changes changes_;
};

}  // namespace redlock::inline v1::detail
