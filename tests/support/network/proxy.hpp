// A TCP proxy that simulates network failures.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "support/network/reply_rewriter.hpp"

namespace redlock::testing {

enum class Direction : std::uint8_t { to_server, to_client, both };

/// How connections end: `reset` sends RST; `close` sends FIN, like a process that exits.
enum class Cut : std::uint8_t { reset, close };

struct ProxyCounters {
  std::uint64_t connections = 0;      ///< Accepted since construction.
  std::uint64_t open = 0;             ///< Accepted and not yet ended.
  std::uint64_t bytes_to_server = 0;  ///< Forwarded, without those that still wait.
  std::uint64_t bytes_to_client = 0;  ///< Also those of a flood.
  std::uint64_t changed_replies = 0;  ///< What the function of `rewrite` returned was not the server's reply.
  std::uint64_t flood_bytes = 0;      ///< Of floods, also those that wait.
  std::uint64_t trickled_bytes = 0;   ///< After which a pause was made.
};

/// Forwards TCP connections to a port of 127.0.0.1 and can delay, stall and break them:
///
///     Proxy proxy{nodes.port(0)};
///     proxy.set_delay(0ms, 300ms);      // answers are late
///     locks.try_lock("r");
///     REQUIRE(proxy.late(300ms) > 0);   // and really were
///
/// Keeps the order of bytes within a connection. The end of a connection, FIN or RST, follows the bytes and
/// is delayed and stalled like them. If the server refuses a connection, the proxy accepts and then resets
/// it. At most about 1 MiB per direction waits in a connection; then the sender has to wait.
///
/// Threads: every call from any thread. One thread of the proxy does all work, including that of the calls
/// below. Bytes that arrived before a call are handled under the old settings. When the call returns, the new
/// settings are in effect for all existing connections.
class Proxy {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Listens on a free port of 127.0.0.1. The server may start later. Throws std::system_error.
  explicit Proxy(std::uint16_t upstream_port);
  ~Proxy();  ///< Closes all connections.
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;  ///< `redis://127.0.0.1:PORT`

  /// Delays all bytes that arrive from now on. Clamped to 0 to 1 h.
  void set_delay(Duration to_server, Duration to_client);
  /// Adds a random time from 0 to `most` to each delay. Equal seeds give equal sequences.
  void set_jitter(Duration most, std::uint64_t seed);
  /// While on, nothing is forwarded and no connection ends; new connections are accepted.
  void stall(bool on, Direction = Direction::both);
  /// While on, every byte is forwarded with a write of its own.
  void single_bytes(bool on);
  /// Forwards single bytes in this direction, on each connection one after every `pause`. 0 ends this.
  void trickle(Duration pause, Direction);
  /// While on, new connections are refused (ECONNREFUSED); existing ones continue.
  void refuse(bool on);
  /// Sends `bytes` again and again on every connection over which `word` is sent to the server from now on, or
  /// was sent since an earlier call named it. The server's answers come first. Without `bytes`, the flood ends.
  void flood(std::string bytes, std::string word);
  /// Writes `to` instead of `from` wherever one piece (see `late`) of what the server sends has all of it.
  void replace(std::string from, std::string to);
  /// Rewrites each reply of the server from now on; without a function, replies travel unchanged. Is called on the
  /// thread of the proxy. Connections that were accepted before the first call are left alone.
  void rewrite(ReplyRewriting);

  /// Ends all existing connections on both sides; bytes that wait in them are lost.
  void cut(Cut = Cut::reset);
  /// Sends FIN in one direction on all existing connections. Later bytes in that direction are discarded; the
  /// other direction continues.
  void half_close(Direction = Direction::to_client);

  [[nodiscard]] ProxyCounters counters() const;
  /// Number of pieces (the result of one read: one answer or more) that were forwarded `bound` or more after
  /// their arrival. `bound` is rounded up to whole milliseconds and limited to 10 s.
  [[nodiscard]] std::uint64_t late(Duration bound, Direction = Direction::to_client) const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace redlock::testing
