// The safety of the restart guard while an operator raises the limits of ttls, under random events.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/restart_guard/ceiling_raise.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;
using std::chrono::milliseconds;

constexpr milliseconds short_ttl = 30s;
constexpr milliseconds long_ttl = 300s;

/// Clients with different options that take one lock, nodes that lose their data while at least one keeps it, and an
/// operator who raises `max_ttl`. The commands of the guards and of the operator arrive late, in any order.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed)
      : random_{seed},
        servers_{fresh_servers(nodes)},
        snapshots_(nodes),
        locked_until_(nodes, Time::min()),
        outbox_{nodes} {
    for (int i = 0; i < 3; ++i) {
      clients_.push_back(newcomer());
      clients_.back()->connect_all(now_);
      clients_.back()->settle(now_);
    }
  }

  void step() {
    now_ += milliseconds{random_() % 30 == 0 ? random_() % 20000 : random_() % 40};
    auto& client = clients_[random_() % clients_.size()];
    const NodeIndex node = random_() % nodes;
    const auto event = random_() % 1000;
    if (event < 2) return lose(node, {}, true);
    if (event < 4) return lose(node, snapshots_[node], true);
    if (event < 6) return lose(node, {}, false);
    if (event < 12) snapshots_[node] = servers_[node].data;
    if (event == 12) {
      client = newcomer();
      client->connect_all(now_);
    }
    if (event < 18) release();
    if (event < 300) return operate();
    for (auto deliveries = random_() % 6; deliveries > 0; --deliveries) client->serve_any(random_(), now_);
    if (now_ >= client->guard.deadline()) client->guard.timed_out(now_, client->outbox);
    // One team needs long locks; the others never ask for any.
    lock(*client, client == clients_.front() ? long_ttl : short_ttl);
  }
  [[nodiscard]] std::size_t locks() const noexcept { return locks_; }
  [[nodiscard]] std::size_t long_locks() const noexcept { return long_locks_; }

 private:
  static constexpr std::size_t nodes = 3;

  std::unique_ptr<GuardedClient> newcomer() {
    RestartGuard::Settings settings = example_guard(nodes);
    settings.max_ttl = random_() % 2 == 0 ? short_ttl : 2 * short_ttl;
    return std::make_unique<GuardedClient>(servers_, settings);
  }

  [[nodiscard]] bool is_intact(NodeIndex node) const {
    const auto marker = Marker::parse(servers_[node].data.marker);
    return marker && marker->is_named() && marker->run_id == servers_[node].run_id;
  }
  void lose(NodeIndex node, const MarkedServer::Data& data, bool restarts) {
    bool is_last = true;
    for (NodeIndex other = 0; other < nodes; ++other)
      is_last = is_last && (other == node || !is_intact(other));
    if (is_last) return;
    locked_until_[node] = Time::min();
    servers_[node].data = data;
    if (!restarts) return;
    servers_[node].run_id = "run" + std::to_string(node) + "." + std::to_string(++runs_);
    servers_[node].started = now_;
    for (const auto& client : clients_) {
      client->disconnect(node, now_);
      client->connect(node, now_);
    }
    raise_.reset();
  }

  /// Takes the lock with all grants at one moment.
  void lock(GuardedClient& client, milliseconds ttl) {
    client.guard.want_grants(now_, client.outbox, ttl);
    std::vector<NodeIndex> granted;
    for (NodeIndex node = 0; node < nodes; ++node) {
      if (!client.guard.admits(node, ttl)) continue;
      if (!servers_[node].grants(client.guard.required_marker().beginning, now_))
        client.guard.grant_refused(node, now_, client.outbox);
      else if (now_ >= locked_until_[node])
        granted.push_back(node);
    }
    if (granted.size() < quorum(nodes)) return;
    if (now_ < held_until_) FAIL("two holders");
    for (const NodeIndex node : granted) locked_until_[node] = now_ + ttl;
    held_until_ = now_ + ttl - default_drift(ttl);
    ++locks_;
    long_locks_ += ttl == long_ttl ? 1 : 0;
  }

  void release() {
    if (now_ >= held_until_) return;
    held_until_ = Time::min();
    std::fill(locked_until_.begin(), locked_until_.end(), Time::min());
  }

  /// Goes on with the raise: delivers a command, or begins.
  void operate() {
    if (!raise_ || raise_->done()) {
      under_way_.clear();
      outbox_ = RecordingOutbox{nodes};
      for (const MarkedServer& server : servers_) outbox_.run_ids.push_back(server.run_id);
      outbox_.keys = &keys_without_prefix;
      raise_ = std::make_unique<CeilingRaise>(long_ttl, nodes, false, 30s);
      raise_->start(now_, outbox_);
    }
    for (Sent& sent : outbox_.take()) under_way_.push_back(std::move(sent));
    if (under_way_.empty()) {
      if (now_ >= raise_->deadline()) raise_->timed_out(now_, outbox_);
      return;
    }
    const auto chosen = under_way_.begin() + static_cast<std::ptrdiff_t>(random_() % under_way_.size());
    const Sent sent = std::move(*chosen);
    under_way_.erase(chosen);
    raise_->answered(sent.node, 0, servers_[sent.node].execute(words_of(sent.command), now_), now_, outbox_);
  }

  std::mt19937 random_;
  Time now_ = at(0ms);
  std::vector<MarkedServer> servers_;
  std::vector<MarkedServer::Data> snapshots_;
  std::vector<Time> locked_until_;
  std::vector<std::unique_ptr<GuardedClient>> clients_;
  std::unique_ptr<CeilingRaise> raise_;
  RecordingOutbox outbox_;
  std::vector<Sent> under_way_;
  Time held_until_ = Time::min();
  std::size_t locks_ = 0;
  std::size_t long_locks_ = 0;
  int runs_ = 0;
};

}  // namespace

TEST_CASE("no_lock_has_two_holders_while_nodes_lose_their_data_and_an_operator_raises_max_ttl") {
  std::size_t locks = 0;
  std::size_t long_locks = 0;
  const unsigned seeds = sanitized ? 20 : 50;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    RandomEvents events{seed};
    for (int step = 0; step < 3000; ++step) events.step();
    locks += events.locks();
    long_locks += events.long_locks();
  }
  CAPTURE(locks, long_locks);
  CHECK(locks > 4 * seeds);
  CHECK(long_locks > seeds);
}
