// A conversation with one server over a connection of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/reader.hpp"
#include "io/sockets/connection.hpp"
#include "os/wake_event.hpp"
#include "redlock/clock.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::tool {

/// For how long the server may keep a dialogue waiting, and how much it may send.
struct DialogueLimits {
  Clock::duration connecting{};  ///< For making the connection.
  Clock::duration silence{};     ///< Without a byte from the server.
  Clock::duration exchange{};    ///< For all replies that are waited for at once.
  detail::ReplyLimits reply{};   ///< For each reply.
};

/// The command that logs in, encoded; empty if the endpoint has no credentials.
[[nodiscard]] Secret login_command(const Endpoint&);

/// A connection for one thread. Calls block, never beyond the limits. Whatever the server sends costs bounded memory: the
/// replies to one call may have 16 MiB.
///
/// When a call fails, `trouble()` says why, and there must be no further call. Its message is the server's: any bytes. The
/// answer to AUTH is not repeated in it.
class Dialogue {
 public:
  /// `interruption`: ends every wait, also in another thread, once it is set. It must outlive this object.
  Dialogue(Endpoint node, const DialogueLimits& limits, const detail::WakeEvent* interruption = nullptr)
      : node_{std::move(node)},
        limits_{limits},
        interruption_{interruption},
        connection_{node_, limits.reply, limits.connecting} {}

  /// Makes the connection. Returns whether it was made.
  bool connect();
  /// Logs in and selects the db, if the endpoint has credentials and names one. Returns whether the server accepts that.
  bool log_in();

  /// Sends as much of these encoded commands as the connection takes now; `receive` sends the rest.
  void send(std::string_view commands);
  /// Returns the replies to the next `count` commands, or fewer if it fails. An error is a reply as well. More replies than
  /// that are a failure.
  std::vector<core::Reply> receive(std::size_t count);
  /// As `receive`, but returns all that has arrived, if it is more.
  std::vector<core::Reply> receive_at_least(std::size_t count);
  /// Returns what the server sends next, and waits for it without a limit. Returns nothing if it fails.
  std::vector<core::Reply> listen();

  /// Has a message only after a failure.
  [[nodiscard]] const core::Trouble& trouble() const noexcept { return trouble_; }
  [[nodiscard]] bool has_failed() const noexcept { return !trouble_.message.empty(); }
  /// When the server's certificate ends; none without TLS. Precondition: connected.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> certificate_end() const {
    return connection_.certificate_end();
  }
  /// When the client's certificate ends; none if it has none. Precondition: connected.
  [[nodiscard]] std::optional<std::chrono::sys_seconds> own_certificate_end() const {
    return connection_.own_certificate_end();
  }
  /// The IP address of the server; empty for a unix socket.
  [[nodiscard]] std::string address() const;

 private:
  std::vector<core::Reply> read(std::size_t count, Clock::duration silence, Clock::duration exchange);
  [[nodiscard]] bool wait(Clock::time_point until);
  void flush();
  void fail(core::Trouble);

  Endpoint node_;
  DialogueLimits limits_;
  const detail::WakeEvent* interruption_;
  detail::Connection connection_;
  std::unique_ptr<detail::Transport::Room> room_ = std::make_unique_for_overwrite<detail::Transport::Room>();
  detail::WipedString unsent_;  // may contain the login
  core::Trouble trouble_;
};

}  // namespace redlock::tool
