// What the first one in line does: raises the flag, and watches the lock on all nodes.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/line/gate_doubt.hpp"
#include "redlock/core/line/line_context.hpp"
#include "redlock/core/line/line_flag.hpp"
#include "redlock/core/line/lock_view.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/line/waiter.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::inline v1::core {

/// `pause`, plus up to a third of it at random, so that clients do not act in step.
[[nodiscard]] inline Span jittered(Span pause, std::uint64_t random) noexcept {
  return pause + Span{static_cast<Span::rep>(random % static_cast<std::uint64_t>(pause.count() / 3))};
}

/// The head of a line. It keeps newcomers behind by the flag, and asks for the lock when a majority of the nodes may be
/// free.
class LineHead {
 public:
  enum class Attempt : std::uint8_t {
    denied,  ///< Another client has the lock.
    split,  ///< It lost to contenders (`SplitVote`). The call waits a while, so that one of them gets the lock.
    unclear,  ///< The call waits for other locks as well, and one of them was denied.
    put_off,  ///< It was not made, because the call waits for other locks as well. The call keeps its place.
  };
  enum : Step { tracking = LineFlag::steps, caching, value, steps };

  LineHead(std::string_view key, LineFlag& flag, std::size_t nodes, LineContext& context)
      : key_{key}, flag_{flag}, context_{context}, nodes_{nodes}, view_{nodes} {}

  /// Becomes or remains the head of the line with this name.
  void confirm(const std::string& line, NodeIndex gate, Time until) {
    flag_.belongs_to(line, gate);
    until_ = until;
    displaced_until_ = never;
    doubt_.end();
    if (std::exchange(is_head_, true)) return view_.refresh();
    ask_at_ = {};
    has_had_its_turn_ = false;
  }
  void step_back() {
    is_head_ = false;
    displaced_until_ = never;
    ask_at_ = {};
    view_.forget();
  }
  /// The gate says that others come first. A head that has had no turn yet has it before it steps back: it asks, or sees that too few
  /// nodes are free. Otherwise a gate that lies could make one member after the other raise the flag, and none of them would ask. It
  /// waits for the nodes for at most the node timeout.
  void stand_behind(Span node_timeout, Time now) {
    if (!is_head_ || has_had_its_turn_) return give_way(now);
    if (displaced_until_ != never) return;
    displaced_until_ = later(now, node_timeout);
    ask_at_ = {};
  }
  void leave() {
    step_back();
    doubt_.end();
  }
  [[nodiscard]] bool is_head() const noexcept { return is_head_; }

  void key_changed(NodeIndex node, std::size_t seat) { view_.changed(node, seat); }
  void disarmed(NodeIndex node) { view_.forget(node); }
  void disconnected(NodeIndex node) { view_.disconnected(node); }
  /// This client has just released the lock, or this seat, on all nodes.
  void released(std::size_t seat) { view_.all_free(seat); }
  void attempt_ended(Attempt how, Time now) {
    doubt_.end_attempt();
    if (how != Attempt::put_off) view_.forget();
    if (how == Attempt::unclear) ask_at_ = {};
    if (how == Attempt::denied) {
      backoff_.reset();
      pause_if_denied_again(now);
    }
    if (how == Attempt::split) ask_at_ = later(now, backoff_.next(context_.random()));
    if (how == Attempt::put_off) ask_at_ = later(now, pause_when_put_off);
    has_had_its_turn_ = has_had_its_turn_ || how != Attempt::put_off;
    if (has_had_its_turn_ && displaced_until_ != never) give_way(now);
  }
  /// Returns false if nobody is the head, although the gate still says that others come first.
  [[nodiscard]] bool attempt_succeeded() noexcept {
    backoff_.reset();
    denied_at_ = Time::min();
    return !doubt_.end_attempt();
  }

  /// Sends what is due. Returns a value if it is time for an attempt.
  [[nodiscard]] std::optional<Waiter::Turn> advance(const Waiter::Terms& terms, Operation& sender, Time now,
                                                    Outbox& outbox) {
    acted_at_ = now;
    if (doubt_.asks(now, context_.times().flag_life())) return Waiter::Turn::others;
    if (displaced_until_ != never && now >= std::min(until_, displaced_until_)) give_way(now);
    if (!is_head_ || now >= until_) return std::nullopt;
    for (NodeIndex node = 0; node < nodes_; ++node) {
      if (!context_.is_ready(node)) continue;
      flag_.raise(node, sender, now, outbox);
      if (view_.wants_read(node, now)) read(node, terms, sender, now, outbox);
    }
    if (now >= ask_at_ && may_be_free(terms, now)) return Waiter::Turn::own;
    has_had_its_turn_ = has_had_its_turn_ || !may_turn_out_free(terms, now);
    if (has_had_its_turn_ && displaced_until_ != never) give_way(now);
    return std::nullopt;
  }
  [[nodiscard]] Time timer() const noexcept {
    if (!is_head_ || acted_at_ >= until_) return doubt_.timer();  // or the next look decides
    const Time again = ask_at_ > acted_at_ ? ask_at_ : never;
    return std::min({again, view_.timer(acted_at_), displaced_until_});
  }
  void answered(NodeIndex node, Step step, const Reply& reply, Time now) {
    if (step == tracking && reply.is(Reply::Kind::error))
      context_.tracking_refused(node, trouble_of_error(reply.text), now);
    if (step != value) return;
    if (!reply.is(Reply::Kind::array)) return view_.answered(node, std::array{free_at_by(reply, now)});
    std::vector<Time> free_at;
    for (const Reply& seat : reply.elements) free_at.push_back(free_at_by(seat, now));
    view_.answered(node, free_at);
  }

 private:
  void give_way(Time now) {
    step_back();
    doubt_.stands_behind(now, context_.times().flag_life());
  }
  /// A node that lies may say that the lock is free after each denial.
  void pause_if_denied_again(Time now) {
    const bool is_again = now < later(denied_at_, soon_after_denial);
    denied_at_ = now;
    if (!is_again) denials_.reset();
    ask_at_ = is_again ? later(now, denials_.next(context_.random())) : Time{};
  }

  /// When a key with this PTTL is free; `never` if it does not expire.
  [[nodiscard]] static Time free_at_by(const Reply& pttl, Time now) {
    if (!pttl.is(Reply::Kind::integer)) return never;
    if (pttl.integer < 0) return pttl.integer == -2 ? now : never;
    return later(later(now, span_of(std::chrono::milliseconds{pttl.integer})), std::chrono::milliseconds{1});
  }

  /// On a majority. (Different seats that are free on different nodes are of no use.)
  [[nodiscard]] bool may_be_free(const Waiter::Terms& terms, Time now) const {
    return is_majority(terms, [&](NodeIndex node, std::size_t seat) {
      return view_.may_be_free(node, seat, now) && may_grant(node, terms);
    });
  }
  /// Once the nodes have told that have not yet, or that cannot be asked just now.
  [[nodiscard]] bool may_turn_out_free(const Waiter::Terms& terms, Time now) const {
    return is_majority(terms, [&](NodeIndex node, std::size_t seat) {
      return !view_.has_told(node) || view_.may_be_free(node, seat, now) || !may_grant(node, terms);
    });
  }
  [[nodiscard]] bool may_grant(NodeIndex node, const Waiter::Terms& terms) const {
    return context_.is_ready(node) && context_.may_grant(node, terms.ttl);
  }
  /// Whether a majority of the nodes fulfils this for the same seat.
  template <class Condition>
  [[nodiscard]] bool is_majority(const Waiter::Terms& terms, const Condition& condition) const {
    for (std::size_t seat = 0; seat < std::max<std::size_t>(terms.seats, 1); ++seat) {
      std::size_t count = 0;
      for (NodeIndex node = 0; node < nodes_; ++node) count += condition(node, seat) ? 1 : 0;
      if (count >= quorum(nodes_)) return true;
    }
    return false;
  }

  void read(NodeIndex node, const Waiter::Terms& terms, Operation& sender, Time now, Outbox& outbox) {
    if (!context_.arm(node, sender, tracking, caching, outbox)) return;
    if (outbox.send(node, question(terms), sender, {.step = value})) return;
    view_.asked(node, context_.is_blind(node)
                          ? now + jittered(context_.times().blind_pause, context_.random())
                          : never);
  }

  [[nodiscard]] std::string question(const Waiter::Terms& terms) const {
    if (terms.seats > 0) return read_seats_command(key_, terms.seats);
    if (terms.is_shared) return command({"EVAL", readable_source, "1", key_});
    return command({"PTTL", key_});
  }

  static constexpr Span pause_when_put_off = std::chrono::milliseconds{100};
  /// Denials that follow each other so soon are in quick succession.
  static constexpr Span soon_after_denial = std::chrono::milliseconds{100};

  const std::string_view key_;
  LineFlag& flag_;
  LineContext& context_;
  const std::size_t nodes_;
  LockView view_;
  GateDoubt doubt_;
  bool is_head_ = false;
  Time until_{};  // then the gate may step over this client
  Time ask_at_{};
  Time denied_at_ = Time::min();
  bool has_had_its_turn_ = false;  // has asked since it became the head, or too few nodes were free
  Time displaced_until_ = never;   // others come first, but it has its turn until then
  Time acted_at_{};
  Backoff backoff_{std::chrono::milliseconds{2}, std::chrono::milliseconds{200}};
  Backoff denials_{std::chrono::milliseconds{2}, std::chrono::milliseconds{8}};
};

}  // namespace redlock::inline v1::core
