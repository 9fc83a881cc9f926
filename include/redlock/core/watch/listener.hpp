// The second connection to one node.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/watch/look_limit.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

/// The second connection to a node, and whether the node reports changed keys over it (CLIENT TRACKING).
///
/// The server remembers which keys this client has read after CLIENT CACHING YES (such a read *arms* the key), and sends
/// one invalidation message for the next change. Our own writes cause no message but disarm the key. When either
/// connection is lost, all keys are disarmed.
class Listener {
 public:
  /// `commands`: the settings of the node's connection for commands. The listener has the same server, login and timeouts.
  explicit Listener(Session::Settings commands) : session{for_listening(std::move(commands))} {}

  /// Makes the next command of `sender` to this node arm the key that it reads; a blind node remains blind. Returns false
  /// if the commands for this cannot be sent now. The steps identify their replies.
  bool arm(NodeIndex node, Operation& sender, Step tracking, Step caching, Outbox& outbox) {
    if (is_blind()) return true;
    if (tracking_ == Tracking::off) {
      const std::string id = std::to_string(session.client_id());
      if (outbox.send(node, command({"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP"}), sender,
                      {.step = tracking, .send_by = Time{}}))
        return false;
      tracking_ = Tracking::on;
    }
    return !outbox.send(node, command({"CLIENT", "CACHING", "YES"}), sender,
                        {.step = caching, .send_by = Time{}});
  }
  /// The server has refused one of these commands. Returns false if the reply is outdated.
  bool refuse_tracking() noexcept {
    if (tracking_ != Tracking::on) return false;
    tracking_ = Tracking::refused;
    return true;
  }
  /// Either connection is new or lost.
  void disarm() noexcept { tracking_ = Tracking::off; }
  void ping(Time now) {
    if (session.ready() && session.pending() == 0) session.send(command({"PING"}), {}, never, now);
  }

  [[nodiscard]] bool is_blind() const noexcept { return !session.ready() || tracking_ == Tracking::refused; }
  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return session.has_errand() || session.is_dialling() || !session.unsent().empty();
  }

  Session session;
  bool is_node_connected = false;  // its connection for commands is ready
  LookLimit limit;

 private:
  enum class Tracking : std::uint8_t { off, on, refused };

  static Session::Settings for_listening(Session::Settings settings) {
    settings.seed = ~settings.seed;
    settings.purpose = Purpose::listening;
    return settings;
  }

  Tracking tracking_ = Tracking::off;
};

}  // namespace redlock::inline v1::core
