// What the lines of a client need to know of its nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/outbox.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// The times of waiting lines.
struct LineTimes {
  /// How long a member counts as alive after it was last heard of.
  std::chrono::milliseconds life{4000};
  /// The head may have raised the flag up to a fifth of `life` before the gate last heard of it. Once it counts as dead, the
  /// others may find that out only when they look the next time, after three eighths of `life` (`look_pause`) at most.
  [[nodiscard]] std::chrono::milliseconds flag_life() const noexcept { return life * 13 / 8; }
  /// Between two looks of a member at the gate; up to a third is added at random.
  Span look_pause = std::chrono::milliseconds{1125};
  /// Likewise, between two looks at a node that sends no messages.
  Span blind_pause = std::chrono::milliseconds{75};
};

class LineContext {
 public:
  virtual ~LineContext() = default;
  [[nodiscard]] virtual const LineTimes& times() const noexcept = 0;
  /// The connection for commands is ready.
  [[nodiscard]] virtual bool is_ready(NodeIndex) const = 0;
  /// According to the restart guard.
  [[nodiscard]] virtual bool may_grant(NodeIndex, std::chrono::milliseconds ttl) = 0;
  /// The server's run_id, or the endpoint's name if the server reports none.
  [[nodiscard]] virtual std::string_view server(NodeIndex) const = 0;
  /// A call got the lock although the node, which orders its line, said for a long time that others come first.
  virtual void contradicted(NodeIndex, Time now) = 0;
  /// The node is not to order this client's lines now.
  [[nodiscard]] virtual bool is_distrusted(NodeIndex, Time now) const = 0;
  /// The listener receives the messages to this client.
  [[nodiscard]] virtual bool hears(NodeIndex) const = 0;
  /// The node does not report changed keys.
  [[nodiscard]] virtual bool is_blind(NodeIndex) const = 0;
  /// While somebody waits, this client listens to the nodes.
  virtual void begin_listening() = 0;
  virtual void end_listening() = 0;
  /// Makes missing connections for listening.
  virtual void wake_listeners(Time now) = 0;
  /// Makes the next command of `sender` to this node arm the key that it reads; does nothing for a blind node. Returns
  /// false if the commands for this cannot be sent now.
  virtual bool arm(NodeIndex, Operation& sender, Step tracking, Step caching, Outbox&) = 0;
  /// The server refused to report changed keys.
  virtual void tracking_refused(NodeIndex, const Trouble&, Time now) = 0;
  [[nodiscard]] virtual std::uint64_t random() = 0;
};

}  // namespace redlock::inline v1::core
