// Operations whose commands call scripts.
#pragma once

#include <optional>
#include <string>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

/// Added to the step of a command that is sent again with the source of its script.
inline constexpr Step by_source = 0x80;

/// An operation that calls its scripts by their digests. A server that answers NOSCRIPT has lost the script, for example
/// by a SCRIPT FLUSH: the command is sent once more to this node, with the source, unless `command_by_source`
/// returns none. If it comes after the operation is over, `Nodes` loads the scripts.
class ScriptedOperation : public Operation {
 public:
  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) final {
    const bool is_resent = (step & by_source) != 0;
    if (!is_resent && is_noscript(reply) && send_by_source(node, step, now, outbox)) return;
    on_reply(node, static_cast<Step>(step & ~by_source), reply, now, outbox);
  }

 protected:
  struct Command {
    std::string bytes;
    SendOptions options;
  };

  /// The reply to a step, however its script was named.
  virtual void on_reply(NodeIndex, Step, const Reply&, Time now, Outbox&) = 0;
  /// Returns the command of a step with the source of its script. Returns none if the command must not be sent again;
  /// then NOSCRIPT is its reply.
  [[nodiscard]] virtual std::optional<Command> command_by_source(Step, NodeIndex, Time now,
                                                                 const Outbox&) const = 0;
  /// Called after a command was sent again with the source of its script.
  virtual void was_sent_again(NodeIndex, Step, Outbox&) {}

 private:
  /// Returns false if the command must not be sent again, so that NOSCRIPT is its reply.
  bool send_by_source(NodeIndex node, Step step, Time now, Outbox& outbox) {
    std::optional<Command> again = command_by_source(step, node, now, outbox);
    if (!again) return false;
    again->options.step = static_cast<Step>(step | by_source);
    const Trouble* const refused = outbox.send(node, again->bytes, *this, again->options);
    if (!refused)
      was_sent_again(node, step, outbox);
    else
      disconnected(node, Trouble{*refused}, now, outbox);
    return true;
  }
};

}  // namespace redlock::inline v1::core
