#include "support/network/proxy_flow.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

namespace redlock::testing::detail {
namespace {

constexpr std::size_t kMostWaiting = 1U << 20U;
constexpr std::size_t kFlood = 1U << 18U;  // bytes that are queued together

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

ProxyClock::duration Lane::draw_delay() {
  if (jitter.count() <= 0) return delay;
  // Not std::uniform_int_distribution: its sequence differs between standard libraries.
  const auto most = static_cast<std::uint64_t>(jitter.count());
  return delay + std::chrono::nanoseconds{static_cast<std::int64_t>(random() % (most + 1))};
}

void Lane::count_delay(ProxyClock::duration delay_seen) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(delay_seen).count();
  delays[std::min(static_cast<std::size_t>(std::max<std::int64_t>(ms, 0)), delays.size() - 1)] += 1;
}

std::string Lane::with_replacements(std::string piece) const {
  if (replaced.empty()) return piece;
  for (std::size_t at = 0; (at = piece.find(replaced, at)) != piece.npos; at += replacement.size())
    piece.replace(at, replaced.size(), replacement);
  return piece;
}

std::uint64_t Lane::later_than(std::chrono::nanoseconds bound) const {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(bound).count();
  const auto first = std::min<std::int64_t>(std::max<std::int64_t>(ms, 0), std::ssize(delays) - 1);
  return std::accumulate(delays.begin() + first, delays.end(), std::uint64_t{0});
}

bool Flow::wants_input() const noexcept { return !ended_ && waiting_ < kMostWaiting; }

void Flow::push(Kind kind, std::string bytes, ProxyClock::time_point now) {
  auto due = now + lane_.draw_delay();
  // A shorter delay must not overtake a longer one.
  if (!pieces_.empty()) due = std::max(due, pieces_.back().due);
  waiting_ += bytes.size();
  pieces_.push_back({kind, std::move(bytes), 0, now, due});
}

void Flow::take(ProxyClock::time_point now, const Rewrite& rewrite) {
  if (!wants_input()) return;
  std::array<char, 16384> buffer;
  const ssize_t size = ::recv(from_, buffer.data(), buffer.size(), 0);
  if (size > 0) {
    const std::string_view taken{buffer.data(), static_cast<std::size_t>(size)};
    has_seen_word_ = has_seen_word_ || (!lane_.word.empty() && taken.find(lane_.word) != taken.npos);
    std::string piece = rewrite(lane_.with_replacements(std::string{taken}));
    if (!piece.empty()) push(Kind::bytes, std::move(piece), now);
  } else if (size == 0) {
    ended_ = true;
    push(Kind::fin, {}, now);
  } else if (!would_block(errno)) {
    break_off(now);
  }
}

bool Flow::may_flood() const noexcept {
  return !lane_.flood.empty() && has_sent_ && !ended_ && !output_closed_ && !lane_.stalled && pieces_.empty();
}

void Flow::flood(ProxyClock::time_point now) {
  std::string bytes;
  while (bytes.size() < kFlood) bytes += lane_.flood;
  lane_.flood_bytes += bytes.size();
  push(Kind::bytes, std::move(bytes), now);
}

void Flow::break_off(ProxyClock::time_point now) {
  if (std::exchange(ended_, true)) return;
  push(Kind::reset, {}, now);
}

Flow::Progress Flow::give(ProxyClock::time_point now) {
  blocked_ = false;
  while (!lane_.stalled && !pieces_.empty() && pieces_.front().due <= now && next_byte_ <= now) {
    Piece& piece = pieces_.front();
    if (piece.kind == Kind::reset) return Progress::reset_is_due;
    if (piece.kind == Kind::fin) {
      close_output();
      finished_ = true;
    } else if (!output_closed_) {
      const Progress progress = send(piece);
      if (blocked_ || progress != Progress::going_on) return progress;
      const bool all = piece.sent == piece.bytes.size();
      if (all) lane_.count_delay(now - piece.arrived);
      // One byte a turn, so that the receiver has a chance to read it alone.
      if (!all && sends_single_bytes()) return Progress::going_on;
      if (!all) continue;
    }
    pop();
  }
  return Progress::going_on;
}

Flow::Progress Flow::send(Piece& piece) {
  const std::size_t left = piece.bytes.size() - piece.sent;
  const ssize_t size = ::send(to_, piece.bytes.data() + piece.sent, sends_single_bytes() ? 1 : left,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size >= 0) {
    piece.sent += static_cast<std::size_t>(size);
    lane_.bytes += static_cast<std::uint64_t>(size);
    has_sent_ = true;
    if (lane_.pause.count() > 0) {
      next_byte_ = ProxyClock::now() + lane_.pause;
      ++lane_.trickled_bytes;
    }
    return Progress::going_on;
  }
  blocked_ = would_block(errno);
  output_closed_ = !blocked_;
  return output_closed_ ? Progress::receiver_broke : Progress::going_on;
}

void Flow::pop() {
  waiting_ -= pieces_.front().bytes.size();
  pieces_.pop_front();
}

void Flow::close_output() {
  ::shutdown(to_, SHUT_WR);
  output_closed_ = true;
  blocked_ = false;
}

std::optional<ProxyClock::time_point> Flow::next() const {
  if (lane_.stalled || blocked_ || pieces_.empty()) return std::nullopt;
  return std::max(pieces_.front().due, next_byte_);
}

}  // namespace redlock::testing::detail
