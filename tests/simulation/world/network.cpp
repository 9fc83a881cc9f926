#include "simulation/world/network.hpp"

#include <algorithm>

namespace redlock::simulation {

Network::Network(const Schedule& schedule, Random random)
    : nodes_{schedule.nodes},
      delay_{schedule.delay},
      jitter_{schedule.jitter},
      random_{random},
      links_(static_cast<std::size_t>(schedule.clients * schedule.nodes)) {
  for (std::size_t link = 0; link < schedule.link_delays.size(); ++link)
    links_[link].slowness = schedule.link_delays[link];
}

Instant Network::arrival(int client, int node, Instant now, Instant behind) {
  const Instant taken = delay_ + random_.skewed(0, jitter_) + link(client, node).slowness;
  return std::max(now + taken, behind);
}

template <class Change>
void Network::for_each_link(const Fault& fault, Change change) {
  for (std::size_t index = 0; index < links_.size(); ++index) {
    const int client = static_cast<int>(index) / nodes_;
    const int node = static_cast<int>(index) % nodes_;
    const bool hit = (fault.client == Fault::all || fault.client == client) &&
                     (fault.node == Fault::all || fault.node == node);
    if (hit) change(links_[index]);
  }
}

void Network::block(const Fault& fault, int by) {
  const bool to_node = fault.kind != Fault::Kind::deaf_client;
  const bool to_client = fault.kind != Fault::Kind::deaf_node;
  for_each_link(fault, [&](Link& link) {
    link.blocked[0] += to_node ? by : 0;
    link.blocked[1] += to_client ? by : 0;
  });
}

void Network::slow_down(const Fault& fault, int by) {
  for_each_link(fault, [&](Link& link) { link.slowness += by * fault.amount; });
}

}  // namespace redlock::simulation
