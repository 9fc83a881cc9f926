// What the first one in line does: raises the flag, and watches the lock on all nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/line/line_context.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/line/lock_view.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

/// `pause`, plus up to a third of it at random, so that clients do not act in step.
[[nodiscard]] inline Span jittered(Span pause, std::uint64_t random) noexcept {
  return pause + Span{static_cast<Span::rep>(random % static_cast<std::uint64_t>(pause.count() / 3))};
}

/// The head of a line. It keeps newcomers behind by a flag on every node, and asks for the lock when a majority of the
/// nodes may be free. The flag has the line's name, so that whoever leaves the line as the last one can take it down.
class LineHead {
 public:
  enum : Step { raised, tracking, caching, value, steps };

  LineHead(std::string_view key, const LineKeys& keys, std::size_t nodes, LineContext& context)
      : key_{key}, flag_{keys.flag}, context_{context}, raised_at_(nodes), view_{nodes} {}

  /// Becomes or remains the head of the line with this name.
  void confirm(const std::string& line, Time until) {
    if (line_ != line) raised_at_.assign(raised_at_.size(), Time{});
    line_ = line;
    until_ = until;
    if (std::exchange(is_head_, true)) view_.refresh();
  }
  void step_back() {
    is_head_ = false;
    ask_at_ = {};
    view_.forget();
  }
  [[nodiscard]] bool is_head() const noexcept { return is_head_; }

  void key_changed(NodeIndex node) { view_.changed(node); }
  void disarmed(NodeIndex node) { view_.forget(node); }
  void disconnected(NodeIndex node) {
    raised_at_[node] = {};
    view_.disconnected(node);
  }
  /// This client has just released the lock on all nodes.
  void released() { view_.all_free(); }
  /// Other clients got votes as well: waits a while, so that one of them gets a majority.
  void split_vote(Time now) { ask_at_ = later(now, backoff_.next(context_.random())); }
  void attempt_failed() { view_.forget(); }
  void attempt_succeeded() noexcept { backoff_.reset(); }

  /// Sends what is due. Returns true if it is time for an attempt.
  [[nodiscard]] bool advance(std::chrono::milliseconds ttl, Operation& sender, Time now, Outbox& outbox) {
    acted_at_ = now;
    if (!is_head_ || now >= until_) return false;
    std::size_t free = 0;
    for (NodeIndex node = 0; node < raised_at_.size(); ++node) {
      if (!context_.is_ready(node)) continue;
      raise(node, sender, now, outbox);
      if (view_.wants_read(node, now)) read(node, sender, now, outbox);
      if (view_.may_be_free(node, now) && context_.may_grant(node, ttl)) ++free;
    }
    return free >= quorum(raised_at_.size()) && now >= ask_at_;
  }
  [[nodiscard]] Time timer() const noexcept {
    if (!is_head_ || acted_at_ >= until_) return never;  // the next look decides
    const Time again = ask_at_ > acted_at_ ? ask_at_ : never;
    return std::min(again, view_.timer(acted_at_));
  }
  void answered(NodeIndex node, Step step, const Reply& reply, Time now) {
    if (step == tracking && reply.is(Reply::Kind::error))
      context_.tracking_refused(node, trouble_of_error(reply.text), now);
    if (step != value) return;
    std::optional<Time> free_at;
    if (reply.is(Reply::Kind::integer) && reply.integer == -2) free_at = now;
    if (reply.is(Reply::Kind::integer) && reply.integer >= 0)
      free_at =
          later(later(now, span_of(std::chrono::milliseconds{reply.integer})), std::chrono::milliseconds{1});
    view_.answered(node, free_at, now);
  }

 private:
  /// Raises the flag, or prolongs its life. It outlives a head that died, so that the next one keeps it up.
  void raise(NodeIndex node, Operation& sender, Time now, Outbox& outbox) {
    const LineTimes& times = context_.times();
    if (raised_at_[node] != Time{} && now - raised_at_[node] < times.life / 5) return;
    raised_at_[node] = now;
    outbox.send(node, command({"SET", flag_, line_, "PX", std::to_string(times.flag_life().count())}), sender,
                {.step = raised});
  }
  void read(NodeIndex node, Operation& sender, Time now, Outbox& outbox) {
    if (!context_.arm(node, sender, tracking, caching, outbox)) return;
    if (outbox.send(node, command({"PTTL", key_}), sender, {.step = value})) return;
    view_.asked(node, context_.is_blind(node)
                          ? now + jittered(context_.times().blind_pause, context_.random())
                          : never);
  }

  const std::string_view key_;
  const std::string& flag_;
  LineContext& context_;
  std::vector<Time> raised_at_;  // by node; zero: not on this connection
  LockView view_;
  bool is_head_ = false;
  std::string line_;  // its name
  Time until_{};      // then the gate may step over this client
  Time ask_at_{};
  Time acted_at_{};
  Backoff backoff_{std::chrono::milliseconds{2}, std::chrono::milliseconds{200}};
};

}  // namespace redlock::inline v1::core
