// Asks the holder of a lock to give it up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/poll.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Runs the script on all nodes, which asks the holder, or all readers. Names the script by its source, because it is rarely
/// used. In the tally, no means that a holder was asked there, and yes that nobody has the lock. Source: `Revocable` of Apache
/// Curator, where a lock can be asked for as well.
class Asking final : public Poll {
 public:
  static constexpr std::size_t longest_reason = longest_why;  // in bytes

  Asking(std::string key, std::string why, std::size_t nodes, Span node_timeout)
      : Poll{nodes, node_timeout}, key_{std::move(key)}, why_{std::move(why)} {}

  void start(Time now, Outbox& outbox) override {
    begin(now);
    const std::string question =
        command({"EVAL", ask_source, "2", key_, request_prefix(key_), why_, readers_key(key_)});
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      if (ask(node, Step{}, question, outbox)) outbox.touched(node, key_);
    decide(outbox);
  }
  void answered(NodeIndex node, Step, const Reply& reply, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
    note(node, reply);
    decide(outbox);
  }

  [[nodiscard]] std::string_view written_key() const noexcept override { return key_; }

 private:
  void note(NodeIndex node, const Reply& reply) {
    const auto& parts = reply.elements;
    if (!reply.is(Reply::Kind::array) || parts.size() != 2 || !parts[0].is(Reply::Kind::string) ||
        !parts[1].is(Reply::Kind::integer))
      return tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer of the script"));
    const std::int64_t left = parts[1].integer;
    if (left == -2) return tally_.mark(node, Tally::Mark::yes);
    tally_[node].owner = parts[0].text;
    if (left >= 0) tally_[node].ttl = span_of(std::chrono::milliseconds{left});
    tally_.mark(node, Tally::Mark::no);
  }

  const std::string key_;
  const std::string why_;
};

}  // namespace redlock::inline v1::core
