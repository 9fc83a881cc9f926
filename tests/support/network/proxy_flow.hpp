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

/// The settings and counters that all flows of one direction share.
struct Lane {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
  std::mt19937_64 random{};
  bool stalled = false;
  bool single_bytes = false;

  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 10'001>
      delays{};  ///< Number of forwarded pieces by delay in ms; the last entry counts all longer delays.

  [[nodiscard]] ProxyClock::duration draw_delay();
  void count_delay(ProxyClock::duration);
  [[nodiscard]] std::uint64_t later_than(std::chrono::nanoseconds bound) const;
};

/// Reads pieces from one non-blocking socket and writes them to another when they are due, in order. The last
/// piece is the end of the connection. Does not own the sockets.
class Flow {
 public:
  enum class Progress : std::uint8_t { going_on, receiver_broke, reset_is_due };

  Flow(Lane& lane, int from, int to) : lane_{lane}, from_{from}, to_{to} {}

  void take(ProxyClock::time_point now);
  [[nodiscard]] Progress give(ProxyClock::time_point now);

  /// The source is broken: queues a reset for the receiver.
  void break_off(ProxyClock::time_point now);
  /// Sends FIN to the receiver at once and discards all queued and later bytes.
  void close_output();

  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] short input_events() const noexcept { return wants_input() ? POLLIN : 0; }
  [[nodiscard]] short output_events() const noexcept { return blocked_ && !lane_.stalled ? POLLOUT : 0; }
  /// When `give` has to be called without an event of a socket.
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
  std::size_t waiting_ = 0;     // bytes in pieces_
  bool ended_ = false;          // the source has nothing more
  bool output_closed_ = false;  // the receiver takes nothing more
  bool blocked_ = false;        // the receiver's buffer is full
  bool finished_ = false;       // the receiver has got the FIN
};

}  // namespace redlock::testing::detail
