// The safety of the restart guard under random events.
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/sanitized.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;

constexpr Span max_ttl = 60s;

/// Several clients, and nodes that lose their data at random.
class RandomEvents {
 public:
  RandomEvents(unsigned seed, bool strict)
      : random_{seed},
        servers_{fresh_servers(nodes)},
        lost_at_(nodes, at(-24h)),
        snapshots_(nodes),
        settings_{example_guard(nodes)} {
    settings_.strict = strict;
    for (int i = 0; i < 3; ++i) clients_.push_back(newcomer());
  }

  void step() {
    now_ += std::chrono::milliseconds{random_() % 4 == 0 ? random_() % 30000 : random_() % 300};
    const NodeIndex node = random_() % nodes;
    auto& client = clients_[random_() % clients_.size()];
    switch (random_() % 10) {
      case 0:
        return lose(node, {}, true);
      case 1:
        return lose(node, snapshots_[node], true);
      case 2:
        return lose(node, {}, false);
      case 3:
        snapshots_[node] = servers_[node].data;
        return;
      case 4:
        client = newcomer();
        return client->connect_all(now_);
      case 5:
        client->disconnect(node, now_);
        return client->connect(node, now_);
      default:
        break;
    }
    client->guard.want_grants(now_, client->outbox);
    client->serve(now_);
    client->on_time(now_);
    look(*client);
  }
  [[nodiscard]] std::size_t grants() const noexcept { return grants_; }

 private:
  static constexpr std::size_t nodes = 3;

  std::unique_ptr<GuardedClient> newcomer() { return std::make_unique<GuardedClient>(servers_, settings_); }

  void lose(NodeIndex node, const MarkedServer::Data& data, bool restarts) {
    lost_at_[node] = now_;
    servers_[node].data = data;
    if (!restarts) return;
    servers_[node].run_id = "run" + std::to_string(node) + "." + std::to_string(++runs_);
    for (const auto& client : clients_) client->disconnect(node, now_);
  }

  /// Checks that no node grants to this client too soon after losing its data.
  void look(const GuardedClient& client) {
    for (NodeIndex node = 0; node < nodes; ++node) {
      if (!client.guard.admits(node) ||
          !servers_[node].grants(client.guard.required_marker().beginning, now_))
        continue;
      ++grants_;
      if (now_ < lost_at_[node] + max_ttl)
        FAIL("node " << node << " grants although it has just lost its data");
    }
  }

  std::mt19937 random_;
  Time now_ = at(0ms);
  std::vector<MarkedServer> servers_;
  std::vector<Time> lost_at_;
  std::vector<MarkedServer::Data> snapshots_;
  RestartGuard::Settings settings_;
  std::vector<std::unique_ptr<GuardedClient>> clients_;
  std::size_t grants_ = 0;
  int runs_ = 0;
};

}  // namespace

TEST_CASE("no_node_grants_within_max_ttl_of_losing_its_data_whatever_happens") {
  std::size_t grants = 0;
  for (unsigned seed = 0; seed < (sanitized ? 100 : 300); ++seed) {
    CAPTURE(seed);
    RandomEvents events{seed, true};
    for (int step = 0; step < 300; ++step) events.step();
    grants += events.grants();
  }
  CHECK(grants > 500);
}
