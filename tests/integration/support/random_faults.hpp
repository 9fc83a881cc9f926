// Random faults of five nodes and their connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <stop_token>
#include <thread>

#include "integration/support/proxies.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/proxy.hpp"

namespace redlock::testing {

/// A thread that injects one fault after another. The destructor ends the last one. Nodes 0 and 1 are only slow,
/// never so slow that a client gives up their connections. The others are cut off, hang, or die and come back with
/// their data. A seed determines the faults.
class RandomFaults {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// `slow`: the longest delay.
  RandomFaults(LocalNodes& nodes, Proxies& proxies, std::uint64_t seed, Milliseconds slow)
      : nodes_{nodes}, proxies_{proxies}, random_{seed}, slow_{slow} {
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      while (!stop.stop_requested()) inject_fault();
    }};
  }

 private:
  void inject_fault() {
    delay_steady_nodes();
    const int victim = 2 + draw(3);
    Proxy& proxy = proxies_[static_cast<std::size_t>(victim)];
    switch (draw(7)) {
      case 0:
        return proxy.cut(Cut::reset), sleep_up_to(40);
      case 1:
        return proxy.cut(Cut::close), sleep_up_to(40);
      case 2:
        return proxy.stall(true), sleep_up_to(120), proxy.stall(false);
      case 3:
        return proxy.refuse(true), proxy.cut(), sleep_up_to(60), proxy.refuse(false);
      case 4:
        return nodes_.pause(victim), sleep_up_to(150), nodes_.resume(victim);
      case 5:
        // A restart takes as long as the disk does, and all cycles would fail until then if both steady nodes were late.
        return nodes_.kill(victim), sleep_up_to(40), end_delays(), nodes_.restart_with_data(victim);
      default:
        return sleep_up_to(40);
    }
  }

  /// Mostly delays only one of them: with both late and a third one down there is no majority in time.
  void delay_steady_nodes() {
    const int late = draw(8);
    for (const int node : {0, 1}) {
      const Milliseconds delay{late == node || late == 7 ? draw(static_cast<int>(slow_.count())) : 0};
      const bool on_the_way = draw(2) == 0;
      proxies_[static_cast<std::size_t>(node)].set_delay(on_the_way ? delay : Milliseconds{},
                                                         on_the_way ? Milliseconds{} : delay);
    }
  }

  void end_delays() {
    for (const std::size_t node : {0U, 1U}) proxies_[node].set_delay(Milliseconds{}, Milliseconds{});
  }

  int draw(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  void sleep_up_to(int most) { std::this_thread::sleep_for(Milliseconds{1 + draw(most)}); }

  LocalNodes& nodes_;
  Proxies& proxies_;
  std::mt19937_64 random_;
  const Milliseconds slow_;
  std::jthread thread_;  // last, as it uses the other members
};

}  // namespace redlock::testing
