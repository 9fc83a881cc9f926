// The search for a free seat of a semaphore.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/line/lines.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/operation/operation.hpp"

namespace redlock::inline v1::core {

/// An attempt that can be submitted.
struct Attempt {
  Ref<Operation> operation;            // the acquisition, or one that wraps it
  Acquisition* acquisition = nullptr;  // lives as long as the operation
};

/// Tries one seat after the other until it gets one:
///
///     trying a seat ── held ──▶ choosing ── one is free on a majority ──▶ trying that seat …
///           │                      └─ none is, or the nodes keep newcomers behind a line ─▶ done: held
///           ├─ granted ─▶ done: granted
///           └─ failed for another reason, or the twelfth one was held ─▶ done: failed
///
/// The first seat is the one that this client knows to have become free last (`FreedSeats`). If it knows none, that is one at
/// random, and all seats are read in the same round trip. Before any other choice they are read again. So a client that comes
/// back mostly needs one round trip. Another one needs at most two if a seat is free that no other client takes meanwhile, or
/// three without a fence, as the denial then takes a round trip more.
class SeatSearch final : public Operation {
 public:
  /// The call that needs a seat.
  class Caller {
   public:
    /// An attempt at this seat, with an owner value of its own. It is not submitted yet.
    virtual Attempt attempt_at(std::size_t seat, Time now) = 0;

   protected:
    ~Caller() = default;
  };
  struct Terms {
    std::string line_key;
    std::size_t seats = 0;
    std::chrono::milliseconds ttl{};
    Span node_timeout{};
    std::uint64_t seed = 0;
  };

  SeatSearch(Caller& caller, Terms&& terms, std::size_t nodes)
      : caller_{caller}, terms_{std::move(terms)}, is_awaited_(nodes) {}

  void start(Time now, Outbox& outbox) override {
    const std::optional<std::size_t> freed =
        outbox.lines() ? outbox.lines()->take_freed(terms_.line_key, terms_.seats) : std::nullopt;
    attempt(freed.value_or(draw(terms_.seats)), now, outbox);
    if (!freed && !done() && !is_choosing_) read(now, outbox);
  }
  void child_ended(Operation& /*child*/, Time now, Outbox& outbox) override {
    if (done()) return;
    if (last_.acquisition->failure() != Errc::held || ++tries_ == most_tries) return finish();
    is_choosing_ = true;
    if (!std::exchange(is_read_, false)) read(now, outbox);
    choose(now, outbox);
  }

  void answered(NodeIndex node, Step round, const Reply& reply, Time now, Outbox& outbox) override {
    if (done() || round != round_ || !is_awaited_[node]) return;
    is_awaited_[node] = false;
    if (tells_seats(reply, terms_.seats))
      for (std::size_t seat = 0; seat < terms_.seats; ++seat)
        if (reply.elements[seat].integer == -2) ++free_on_[seat];
    choose(now, outbox);
  }
  void disconnected(NodeIndex node, const Trouble&, Time now, Outbox& outbox) override {
    is_awaited_[node] = false;
    choose(now, outbox);
  }
  void timed_out(Time now, Outbox& outbox) override {
    set_deadline(never);
    is_awaited_.assign(is_awaited_.size(), false);
    choose(now, outbox);
  }
  void abandon(Errc why, Time now, Outbox& outbox) override {
    if (done()) return;
    finish();
    if (!last_.operation) last_ = caller_.attempt_at(0, now);  // it says why there is no seat
    if (!is_choosing_) outbox.abandon(Ref<Operation>{last_.operation}, why);
  }

  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override { return terms_.ttl; }
  /// The last attempt, which was granted or says why there is no seat. Valid once done.
  [[nodiscard]] Acquisition* last() const noexcept { return last_.acquisition; }

 private:
  static constexpr int most_tries = 12;

  void attempt(std::size_t seat, Time now, Outbox& outbox) {
    seat_ = seat;
    last_ = caller_.attempt_at(seat, now);
    last_.operation->parent = this;
    outbox.submit(last_.operation);
  }
  void read(Time now, Outbox& outbox) {
    is_read_ = !is_choosing_;
    ++round_;
    free_on_.assign(terms_.seats, 0);
    set_deadline(later(now, terms_.node_timeout));
    const std::string command = read_seats_command(terms_.line_key, terms_.seats);
    const SendOptions options{.step = round_, .send_by = deadline(), .grants = true};
    for (NodeIndex node = 0; node < is_awaited_.size(); ++node)
      is_awaited_[node] = !outbox.send(node, command, *this, options);
  }
  /// Goes on as soon as it is certain that a majority has a free seat in common, or that none has.
  void choose(Time now, Outbox& outbox) {
    if (!is_choosing_ || done()) return;
    const auto awaited = static_cast<std::size_t>(std::count(is_awaited_.begin(), is_awaited_.end(), true));
    const std::size_t majority = quorum(is_awaited_.size());
    std::vector<std::size_t> free;
    bool may_be_free = false;
    for (std::size_t seat = 0; seat < terms_.seats; ++seat) {
      if (free_on_[seat] >= majority) free.push_back(seat);
      may_be_free |= free_on_[seat] + awaited >= majority;
    }
    if (free.empty() && may_be_free) return;
    is_choosing_ = false;
    set_deadline(never);
    // If the seat that was just denied is free, it is the line that keeps this call behind.
    if (free.empty() || free_on_[seat_] >= majority) return finish();
    attempt(free[draw(free.size())], now, outbox);
  }
  [[nodiscard]] std::size_t draw(std::size_t count) noexcept { return next_random(terms_.seed) % count; }

  Caller& caller_;
  Terms terms_;
  Attempt last_;
  std::size_t seat_ = 0;  // of the last attempt
  int tries_ = 0;
  bool is_choosing_ = false;  // no attempt is under way
  bool is_read_ = false;      // the seats are, beside the attempt
  Step round_ = 0;
  std::vector<bool> is_awaited_;      // by node: its answer
  std::vector<std::size_t> free_on_;  // by seat: on how many nodes
};

}  // namespace redlock::inline v1::core
