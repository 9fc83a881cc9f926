// A client of five nodes, one of which is hostile to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "integration/hostile/attacks.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"

namespace redlock::testing {

/// Five servers, and a client that reaches all of them.
struct FiveNodes {
  FiveNodes() {
    REQUIRE(eventually([&] { return is_granted(honest.try_lock("r")) && honest.ready_nodes() == 5; }));
  }
  [[nodiscard]] std::vector<Attack> attacks() { return all_attacks(servers[1].info("run_id").value()); }
  /// How many of the four nodes that are never hostile have this lock.
  [[nodiscard]] int honest_copies(const std::string& resource) {
    int copies = 0;
    for (std::size_t node = 1; node < 5; ++node)
      copies += servers[node].command({"EXISTS", resource}) == "1" ? 1 : 0;
    return copies;
  }

  /// No reply of an honest node is too late, however busy the machine is.
  static constexpr std::chrono::seconds node_timeout{1};
  static inline const Options patient{.connect_timeout = std::chrono::seconds{20},
                                      .node_timeout = node_timeout};
  LocalNodes nodes{5};
  Observers servers{nodes};
  InspectableLock honest{endpoints(nodes), patient};
};

/// Reaches node 0 through a proxy.
struct BesetClient {
  explicit BesetClient(FiveNodes& five, Options options = FiveNodes::patient)
      : proxy{five.nodes.port(0)}, locks{endpoints_of(five), std::move(options)} {
    proxy.rewrite({});
    REQUIRE(eventually([&] { return is_granted(locks.try_lock("r")) && locks.ready_nodes() == 5; }));
  }
  /// The node becomes hostile, also to the connections that follow.
  void suffer(const Attack& attack) {
    attack.begin(proxy);
    proxy.cut();
  }
  [[nodiscard]] bool has_suffered() const { return was_hostile(proxy); }
  [[nodiscard]] std::vector<Endpoint> endpoints_of(FiveNodes& five) const {
    std::vector<Endpoint> all = endpoints(five.nodes);
    all.front() = Endpoint{proxy.url()};
    return all;
  }

  Proxy proxy;
  InspectableLock locks;
};

}  // namespace redlock::testing
