// One connection of a raw contestant: hiredis and nothing above it.
#pragma once

#include <hiredis/hiredis.h>
#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::benchmark {

/// What a raw contestant waits for an answer before it gives up. Far above anything that is worth measuring.
inline constexpr int patience_ms = 5000;

/// A connection to one server of this machine, with TCP_NODELAY. Formatted commands in, votes out.
///
/// Throws `std::runtime_error` when the connection breaks, the server answers with an error, or an answer
/// takes longer than `patience_ms`: the measurement is then worth nothing.
class NodeConnection {
 public:
  /// Blocks until connected and the release script is loaded.
  explicit NodeConnection(std::uint16_t port);

  [[nodiscard]] int descriptor() const noexcept { return context_->fd; }
  /// The name by which EVALSHA knows the release script.
  [[nodiscard]] const std::string& release_sha() const noexcept { return release_sha_; }

  void append(std::string_view command);
  /// Sends what was appended: one system call. Blocks only where the server has not read megabytes that we sent.
  void flush();
  /// One system call; blocks until there is something to read.
  void receive();
  /// The next answer among the received bytes: `OK` and 1 are a yes, nil and 0 a no. Empty: nothing left.
  std::optional<bool> next_vote();

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
  };
  [[noreturn]] void fail(std::string_view what) const;

  std::uint16_t port_;
  std::unique_ptr<redisContext, Free> context_;
  std::string release_sha_;
};

/// Blocks until one of the descriptors is readable. Throws `std::runtime_error` after `patience_ms`.
void wait_for_answers(std::span<pollfd> descriptors);

}  // namespace redlock::benchmark
