// One node's connection: handshake, pending replies, silence, redial.
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
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// What is known about a node, and what goes over its connection in which order. Bytes, replies and the time
/// go in; bytes, errands for the shell and slots for the engine come out.
///
///     idle ─ first use ─▶ dialling ─ connected ─▶ handshake ─ understood ─▶ ready
///                            ▲  └──── refused ────┬──┘ in trouble             │ lost, or silent while
///                            └───── backoff ──── down ◀───────────────────────┘ answers are due
///
/// Replies come in order, so a queue of slots says whose each is. A slot is never taken out because its
/// caller has left: its late reply is swallowed in its turn. What was sent and not answered when a connection
/// breaks is never sent again on another one.
class Session {
 public:
  struct Settings {
    std::string name;  // for messages: the endpoint without credentials
    Login login;
    Span connect_timeout{};
    Span silence{};  // answers are due and not a byte arrives for so long: the connection is given up
    std::uint64_t seed = 0;
    Purpose purpose = Purpose::commands;
    bool guarded = false;  // the handshake looks at the node's marker
  };
  struct Slot {
    Ref<Operation> operation;  // null: nobody's, the reply is swallowed
    Step step = 0;
    bool owed = false;
    bool heeded = false;
    bool grants = false;
  };
  enum class State : std::uint8_t { idle, dialling, handshake, ready, down };

  explicit Session(Settings settings) : settings_{std::move(settings)}, random_{settings_.seed} {}

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  /// First use: starts dialling.
  void wake(Time now) {
    if (state_ == State::idle) dial(now, Hope::yes);
  }

  /// Queues a command behind all earlier ones, or says why not. While a connection that has not failed yet is
  /// being made, commands wait for it. Releases wait for any connection, but then nobody waits for their
  /// reply.
  const Trouble* send(std::string_view command, Slot slot, Time send_by, Time now) {
    const bool is_waiting = hopeful();
    if (state_ != State::ready && !is_waiting && !slot.owed) return &trouble_;
    // What sets something leaves room for its release, so that an accepted SET can always be undone.
    if (out_.size() + waiting_bytes_ + command.size() > (slot.owed ? unsent_limit : unsent_limit / 2))
      return state_ == State::ready || is_waiting ? &overloaded() : &trouble_;
    if (state_ == State::ready) {
      out_.add(command, slot.owed);
      expect(std::move(slot), now);
      return nullptr;
    }
    // Behind a SET on the connection that is being left, a release undoes it there; it may also have run.
    if (slot.owed && closing_ && closing_->graceful) closing_->unsent += command;
    if (!is_waiting) slot.operation = {};
    waiting_bytes_ += command.size();
    waiting_.push_back({std::string{command}, std::move(slot), send_by});
    return is_waiting ? nullptr : &trouble_;
  }

  /// While it is down: is not redialled before.
  void rest(Time until) noexcept { redial_at_ = std::max(redial_at_, until); }
  /// When it has become ready: sends what was waiting for that. Commands that ask for a grant only if the node may grant;
  /// otherwise their slots are returned, and no reply will come.
  [[nodiscard]] std::vector<Slot> send_waiting(bool may_grant, Time now) {
    std::vector<Slot> refused;
    for (Waiting& waiting : std::exchange(waiting_, {})) {
      if (now >= waiting.send_by)
        continue;  // nobody waits for its answer any more; a release behind it does no harm
      if (waiting.slot.grants && !may_grant) {
        refused.push_back(std::move(waiting.slot));
        continue;
      }
      out_.add(waiting.command, waiting.slot.owed);
      expect(std::move(waiting.slot), now);
    }
    waiting_bytes_ = 0;
    return refused;
  }

  /// The server turned out to be of no use although it greets well.
  void refuse(Trouble trouble, Time now) { fail(std::move(trouble), Leave::gracefully, now); }

  // ── from the shell ───────────────────────────────────────────────────────────────────────────────────────

  void connected(Time now) {
    if (state_ != State::dialling) return;
    state_ = State::handshake;
    handshake_.emplace(settings_.login, settings_.purpose, settings_.guarded);
    out_.clear();
    out_.add(handshake_->bytes(), false);
    quiet_since_ = now;
  }
  /// No connection, or no more: refused, reset, closed by the server, or talking nonsense.
  void disconnected(Trouble trouble, Time now) {
    if (is_open()) fail(std::move(trouble), Leave::at_once, now);
  }
  /// Bytes arrived; their replies follow one by one.
  void heard(Time now) noexcept { quiet_since_ = now; }

  /// One reply. Returns the slot whose operation it answers; none while handshake, and none for nonsense.
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
    Slot slot = pending_.pop();
    heeded_ -= slot.owed || slot.heeded ? 1 : 0;
    return slot;
  }

  /// Judges silence and redials. Call only after everything readable was read: a process that was paused
  /// finds its replies in the socket, not missing.
  void on_time(Time now) {
    if (now < timer()) return;
    if (state_ == State::down) return dial(now, Hope::no);
    const bool pending = state_ == State::ready;
    fail({NodeStatus::timed_out,
          pending ? "the connection stopped responding" : "no connection within the connect timeout"},
         Leave::gracefully, now);
  }
  /// When `on_time` has something to do.
  [[nodiscard]] Time timer() const noexcept {
    switch (state_) {
      case State::idle:
        return never;
      case State::dialling:
      case State::handshake:
        return dial_until_;
      case State::down:
        return redial_at_;
      case State::ready:
        return pending_.empty() ? never : later(quiet_since_, settings_.silence);
    }
    return never;
  }

  [[nodiscard]] std::string_view unsent() const noexcept { return out_.unsent(); }
  void sent(std::size_t bytes) { out_.sent(bytes); }

  /// What to do with the old connection, if anything: leave it at once, or hand over what is still to be
  /// sent, shut down our direction, and read to the end. Closing with unread replies would send RST, and the
  /// server might drop our last releases. To be done before `take_dial`.
  struct Closing {
    bool graceful;
    std::string unsent;
  };
  std::optional<Closing> take_closing() { return std::exchange(closing_, std::nullopt); }
  /// Whether to make a new connection now.
  bool take_dial() noexcept { return std::exchange(dial_wanted_, false); }
  [[nodiscard]] bool has_errand() const noexcept { return closing_.has_value() || dial_wanted_; }

  // ── what is known ────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] const std::string& name() const noexcept { return settings_.name; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  /// Being connected, and nothing speaks against it: worth a first call's time. A redial after a failure is
  /// not.
  [[nodiscard]] bool hopeful() const noexcept { return is_dialling() && hope_ == Hope::yes; }
  [[nodiscard]] bool is_dialling() const noexcept {
    return state_ == State::dialling || state_ == State::handshake;
  }
  [[nodiscard]] const Trouble& trouble() const noexcept { return trouble_; }
  [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }
  /// Of a connection that listens.
  [[nodiscard]] long long client_id() const noexcept { return client_id_; }
  /// What `mark_script` answered in the handshake, where restarts are guarded.
  [[nodiscard]] const Reply& marker() const noexcept { return marker_; }
  [[nodiscard]] Time ready_at() const noexcept { return ready_at_; }
  /// Answers are due that are to be read although nobody may be waiting: to releases, and to extensions.
  [[nodiscard]] bool owes() const noexcept { return heeded_ > 0; }
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }
  /// So long unused that the peer may have gone: to be read before it is written to.
  [[nodiscard]] bool stale(Time now) const noexcept {
    return state_ == State::ready && now - quiet_since_ > std::chrono::seconds{1};
  }

 private:
  enum class Hope : bool { no, yes };
  enum class Leave : bool { at_once, gracefully };
  struct Waiting {
    std::string command;
    Slot slot;
    Time send_by;
  };
  static constexpr std::size_t unsent_limit = std::size_t{1} << 20U;

  [[nodiscard]] bool is_open() const noexcept { return is_dialling() || state_ == State::ready; }

  void dial(Time now, Hope hope) {
    state_ = State::dialling;
    hope_ = hope;
    dial_wanted_ = true;
    dial_until_ = later(now, settings_.connect_timeout);
  }

  void become_ready(Time now) {
    state_ = State::ready;
    ready_at_ = now;
    run_id_ = handshake_->run_id();
    client_id_ = handshake_->client_id();
    marker_ = handshake_->marker();
    handshake_.reset();
  }

  void expect(Slot slot, Time now) {
    if (pending_.empty()) quiet_since_ = now;
    heeded_ += slot.owed || slot.heeded ? 1 : 0;
    pending_.push(std::move(slot));
  }

  const Trouble& overloaded() {
    overloaded_ = {NodeStatus::overloaded, "more than 1 MiB is waiting to be sent"};
    return overloaded_;
  }

  /// A good connection that breaks is replaced at once, and hopefully: servers close idle ones. All else
  /// waits.
  void fail(Trouble trouble, Leave leave, Time now) {
    const bool was_good = state_ == State::ready && now - ready_at_ > std::chrono::seconds{1};
    const bool polite = leave == Leave::gracefully && state_ != State::dialling;
    const bool greeted = state_ == State::ready;
    std::string last_words = greeted ? out_.take_last_words() : std::string{};
    if (!closing_) closing_ = Closing{polite, std::move(last_words)};
    trouble_ = std::move(trouble);
    dial_wanted_ = false;
    handshake_.reset();
    pending_.clear();
    heeded_ = 0;
    out_.clear();
    forget_waiting_but_releases(now);
    if (was_good) backoff_.reset();
    if (was_good && leave == Leave::at_once) return dial(now, Hope::yes);
    state_ = State::down;
    redial_at_ = later(now, backoff_.next(next_random(random_)));
  }

  void forget_waiting_but_releases(Time now) {
    std::erase_if(waiting_,
                  [now](const Waiting& waiting) { return !waiting.slot.owed || now >= waiting.send_by; });
    waiting_bytes_ = 0;
    for (Waiting& waiting : waiting_) {
      waiting.slot.operation = {};
      waiting_bytes_ += waiting.command.size();
    }
  }

  Settings settings_;
  std::uint64_t random_;
  State state_ = State::idle;
  Hope hope_ = Hope::no;
  Trouble trouble_;
  Trouble overloaded_;
  std::optional<Handshake> handshake_;
  std::string run_id_;
  long long client_id_ = 0;
  Reply marker_;

  SendBuffer out_;
  Ring<Slot> pending_;            // whose replies are to come, in the order of out_
  std::size_t heeded_ = 0;        // of these, those that are read although nobody waits
  std::vector<Waiting> waiting_;  // for a connection
  std::size_t waiting_bytes_ = 0;

  Time quiet_since_{};  // the last byte, or the first command after a time without pending replies
  Time ready_at_{};
  Time dial_until_{};
  Time redial_at_{};
  Backoff backoff_{std::chrono::milliseconds{50}, std::chrono::seconds{1}};
  bool dial_wanted_ = false;
  std::optional<Closing> closing_;
};

}  // namespace redlock::inline v1::core
