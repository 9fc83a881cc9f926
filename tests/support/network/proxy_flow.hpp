// One direction of one proxied connection.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>

namespace redlock::testing::detail {

using ProxyClock = std::chrono::steady_clock;

/// What the flows of one direction have in common: rules for them, and what became of them.
struct Lane {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
  std::mt19937_64 random{};
  bool stalled = false;
  bool single_bytes = false;

  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 10'001>
      delays{};  ///< Pieces forwarded, by their delay in ms; the last: and more.

  [[nodiscard]] ProxyClock::duration draw_delay();
  void count_delay(ProxyClock::duration);
  [[nodiscard]] std::uint64_t later_than(std::chrono::nanoseconds bound) const;
};

/// Takes pieces from one non-blocking socket and gives them to another when they are due, in order. How the
/// connection ends is the last piece. The sockets belong to others.
class Flow {
 public:
  enum class Progress : std::uint8_t { going_on, receiver_broke, reset_is_due };

  Flow(Lane& lane, int from, int to) : lane_{lane}, from_{from}, to_{to} {}

  void take(ProxyClock::time_point now);
  [[nodiscard]] Progress give(ProxyClock::time_point now);

  /// The source is broken: the receiver shall see a reset, behind what is queued.
  void break_off(ProxyClock::time_point now);
  /// FIN to the receiver at once; what is queued or comes later is thrown away.
  void close_output();

  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] short input_events() const noexcept { return wants_input() ? POLLIN : 0; }
  [[nodiscard]] short output_events() const noexcept { return blocked_ && !lane_.stalled ? POLLOUT : 0; }
  /// When `give` has something to do that no socket tells.
  [[nodiscard]] std::optional<ProxyClock::time_point> next() const;

 private:
  enum class Kind : std::uint8_t { bytes, fin, reset };
  struct Piece {
    Kind kind;
    std::string bytes;
    std::size_t sent;
    ProxyClock::time_point arrived;
    ProxyClock::time_point due;
  };

  [[nodiscard]] bool wants_input() const noexcept;
  void push(Kind, std::string bytes, ProxyClock::time_point now);
  Progress send(Piece&);
  void pop();

  Lane& lane_;
  int from_;
  int to_;
  std::deque<Piece> pieces_;
  std::size_t waiting_ = 0;  // bytes in pieces_
  bool ended_ = false;       // the source has nothing more
  bool deaf_ = false;        // the receiver takes nothing more
  bool blocked_ = false;     // the receiver's buffer is full
  bool finished_ = false;    // the receiver has got the FIN
};

}  // namespace redlock::testing::detail
