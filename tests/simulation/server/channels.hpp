// Who listens to the channels of a simulated server.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/reply.hpp"

namespace redlock::simulation {

/// What a server keeps of its connections. The caller chooses their numbers.
class Channels {
 public:
  struct Message {
    int subscriber;
    core::Reply reply;
  };

  /// Returns to how many channels the connection listens then.
  std::size_t subscribe(int connection, std::string_view channel);
  std::size_t unsubscribe(int connection, std::string_view channel);
  void forget(int connection) { subscribers_.erase(connection); }

  [[nodiscard]] bool listens(int connection) const { return subscribers_.contains(connection); }
  /// In the order of their bytes.
  [[nodiscard]] std::vector<std::string> of(int connection) const;

  /// Makes a message for every subscriber. Returns their number.
  std::size_t publish(std::string_view channel, std::string_view text);
  /// The messages that nobody has taken, in the order in which they were published.
  [[nodiscard]] std::vector<Message> take_messages() { return std::exchange(messages_, {}); }

 private:
  std::map<int, std::set<std::string, std::less<>>> subscribers_;  // each with one channel at least
  std::vector<Message> messages_;
};

}  // namespace redlock::simulation
