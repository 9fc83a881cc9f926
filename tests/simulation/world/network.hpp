// The network between clients and nodes.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/wire/reply.hpp"
#include "simulation/judge/history.hpp"
#include "simulation/random.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// One connection. Messages arrive in order or never. There is no order between connections.
struct Connection {
  struct Request {
    Instant sent;
    Instant arrives;
    std::string bytes;  // whole commands
  };
  struct Answers {
    Instant sent;
    Instant arrives;
    std::vector<core::Reply> replies;
    std::vector<std::string> commands;  // their names, for the history
    bool stray = false;                 // nobody asked: dropped where a command waits for its reply
    bool is_change = false;             // reports that a key was changed
  };

  int client = 0;
  int node = 0;
  int line = 0;  // of the client: first one per node, then one listener per node
  bool made = false;
  bool made_is_known = false;  // the client knows that it is made
  bool closing = false;     // the client learns of the end after it has read everything that arrived before
  bool client_open = true;  // the client still reads
  bool node_open = false;   // the node still answers
  bool cut = false;         // no reply on its way arrives
  bool loses_requests = false;        // nothing arrives behind those that are on their way
  std::vector<std::string> released;  // owner values whose release the node has executed
  int listener = -1;                  // the connection that receives invalidation messages
  int changes = 0;                    // reported over it within the current second
  Instant counted_since = 0;
  std::vector<std::string> armed;  // keys that were armed over it, under a mutant
  bool arms = false;               // the next command starts tracking of its keys
  bool has_written = false;        // in the current request
  bool is_first = true;            // of this line
  std::deque<Request> requests;
  std::deque<Answers> answers;
};

/// Delays and blocked links. The world asks when and whether messages arrive.
class Network {
 public:
  Network(const Schedule& schedule, Random random);

  /// Arrival time of a message sent now, not before `behind`.
  [[nodiscard]] Instant arrival(int client, int node, Instant now, Instant behind);

  enum class Direction : bool { to_node, to_client };
  [[nodiscard]] bool passes(int client, int node, Direction direction) const {
    return link(client, node).blocked[direction == Direction::to_client ? 1 : 0] == 0;
  }
  /// Whether messages pass in both directions.
  [[nodiscard]] bool connects(int client, int node) const {
    return passes(client, node, Direction::to_node) && passes(client, node, Direction::to_client);
  }
  /// `by`: 1 when the fault begins, -1 when it ends.
  void block(const Fault& fault, int by);
  void slow_down(const Fault& fault, int by);

 private:
  struct Link {
    int blocked[2] = {};
    Instant slowness = 0;
  };
  [[nodiscard]] const Link& link(int client, int node) const {
    return links_[static_cast<std::size_t>(client) * static_cast<std::size_t>(nodes_) +
                  static_cast<std::size_t>(node)];
  }
  template <class Change>
  void for_each_link(const Fault& fault, Change change);

  int nodes_;
  Instant delay_;
  Instant jitter_;
  Random random_;
  std::vector<Link> links_;
};

}  // namespace redlock::simulation
