// Asks the holder of a lock to give it up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Runs the script on all nodes, which asks the holder, or all readers. Done when every node has answered or cannot answer any more. Names the script by its source,
/// because it is rarely used. Source: `Revocable` of Apache Curator, where a lock can be asked for as well.
class Asking final : public Operation {
 public:
  static constexpr std::size_t longest_reason = longest_why;  // in bytes

  Asking(std::string key, std::string why, std::size_t nodes, Span node_timeout)
      : key_{std::move(key)}, why_{std::move(why)}, node_timeout_{node_timeout}, tally_{nodes} {}

  void start(Time now, Outbox& outbox) override {
    set_deadline(later(now, node_timeout_));
    const std::string ask =
        command({"EVAL", ask_source, "2", key_, request_prefix(key_), why_, readers_key(key_)});
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      if (const Trouble* const refused = outbox.send(node, ask, *this, {.send_by = deadline()}))
        tally_.mark(node, Tally::Mark::unknown, *refused);
      else
        outbox.touched(node, key_);
    }
    decide();
  }
  void answered(NodeIndex node, Step, const Reply& reply, Time, Outbox&) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    note(node, reply);
    decide();
  }
  void disconnected(NodeIndex node, const Trouble& trouble, Time, Outbox&) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    tally_.mark(node, Tally::Mark::unknown, trouble);
    decide();
  }
  void timed_out(Time, Outbox&) override {
    if (done()) return;
    tally_.close(no_answer_within(node_timeout_));
    decide();
  }
  void abandon(Errc, Time now, Outbox& outbox) override { timed_out(now, outbox); }

  [[nodiscard]] std::string_view written_key() const noexcept override { return key_; }
  [[nodiscard]] std::size_t connections_wanted(std::size_t nodes) const override { return nodes; }
  /// Valid once done: no means that a holder was asked there, yes that nobody has the lock.
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

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
  void decide() {
    if (tally_.count(Tally::Mark::pending) == 0) finish();
  }

  const std::string key_;
  const std::string why_;
  const Span node_timeout_;
  Tally tally_;
};

}  // namespace redlock::inline v1::core
