// One connection of a raw contestant, which uses hiredis alone.
#pragma once

#include <hiredis/hiredis.h>
#include <poll.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/floor/tls/tls_wire.hpp"

namespace redlock::benchmark {

/// How long a raw contestant waits for an answer; far longer than any useful measurement.
inline constexpr int timeout_ms = 5000;

/// A server of this machine.
struct RawAddress {
  std::uint16_t port;
  std::string ca_file{};  ///< Of its certificate, if it speaks TLS.
};

/// A connection to one server of this machine, with TCP_NODELAY. Takes formatted commands and returns votes.
///
/// Throws `std::runtime_error` if the connection breaks, the server answers with an error, or an answer takes
/// longer than `timeout_ms`: the measurement is then useless.
class NodeConnection {
 public:
  /// Blocks until connected and the release script is loaded.
  explicit NodeConnection(const RawAddress& address);

  [[nodiscard]] int descriptor() const noexcept { return context_->fd; }

  void append(std::string_view command);
  /// Sends the appended commands with one system call. Blocks only while the server leaves megabytes of
  /// commands unread.
  void flush();
  /// Reads with one system call; blocks until there is something to read.
  void receive();
  /// The next answer among the received bytes: `OK`, 1 and a token are a yes, nil, 0 and a holder a no. Empty if none is left.
  std::optional<bool> next_vote();
  /// The next answer likewise, which is a list of numbers.
  std::optional<std::vector<std::int64_t>> next_numbers();
  /// Blocks until a command is answered. Returns the text of the answer; none if it is nil. No other answer may be owed.
  std::optional<std::string> ask(std::span<const std::string_view> words);
  std::optional<std::string> ask(std::initializer_list<std::string_view> words) {
    return ask(std::span{words.begin(), words.size()});
  }

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> next();
  [[noreturn]] void fail(std::string_view what) const;

  std::uint16_t port_;
  std::unique_ptr<redisContext, Free> context_;
  std::optional<TlsWire> tls_;
};

/// Blocks until one of the descriptors is readable. Throws `std::runtime_error` after `timeout_ms`.
void wait_for_answers(std::span<pollfd> descriptors);

}  // namespace redlock::benchmark
