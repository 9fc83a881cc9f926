// A connection to one node, for commands that the library does not send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/endpoint.hpp"
#include "values/printable.hpp"

struct redisContext;
struct redisReply;

namespace redlock::tool {

/// What a node replied.
struct Reply {
  enum class Kind : std::uint8_t { nothing, text, number, error, array };

  Kind kind = Kind::nothing;
  std::string text;  ///< Also the message of an error.
  long long number = 0;
  std::vector<Reply> elements;
};

/// The node does not answer, or refuses the user. The message has no password, is printable and not long.
struct NodeFailure : std::runtime_error {
  explicit NodeFailure(std::string_view message, bool misconfigured = false)
      : std::runtime_error{detail::printable(message)}, is_misconfiguration{misconfigured} {}
  /// The failure for a reply that is an error.
  [[nodiscard]] static NodeFailure of_error(std::string_view message);

  /// A retry cannot help: the user or the password is wrong, or a permission is missing.
  bool is_misconfiguration;
};

/// A blocking connection to one node. Threads: one call at a time. Precondition of all calls: SIGPIPE is ignored or
/// blocked.
class NodeConnection {
 public:
  /// Connects, logs in and selects the database. Blocks for at most two seconds to connect, and for each of the others as
  /// `receive` does. Throws `NodeFailure`.
  explicit NodeConnection(const Endpoint&);

  /// Sends the commands without waiting for the replies. Blocks for at most twelve seconds. Throws `NodeFailure`; then it
  /// is not known which of the commands the server executes.
  void send(const std::vector<std::vector<std::string>>& commands);
  /// Returns the replies to the next commands that were sent. Blocks for at most two seconds after the last byte from the
  /// server, and for ten seconds in all, so a server that trickles is given up. Throws `NodeFailure`, also if the replies
  /// have more than 16 MiB, but not for a reply that is an error.
  [[nodiscard]] std::vector<Reply> receive(std::size_t number);

 private:
  struct Close {
    void operator()(redisContext*) const noexcept;
  };

  void read_more(Clock::time_point until);
  void expect_success(const std::vector<std::string>& command);

  std::unique_ptr<redisContext, Close> context_;
  std::size_t received_ = 0;  // bytes, in this call of `receive`
};

}  // namespace redlock::tool
