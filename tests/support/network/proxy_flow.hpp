// One direction of one proxied connection.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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
  std::string flood{};  ///< Sent whenever nothing else is to be sent, to clients that have sent `word`.
  std::string word{};
  std::string replaced{};  ///< Becomes `replacement` in each piece; empty: nothing.
  std::string replacement{};
  bool single_bytes = false;
  std::chrono::nanoseconds pause{0};  ///< After each byte, which then travels alone; 0: none.

  std::uint64_t bytes = 0;
  std::uint64_t flood_bytes = 0;
  std::uint64_t trickled_bytes = 0;
  std::array<std::uint64_t, 10'001>
      delays{};  ///< Number of forwarded pieces by delay in ms; the last entry counts all longer delays.

  [[nodiscard]] ProxyClock::duration draw_delay();
  void count_delay(ProxyClock::duration);
  [[nodiscard]] std::string with_replacements(std::string piece) const;
  [[nodiscard]] std::uint64_t later_than(std::chrono::nanoseconds bound) const;
};

/// Reads pieces from one non-blocking socket and writes them to another when they are due, in order. The last
/// piece is the end of the connection. Does not own the sockets.
class Flow {
 public:
  enum class Progress : std::uint8_t { going_on, receiver_broke, reset_is_due };

  Flow(Lane& lane, int from, int to) : lane_{lane}, from_{from}, to_{to} {}

  /// `rewrite(bytes)` returns what is forwarded instead of the bytes that were read.
  using Rewrite = std::function<std::string(std::string bytes)>;
  void take(ProxyClock::time_point now, const Rewrite& rewrite);
  /// Whether the word of this lane was in one of the pieces taken so far.
  [[nodiscard]] bool has_seen_word() const noexcept { return has_seen_word_; }
  /// Whether nothing waits to be forwarded, something was forwarded before, and the lane has a flood.
  [[nodiscard]] bool may_flood() const noexcept;
  /// Queues some of the flood. Precondition: `may_flood()`.
  void flood(ProxyClock::time_point now);
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
  [[nodiscard]] bool sends_single_bytes() const noexcept {
    return lane_.single_bytes || lane_.pause.count() > 0;
  }
  void pop();

  Lane& lane_;
  int from_;
  int to_;
  std::deque<Piece> pieces_;
  std::size_t waiting_ = 0;  // bytes in pieces_
  ProxyClock::time_point next_byte_{};
  bool ended_ = false;          // the source has nothing more
  bool output_closed_ = false;  // the receiver takes nothing more
  bool blocked_ = false;        // the receiver's buffer is full
  bool has_seen_word_ = false;
  bool has_sent_ = false;
  bool finished_ = false;  // the receiver has got the FIN
};

}  // namespace redlock::testing::detail
