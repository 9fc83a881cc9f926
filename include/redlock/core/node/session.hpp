// The state of one connection to a node: dialling, handshake, pending replies, timeouts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/ring.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/node/send_buffer.hpp"
#include "redlock/core/node/session_login.hpp"
#include "redlock/core/node/session_settings.hpp"
#include "redlock/core/node/waiting_commands.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// What is known about a node, and which bytes go over its connection in which order. The inputs are connection events,
/// replies and the time. The outputs are bytes to send, errands for the shell (close a connection, make a new one) and
/// slots for the engine (which operation a reply belongs to).
///
///     idle ─ first use ─▶ dialling ─ connected ─▶ handshake ─ succeeded ─▶ ready
///                            ▲  └──── refused ────┬──┘ failed                │ lost, or silent while
///                            └───── backoff ──── down ◀──────────────────────┘ a reply is due
///
/// Replies arrive in the order of the commands, so a queue of slots assigns them to operations. A slot stays in the
/// queue even if its caller has left; the late reply is then ignored when it arrives. Commands that were sent but not
/// answered when a connection breaks are never sent again on another one.
class Session {
 public:
  using Settings = SessionSettings;
  using Closing = SessionClosing;
  using Slot = ReplySlot;
  enum class State : std::uint8_t { idle, dialling, handshake, ready, down };

  explicit Session(Settings settings)
      : settings_{std::move(settings)}, login_{std::move(settings_.login)}, random_{settings_.seed} {}

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// Starts dialling on first use, and when the pause after a refusal is over.
  void wake(Time now) {
    if (state_ == State::idle) dial(now, DialReason::first_use);
    if (state_ == State::down && now >= refused_until_) dial(now, DialReason::retry);
  }

  /// Queues a command after all earlier ones. Returns null on success, else why the node cannot be used. While a
  /// connection attempt is worth waiting for, commands wait for it. Releases wait for any connection; if they have to,
  /// `send` still returns the trouble, and their reply is ignored. The same holds for releases that are queued although
  /// too many commands are unanswered. `rest`: the end of a command that is sent now; those that wait get theirs later.
  const Trouble* send(std::string_view command, Slot slot, Time send_by, Time now,
                      std::string_view rest = {}) {
    const bool is_waiting = worth_waiting_for();
    if (state_ != State::ready && !is_waiting && !slot.is_release) return &trouble_;
    // Other commands leave room for releases, so that an accepted SET can always be undone.
    const std::size_t size = out_.size() + waiting_.bytes() + command.size() + rest.size();
    if (size > (slot.is_release ? 2 * unsent_limit : unsent_limit))
      return state_ == State::ready || is_waiting
                 ? &overloaded(slot.is_release ? "more than 3 MiB are waiting to be sent"
                                               : "more than 1.5 MiB are waiting to be sent")
                 : &trouble_;
    if (state_ == State::ready) {
      if (!pending_.has_room_for(slot)) return &overloaded(PendingReplies::crowd());
      const bool is_ignored = pending_.is_crowded();
      if (is_ignored) slot.operation = {};
      queue(command, std::move(slot), rest, now);
      return is_ignored ? &overloaded(PendingReplies::crowd()) : nullptr;
    }
    // Also send a release on the connection that is being closed, after the SET that may still be queued there.
    if (slot.is_release && closing_ && closing_->graceful) closing_->unsent += command;
    if (!is_waiting) slot.operation = {};
    waiting_.add(command, std::move(slot), send_by);
    return is_waiting ? nullptr : &trouble_;
  }

  /// Postpones the next redial. For a session that is down.
  void postpone_redial(Time until) noexcept { redial_at_ = std::max(redial_at_, until); }
  /// Sends the commands that waited for the connection. Precondition: the session is ready. `rest_of(slot)` returns the
  /// end of the command; if it returns none, the command is dropped and its slot returned: it gets no reply.
  template <class RestOf>
  [[nodiscard]] std::vector<Slot> send_waiting(const RestOf& rest_of, Time now) {
    std::vector<Slot> refused;
    for (WaitingCommands::Command& waiting : waiting_.take_all()) {
      if (now >= waiting.send_by) continue;  // its operation is over; a release that follows it does no harm
      if (const std::optional<std::string> rest = rest_of(waiting.slot))
        queue(waiting.bytes, std::move(waiting.slot), *rest, now);
      else
        refused.push_back(std::move(waiting.slot));
    }
    return refused;
  }

  /// The server cannot be used although the handshake succeeded. The first `wake` after `pause` redials.
  void refuse(Trouble trouble, Time now, Span pause) {
    fail(std::move(trouble), Leave::gracefully, now);
    redial_at_ = never;
    refused_until_ = later(now, pause);
  }

  /// Logs in with these from now on, also on the connection that there is. The server's answer is for `login`.
  void log_in(const Credentials& credentials, Time now) {
    login_.change(credentials);
    if (state_ == State::ready) login_.say_if_due(out_, pending_, now);
  }
  /// For a listener, which cannot log in while it is subscribed: replaces a connection without these credentials, if any.
  bool redial_with(const Credentials& credentials, Time now) {
    if (!login_.change(credentials) || state_ == State::idle || is_refused()) return false;
    fail({NodeStatus::connection_lost, "the credentials have changed"}, Leave::at_once, now);
    dial(now, DialReason::replacement);
    return true;
  }
  [[nodiscard]] SessionLogin& login() noexcept { return login_; }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  void connected() {
    if (state_ != State::dialling) return;
    state_ = State::handshake;
    login_.begin_handshake();
    handshake_.emplace(login_.login(), settings_.purpose, settings_.look);
    out_.clear();
    out_.add_secret(handshake_->bytes());
    has_unread_ = false;
  }
  /// The connection could not be made, was reset or closed by the server, or carries invalid data.
  void disconnected(Trouble trouble, Time now) {
    if (is_dialling() || ready()) fail(std::move(trouble), Leave::at_once, now);
  }
  /// After each read: whether more bytes may be readable. While they may, no reply counts as missing.
  void left_unread(bool has_unread) noexcept { has_unread_ = has_unread; }

  /// Takes one reply and returns its slot. Returns none during the handshake, and for an unexpected reply.
  std::optional<Slot> answered(const Reply& reply, Time now) {
    if (state_ == State::handshake) {
      if (auto trouble = handshake_->answered(reply))
        fail(std::move(*trouble), Leave::gracefully, now);
      else if (handshake_->complete())
        become_ready(now);
      return std::nullopt;
    }
    if (state_ != State::ready) return std::nullopt;
    if (pending_.empty()) {
      fail({NodeStatus::protocol_error, "unexpected reply: " + reply.text.substr(0, 100)}, Leave::gracefully,
           now);
      return std::nullopt;
    }
    return pending_.pop();
  }

  /// Handles timeouts and redials. Returns true if the state has changed. Call only after reading: after a pause of this
  /// process, the replies may already be in the socket.
  bool on_time(Time now) {
    if (now < timer()) return false;
    if (state_ == State::down) {
      dial(now, DialReason::retry);
      return true;
    }
    const bool pending = state_ == State::ready;
    if (pending && has_unread_) return false;
    fail({NodeStatus::timed_out, pending ? "the connection stopped responding" : settings_.late},
         Leave::gracefully, now);
    return true;
  }
  /// When to call `on_time`.
  [[nodiscard]] Time timer() const noexcept {
    if (is_dialling()) return dial_until_;
    if (state_ == State::down) return redial_at_;
    return state_ == State::ready ? later(pending_.oldest(), settings_.silence) : never;
  }

  [[nodiscard]] std::string_view unsent() const noexcept { return out_.unsent(); }
  void sent(std::size_t bytes) { out_.sent(bytes); }

  /// What to do with the old connection. Take this before `take_dial`.
  std::optional<Closing> take_closing() { return std::exchange(closing_, std::nullopt); }
  /// Returns true, once, if a new connection must be made now.
  bool take_dial() noexcept { return std::exchange(dial_wanted_, false); }
  [[nodiscard]] bool has_errand() const noexcept { return closing_.has_value() || dial_wanted_; }

  // ── what is known ────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] const std::string& name() const noexcept { return settings_.name; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  /// A connection is being made, and not because an attempt failed: it is worth an operation's time.
  [[nodiscard]] bool worth_waiting_for() const noexcept {
    return is_dialling() && dial_reason_ != DialReason::retry;
  }
  [[nodiscard]] bool is_dialling() const noexcept {
    return state_ == State::dialling || state_ == State::handshake;
  }
  [[nodiscard]] const Trouble& trouble() const noexcept { return trouble_; }
  [[nodiscard]] const std::string& run_id() const noexcept { return greeting_.run_id; }
  /// The server's ID of the connection; only for a listener.
  [[nodiscard]] long long client_id() const noexcept { return greeting_.client_id; }
  [[nodiscard]] bool hears_turns() const noexcept { return state_ == State::ready && greeting_.hears_turns; }
  /// The reply of `mark_script` in the handshake; only with a restart guard.
  [[nodiscard]] const Reply& marker() const noexcept { return greeting_.marker; }
  [[nodiscard]] Time ready_at() const noexcept { return ready_at_; }
  /// Replies are due that must be read even if no operation waits for them: to releases and to extensions.
  [[nodiscard]] bool must_read() const noexcept { return pending_.must_read(); }
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }
  /// The server may have closed the connection since a command was queued: look before writing.
  [[nodiscard]] bool stale(Time now) const noexcept {
    return state_ == State::ready && now - used_at_ > std::chrono::milliseconds{10};
  }
  /// Releases wait for a connection that replaces a lost one, unless an attempt to make it has failed.
  [[nodiscard]] bool expects_to_release() const noexcept {
    return state_ != State::ready && ready_at_ != Time{} && waiting_.bytes() > 0 && backoff_.waits() <= 1;
  }

 private:
  enum class DialReason : std::uint8_t { first_use, replacement, retry };
  enum class Leave : bool { at_once, gracefully };
  /// Twice for releases. A call for 64 locks with the longest names and key prefix needs nearly so much.
  static constexpr std::size_t unsent_limit = std::size_t{3} << 19U;

  [[nodiscard]] bool is_refused() const noexcept { return state_ == State::down && refused_until_ != never; }
  void dial(Time now, DialReason reason) {
    state_ = State::dialling;
    dial_reason_ = reason;
    dial_wanted_ = true;
    dial_until_ = later(now, settings_.connect_timeout);
  }

  void become_ready(Time now) {
    state_ = State::ready;
    ready_at_ = now;
    used_at_ = now;
    greeting_ = handshake_->greeting();
    handshake_.reset();
    login_.end_handshake();
    login_.say_if_due(out_, pending_, now);
  }

  void queue(std::string_view command, Slot&& slot, std::string_view rest, Time now) {
    pending_.make_room();  // without memory, no command is sent that has no slot for its reply
    out_.add(command, slot.is_release, rest);
    used_at_ = now;
    pending_.push(std::move(slot), now);
  }

  const Trouble& overloaded(std::string why) {
    overloaded_ = {NodeStatus::overloaded, std::move(why)};
    return overloaded_;
  }

  /// Replaces a connection that worked for a while at once, because servers close idle connections. After any other
  /// failure waits for the backoff.
  void fail(Trouble trouble, Leave leave, Time now) {
    const bool was_good = state_ == State::ready && now - ready_at_ > std::chrono::seconds{1};
    const bool is_idle = state_ == State::dialling || (state_ == State::ready && pending_.empty());
    const bool graceful = leave == Leave::gracefully && !is_idle && settings_.purpose == Purpose::commands;
    SendBuffer::Bytes releases = state_ == State::ready ? out_.take_releases() : SendBuffer::Bytes{};
    if (!closing_) closing_ = Closing{graceful, std::move(releases)};
    trouble_ = std::move(trouble);
    dial_wanted_ = false;
    handshake_.reset();
    pending_.clear();
    out_.clear();
    waiting_.keep_only_releases(now);
    refused_until_ = never;
    if (was_good) backoff_.reset();
    if (was_good && leave == Leave::at_once) return dial(now, DialReason::replacement);
    state_ = State::down;
    redial_at_ = later(now, backoff_.next(next_random(random_)));
  }

  Settings settings_;
  SessionLogin login_;
  std::uint64_t random_;
  State state_ = State::idle;
  DialReason dial_reason_ = DialReason::first_use;
  Trouble trouble_;
  Trouble overloaded_;
  std::optional<Handshake> handshake_;
  Greeting greeting_;

  SendBuffer out_;
  PendingReplies pending_;
  WaitingCommands waiting_;  // for a connection

  bool has_unread_ = false;
  Time ready_at_{};
  Time used_at_{};  // when the last command but a login was queued, or the handshake succeeded
  Time dial_until_{};
  Time redial_at_{};
  Time refused_until_ = never;
  Backoff backoff_{std::chrono::milliseconds{50}, std::chrono::seconds{1}};
  bool dial_wanted_ = false;
  std::optional<Closing> closing_;
};

}  // namespace redlock::inline v1::core
