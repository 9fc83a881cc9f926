// A connection to one node, for commands that the library does not send.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"

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

/// The node does not answer, or refuses the user. The message has no password.
struct NodeFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A blocking connection to one node. Threads: one call at a time. Precondition of all calls: SIGPIPE is ignored or
/// blocked.
class NodeConnection {
 public:
  /// Connects, logs in and selects the database. Blocks for at most two seconds for each of these. Throws `NodeFailure`.
  explicit NodeConnection(const Endpoint&);

  /// Sends the commands without waiting for the replies. Blocks for at most two seconds. Throws `NodeFailure`; then, which
  /// of the commands the server executes is not known.
  void send(const std::vector<std::vector<std::string>>& commands);
  /// Returns the reply to the next command that was sent. Blocks for at most two seconds after the last byte from the
  /// server. Throws `NodeFailure`, but not for a reply that is an error.
  [[nodiscard]] Reply receive();

 private:
  struct Close {
    void operator()(redisContext*) const noexcept;
  };

  void expect_success(const std::vector<std::string>& command);

  std::unique_ptr<redisContext, Close> context_;
};

}  // namespace redlock::tool
