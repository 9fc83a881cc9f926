// A bad network in front of a good server.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace redlock::testing {

enum class Direction : std::uint8_t { to_server, to_client, both };

/// How connections end: `reset` sends RST, `close` sends FIN as a process that exits does.
enum class Cut : std::uint8_t { reset, close };

struct ProxyCounters {
  std::uint64_t connections = 0;      ///< Accepted since construction.
  std::uint64_t open = 0;             ///< Of these, not yet over.
  std::uint64_t bytes_to_server = 0;  ///< Forwarded, those that still wait not included.
  std::uint64_t bytes_to_client = 0;
};

/// Forwards TCP connections to a port of 127.0.0.1, later or worse than they came:
///
///     Proxy proxy{nodes.port(0)};
///     proxy.set_delay(0ms, 300ms);      // answers are late
///     locks.try_lock("r");
///     REQUIRE(proxy.late(300ms) > 0);   // and really were
///
/// Keeps the order of bytes within a connection. The end of a connection, FIN or RST, travels as bytes do:
/// behind them, delayed, stalled. When the server refuses, a connection is accepted and then reset. At most
/// about 1 MiB per direction waits in a connection; then its sender is made to wait.
///
/// Threads: every call from any thread. All work is done by one thread of the proxy's own, also that of the
/// calls below: what arrived before one was made has had its turn as things were, and when it returns it is
/// in effect for all connections made before.
class Proxy {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Listens on a free port of 127.0.0.1. Throws std::system_error. Nothing needs to listen upstream yet.
  explicit Proxy(std::uint16_t upstream_port);
  ~Proxy();  ///< Closes all connections.
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;  ///< `redis://127.0.0.1:PORT`

  /// How long what arrives from now on waits before it is forwarded: 0 to an hour, corrected if it is not.
  void set_delay(Duration to_server, Duration to_client);
  /// Adds a random time from 0 to `most` to each delay, the same sequence for the same seed.
  void set_jitter(Duration most, std::uint64_t seed);
  /// While on, nothing is forwarded and no connection ends; new ones are accepted.
  void stall(bool on, Direction = Direction::both);
  /// While on, every byte is a write of its own.
  void single_bytes(bool on);
  /// While on, new connections are refused (ECONNREFUSED); present ones go on.
  void refuse(bool on);

  /// Ends all present connections, on both sides; what waits in them is lost.
  void cut(Cut = Cut::reset);
  /// Sends FIN in one direction on all present connections. What arrives in that direction later is thrown
  /// away, the other direction goes on.
  void half_close(Direction = Direction::to_client);

  [[nodiscard]] ProxyCounters counters() const;
  /// How many pieces (what one read returned: one answer or more) were forwarded `bound` or more after they
  /// had arrived. Whole milliseconds, rounded up, 10 s at most.
  [[nodiscard]] std::uint64_t late(Duration bound, Direction = Direction::to_client) const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace redlock::testing
