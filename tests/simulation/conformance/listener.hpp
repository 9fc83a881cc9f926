// Compares what a connection gets that listens to channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/conformance/random_source.hpp"
#include "simulation/conformance/reply_comparison.hpp"
#include "simulation/conformance/server.hpp"
#include "simulation/server/server.hpp"

namespace redlock::simulation {

/// A second connection to both servers. All functions return what differs, or an empty string.
class Listener {
 public:
  Listener(RealServer& real, Server& ours, const ReplyComparison& replies)
      : real_{real}, ours_{ours}, replies_{replies} {}

  /// Ends all subscriptions, before an ACL may forbid one: a real server would close the connection.
  std::string unsubscribe(std::int64_t now_us);
  /// Sends a few random commands.
  std::string speak(RandomSource& random, std::int64_t now_us);
  /// Compares the messages that have arrived.
  std::string listen();

 private:
  static constexpr int number = 1;  // of the connection, for the simulated server

  std::string say(const std::vector<std::string>& command, std::int64_t now_us);

  RealServer& real_;
  Server& ours_;
  const ReplyComparison& replies_;
};

}  // namespace redlock::simulation
