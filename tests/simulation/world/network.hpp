// What lies between the clients and the nodes.
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

/// One connection: what was sent on it arrives in order, or never. Connections know nothing of each other's order.
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
    std::vector<std::string> commands;  // their names, for those who read the history
  };

  int client = 0;
  int node = 0;
  int line = 0;  // of the client: to which node, and after these once more, to listen
  bool made = false;
  bool told = false;                  // the client knows that it is made
  bool closing = false;               // the client hears of its end when it has read all that arrived before
  bool client_open = true;            // the client still reads
  bool node_open = false;             // the node still answers
  bool cut = false;                   // no reply that is under way arrives
  std::vector<std::string> released;  // owner values whose release the node has executed
  int listener = -1;                  // the connection that is told of keys that others change
  bool arms = false;                  // the next command's keys
  bool has_written = false;           // with the request that is being served
  std::deque<Request> requests;
  std::deque<Answers> answers;
};

/// Delays, and who does not reach whom. Moves nothing by itself: the world asks when, and whether.
class Network {
 public:
  Network(const Schedule& schedule, Random random);

  /// When something arrives that is sent now, not before `behind`.
  [[nodiscard]] Instant arrival(int client, int node, Instant now, Instant behind);

  enum class Direction : bool { to_node, to_client };
  [[nodiscard]] bool passes(int client, int node, Direction direction) const {
    return link(client, node).blocked[direction == Direction::to_client ? 1 : 0] == 0;
  }
  /// `by`: 1 when the fault begins, -1 when it ends. `all` stands for everybody.
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
