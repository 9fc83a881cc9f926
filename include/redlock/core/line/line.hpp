// The line of the calls of one client that wait for one lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/ref.hpp"
#include "redlock/core/line/gates.hpp"
#include "redlock/core/line/line_context.hpp"
#include "redlock/core/line/line_flag.hpp"
#include "redlock/core/line/line_head.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/line/local_queue.hpp"
#include "redlock/core/line/waiter.hpp"
#include "redlock/core/operation/scripted_operation.hpp"

namespace redlock::inline v1::core {

/// The calls of one client that wait for one lock. The first of them stands in the line of all clients, for as long as it
/// has waited. One node, the *gate*, orders that line. The line only brings order: a lock still takes a majority of the
/// nodes, so nothing that goes wrong here gives it to two.
///
///     out ─ a call joins ─▶ queued ─ the gate says: first ─▶ head ─ a majority may be free ─▶ an attempt
///      ▲                      ▲ ▲                             │                                  │
///      │                      │ └── the gate says: not first ─┘ ◀──── held by another one ───────┤
///      └── the last one left ─┴── granted, or the first call was cancelled: the next one looks ◀─┘
///
/// The members look at the gate every 1 to 1.5 s, and whenever the gate tells them that they became the first one. So a
/// lost message costs no more than that, and a member that does not look for 4 s is stepped over.
///
/// It is an operation only so that replies reach it: it is never started and never done. All events only note what has
/// changed; `advance` acts.
class Line final : public ScriptedOperation {
 public:
  /// `touched`: where the line enters itself when `advance` has something to do.
  Line(std::string_view key, const std::string& member, std::size_t nodes, LineContext& context,
       std::vector<Ref<Line>>& touched)
      : key_{key},
        keys_{key},
        member_{member},
        context_{context},
        touched_{touched},
        gates_{nodes},
        flag_{keys_.flag, nodes, context},
        head_{key_, flag_, nodes, context} {}

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  void touch() {
    if (!is_touched_) touched_.emplace_back(this);
    is_touched_ = true;
  }
  void untouch() noexcept { is_touched_ = false; }

  // ── from the waiting calls ───────────────────────────────────────────────────────────────────────────────

  void add(Waiter& waiter) {
    touch();
    if (waiters_.add(waiter)) change_first();
  }
  void remove(Waiter& waiter) {
    touch();
    if (waiters_.remove(waiter)) change_first();
  }
  /// The call has made no attempt, or one that failed. The line may not have asked for it, if the call waits for several locks.
  void attempt_ended(const Waiter& waiter, LineHead::Attempt how, Time now) {
    touch();
    if (waiters_.attempt_ended(waiter)) head_.attempt_ended(how, now);
  }
  /// Returns false if nobody is the first one, although the gate says that others are.
  [[nodiscard]] bool attempt_succeeded(const Waiter& waiter) noexcept {
    return !waiters_.attempt_ended(waiter) || head_.attempt_succeeded();
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// The gate may have changed the order.
  void message(NodeIndex node) {
    touch();
    look_wanted_ = look_wanted_ || node == gate_;
  }
  void key_changed(NodeIndex node, std::size_t seat) {  // 0 for a lock
    touch();
    head_.key_changed(node, seat);
  }
  /// This client has written the key, which is not armed on this node any more.
  void disarmed(NodeIndex node) {
    touch();
    if (!waiters_.is_asking()) head_.disarmed(node);
  }
  /// No key is armed on this node any more, and messages of it may be lost: one of its connections has changed.
  void unheard(NodeIndex node) {
    disarmed(node);
    message(node);
  }
  /// The releases of this client's own lease were sent to all nodes: an attempt can follow them at once.
  void released(std::size_t seat) {
    touch();
    if (head_.is_head() && !waiters_.is_asking()) head_.released(seat);
    released_ = !head_.is_head() && (look_wanted_ || is_looking_) ? std::optional{seat} : std::nullopt;
  }
  void disconnected(NodeIndex node, const Trouble&, Time now, Outbox& outbox) override {
    touch();
    const bool owes_leave = gates_[node].leaves > 0;
    gates_[node] = {};
    flag_.disconnected(node);
    head_.disconnected(node);
    owes_leave ? send_leave(node, now, outbox) : ask_about_flag(now, outbox);
    if (node != gate_) return;
    is_looking_ = false;
    look_wanted_ = true;
  }

  void advance(Time now, Outbox& outbox) {
    act(now, outbox);
    if (waiters_.empty() != is_listening_) return;
    is_listening_ = !is_listening_;
    is_listening_ ? context_.begin_listening() : context_.end_listening();
  }
  [[nodiscard]] Time timer() const noexcept {
    if (waiters_.empty()) return never;
    return std::min(is_looking_ ? answer_due() : look_at_, waiters_.is_asking() ? never : head_.timer());
  }
  [[nodiscard]] std::optional<NodeIndex> gate() const noexcept { return gate_; }
  [[nodiscard]] bool has_waiters() const noexcept { return !waiters_.empty(); }
  /// Nothing on the nodes depends on this object any more, and none has yet to say whether this client was the last one.
  [[nodiscard]] bool has_left() const noexcept {
    return !stands_ && !gates_.await_leaves() && !flag_.awaits_answers();
  }
  /// When the last call left the line, unless nobody else was there.
  [[nodiscard]] Time left_at() const noexcept { return left_at_; }

 private:
  void start(Time, Outbox&) override {}
  void timed_out(Time, Outbox&) override {}
  void abandon(Errc, Time, Outbox&) override {}

  enum : Step { stood = LineHead::steps, left, left_in_doubt };

  [[nodiscard]] std::chrono::milliseconds life() const noexcept { return context_.times().life; }
  void act(Time now, Outbox& outbox) {
    if (waiters_.empty()) return leave(now, outbox);
    if (is_looking_ && now >= answer_due()) give_up_gate();
    const std::optional<NodeIndex> gate = gates_.best(key_, context_, now);
    if (!gate) return send_away([&](Waiter& waiter) { waiter.turned_away(now, outbox); }, now, outbox);
    if (gate != gate_) {
      leave(now, outbox);
      gate_ = gate;
      look_wanted_ = is_anew_ = true;
    }
    if ((look_wanted_ || now >= look_at_) && (!is_looking_ || is_anew_)) look(now, outbox);
    if (waiters_.is_asking()) return;
    const std::optional<Waiter::Turn> turn = head_.advance(waiters_.first().terms(), *this, now, outbox);
    if (turn) waiters_.let_ask().attempt_in_line(*turn, now, outbox);
  }
  /// Another call is the first one now: the gate has to hear of it before anybody acts.
  void change_first() {
    head_.step_back();
    released_.reset();
    look_wanted_ = is_anew_ = true;
  }

  // ── the gate ─────────────────────────────────────────────────────────────────────────────────────────────

  void give_up_gate() {
    gates_[*gate_].is_deaf = true;
    is_looking_ = false;
  }
  template <class Tell>
  void send_away(const Tell& tell, Time now, Outbox& outbox) {
    leave(now, outbox);
    const std::vector<Waiter*> others = waiters_.take_idle();
    gates_.try_all_again();
    for (Waiter* const waiter : others) tell(*waiter);
  }
  [[nodiscard]] Time answer_due() const { return looked_at_ + waiters_.first().terms().node_timeout; }

  void look(Time now, Outbox& outbox) {
    context_.wake_listeners(now);
    Gates::Node& node = gates_[*gate_];
    const std::string command = stand_command(Form::digest, is_anew_, now);
    look_wanted_ = is_anew_ = false;
    stands_ = is_looking_ = true;
    looked_at_ = now;
    look_at_ = never;
    ++node.looks;
    if (!outbox.send(*gate_, command, *this, {.step = stood})) return;
    --node.looks;
    give_up_gate();
    look_at_ = now;
  }
  [[nodiscard]] std::string stand_command(Form form, bool anew, Time now) const {
    return core::stand_command(keys_, member_, now - waiters_.first().terms().called_at, anew,
                               !gates_[*gate_].tested_publishing, life(), form);
  }
  void leave(Time now, Outbox& outbox) {
    head_.leave();
    is_looking_ = false;
    look_at_ = never;
    const std::optional<NodeIndex> gate = std::exchange(gate_, std::nullopt);
    if (!std::exchange(stands_, false)) return;
    left_at_ = now;
    flag_.left();
    send_leave(*gate, now, outbox);
  }
  /// A node without a connection gets it later, and its reply is ignored, also if that is NOSCRIPT.
  void send_leave(NodeIndex node, Time now, Outbox& outbox) {
    const Form form = context_.is_ready(node) ? Form::digest : Form::source;
    const Step step = flag_.doubtful_at() == node ? left_in_doubt : left;
    const std::string leave = leave_command(keys_, member_, life(), form);
    if (!outbox.send(node, leave, *this, flag_.kept(step, now))) ++gates_[node].leaves;
  }

  void note_place(NodeIndex node, const Reply& reply, Time now, Outbox& outbox) {
    gates_[node].is_deaf = false;
    if (gates_[node].looks > 0) --gates_[node].looks;
    const std::optional<LinePlace> place = read_place(reply, life());
    if (place) gates_[node].tested_publishing = true;
    can_publish_ = can_publish_ && (!place || place->can_publish);
    if (node != gate_ || gates_[node].looks > 0 || !is_looking_) return;
    is_looking_ = false;
    if (!place || place->rank < 0) {
      const Trouble refusal = trouble_of(reply, "a valid answer of the line's script");
      if (!is_misconfiguration(refusal.status)) return give_up_gate();
      return send_away([&](Waiter& waiter) { waiter.refused(node, refusal, now, outbox); }, now, outbox);
    }
    const LineTimes& times = context_.times();
    const bool hears = can_publish_ && context_.hears(node);
    look_at_ = now + jittered(hears ? times.look_pause : times.blind_pause, context_.random());
    if (place->ahead_left)
      look_at_ = std::min(look_at_, now + *place->ahead_left + std::chrono::milliseconds{1});
    if (is_anew_) return;  // the place of a call that is not the first one any more
    waiters_.tell_places(*place, now, outbox);
    const std::optional<std::size_t> released = std::exchange(released_, std::nullopt);
    if (place->rank != 0) return head_.stand_behind(waiters_.first().terms().node_timeout, now);
    head_.confirm(place->line, node, looked_at_ + life());
    if (released) head_.released(*released);
  }
  void note_leave(const Reply& reply, bool tells_doubt, Time now, Outbox& outbox) {
    const std::optional<LinePlace> place = read_place(reply, life());
    if (!place) return;
    if (tells_doubt) flag_.resolve_doubt(place->line, *this, now, outbox);
    if (place->length > 0) return;
    if (!stands_) left_at_ = {};  // nobody is there whom the next call could overtake
    if (!place->line.empty()) flag_.lower(place->line, *this, now, outbox);  // a newer line has another name
  }
  void ask_about_flag(Time now, Outbox& outbox) {
    const std::optional<NodeIndex> gate = flag_.doubtful_at();
    if (gate && !(stands_ && gate == gate_)) send_leave(*gate, now, outbox);  // else it asks when it leaves
  }

  void on_reply(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) override {
    touch();
    if (step == stood) return note_place(node, reply, now, outbox);
    if (step == LineFlag::raised) {
      flag_.answered(node);
      return ask_about_flag(now, outbox);
    }
    if (step != left && step != left_in_doubt) return head_.answered(node, step, reply, now);
    if (gates_[node].leaves > 0) --gates_[node].leaves;
    note_leave(reply, step == left_in_doubt, now, outbox);
  }
  [[nodiscard]] std::optional<Command> command_by_source(Step step, NodeIndex node, Time now,
                                                         const Outbox&) const override {
    const bool stands_here = stands_ && node == gate_;
    if (step == stood && stands_here && !waiters_.empty())
      return Command{stand_command(Form::source, true, now), {.step = stood}};
    if ((step == left || step == left_in_doubt) && !stands_here)
      return Command{leave_command(keys_, member_, life(), Form::source), flag_.kept(step, now)};
    if (step == LineFlag::lowered) return Command{flag_.lower_command(Form::source), flag_.kept(step, now)};
    return {};
  }

  const std::string key_;
  const LineKeys keys_;
  const std::string& member_;
  LineContext& context_;
  std::vector<Ref<Line>>& touched_;
  bool is_touched_ = false;
  Gates gates_;
  LineFlag flag_;
  LineHead head_;
  LocalQueue waiters_;
  std::optional<NodeIndex> gate_;
  bool is_listening_ = false;
  bool stands_ = false;      // at the gate
  bool is_looking_ = false;  // waits for the gate's answer
  bool look_wanted_ = false;
  bool is_anew_ = false;  // the gate does not know the first call yet
  bool can_publish_ = true;
  std::optional<std::size_t> released_;  // what this client released while the gate was asked
  Time looked_at_{};
  Time look_at_ = never;
  Time left_at_{};
};

}  // namespace redlock::inline v1::core
