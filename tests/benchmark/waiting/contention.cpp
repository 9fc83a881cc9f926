#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/floor/floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "benchmark/waiting/waiters.hpp"
#include "benchmark/waiting/wake_ups.hpp"
#include "integration/support/proxies.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::benchmark {
namespace {

constexpr std::chrono::milliseconds shortest_hold{2};
constexpr std::size_t floor_cycles = 1000;
constexpr std::size_t order_cycles = 5000;

/// The servers, behind proxies if they are to be far away.
class Site {
 public:
  explicit Site(const ContentionSetup& setup)
      : servers{static_cast<int>(setup.delays.empty() ? setup.nodes : setup.delays.size())} {
    if (setup.delays.empty()) return;
    proxies_.emplace(servers);
    for (std::size_t node = 0; node < setup.delays.size(); ++node) {
      const auto one_way = std::chrono::duration_cast<testing::Proxy::Duration>(
          std::chrono::duration<double, std::milli>{setup.delays[node] / 2});
      (*proxies_)[node].set_delay(one_way, one_way);
    }
  }

  [[nodiscard]] std::vector<std::string> urls() const { return proxies_ ? proxies_->urls() : servers.urls(); }
  [[nodiscard]] std::vector<RawAddress> addresses() {
    if (!proxies_) return addresses_of(servers);
    std::vector<RawAddress> addresses;
    for (const auto& proxy : *proxies_) addresses.push_back({proxy->port()});
    return addresses;
  }

  const testing::LocalNodes servers;

 private:
  std::optional<testing::Proxies> proxies_;
};

/// Counts what the servers do.
class Counters {
 public:
  explicit Counters(const testing::LocalNodes& servers) {
    for (const std::uint16_t port : ports_of(servers)) servers_.emplace_back(port);
  }

  /// Commands that clients sent, to all nodes. The statistics of the servers also count what scripts execute, so this counts
  /// only what no script does: each PTTL of a client follows a CLIENT CACHING, and the line's script, the only one that
  /// runs while nothing happens and that sets a key, sets one.
  [[nodiscard]] double commands() {
    double sum = 0;
    for (testing::RawClient& server : servers_) {
      std::map<std::string, std::uint64_t> calls = server.all_calls();
      const std::uint64_t scripts = calls["evalsha"] + calls["eval"];
      sum += static_cast<double>(scripts + calls["ping"] + 2 * calls["client|caching"]);
      if (calls["set"] > scripts) sum += static_cast<double>(calls["set"] - scripts);
    }
    return sum;
  }
  /// Requests for a lock, granted or denied, of all clients. Each looks on each node whether that is in quarantine.
  [[nodiscard]] double attempts() {
    double sum = 0;
    for (testing::RawClient& server : servers_) sum += static_cast<double>(server.calls("exists"));
    return sum / static_cast<double>(servers_.size());
  }
  void reset() { all({"CONFIG", "RESETSTAT"}); }
  void take(const std::string& resource) { all({"SET", resource, "somebody"}); }
  void free(const std::string& resource) { all({"DEL", resource}); }

 private:
  void all(const std::vector<std::string>& command) {
    for (testing::RawClient& server : servers_) server.command(command);
  }

  std::vector<testing::RawClient> servers_;
};

/// Commands a second that one node gets while everybody waits and nothing happens.
double commands_while_idle(Counters& servers, unsigned nodes, std::chrono::seconds time) {
  std::this_thread::sleep_for(std::chrono::seconds{1});  // all stand in line
  servers.reset();
  const auto begun = Stopwatch::now();
  std::this_thread::sleep_for(time);
  const double commands = servers.commands();
  const std::chrono::duration<double> elapsed = Stopwatch::now() - begun;
  return commands / elapsed.count() / nodes;
}

/// Both cycles by turns, so that they see the same machine.
void measure_order(LockClient& locks, Contention& result) {
  const LockOptions fifo{.fencing = false, .order = Order::fifo};
  const LockOptions none{.fencing = false, .order = Order::none};
  ResourceName resource{'o', 0};
  Samples in_order;
  Samples in_any;
  for (std::size_t i = 0; i < order_cycles; ++i) {
    measure_cycle(locks, fifo, resource, in_order);
    measure_cycle(locks, none, resource, in_any);
  }
  result.fifo_cycle_us = in_order.percentile_us(0.5);
  result.none_cycle_us = in_any.percentile_us(0.5);
}

/// `free_at`: before, nobody could get the lock.
void add_holds(std::vector<Hold> holds, Stopwatch::time_point free_at, ContentionRow& row) {
  std::sort(holds.begin(), holds.end(),
            [](const Hold& one, const Hold& other) { return one.held_at < other.held_at; });
  Samples hand_overs;
  Samples waits;
  for (const Hold& hold : holds) waits.add(hold.held_at - std::max(hold.called_at, free_at));
  for (std::size_t i = 1; i < holds.size(); ++i) hand_overs.add(holds[i].held_at - holds[i - 1].released_at);
  const std::chrono::duration<double> elapsed = holds.back().released_at - holds.front().held_at;
  row.p50_us = hand_overs.percentile_us(0.5);
  row.p99_us = hand_overs.percentile_us(0.99);
  row.longest_wait_us = waits.percentile_us(1);
  row.holds_per_s = static_cast<double>(holds.size()) / elapsed.count();
}

/// Somebody holds the lock until all wait and the idle time is over. Then each waiter gets it several times.
template <class Start>
ContentionRow measure_waiters(const testing::LocalNodes& servers, const std::string& kind,
                              const Waiting& waiting, std::chrono::seconds idle_time, const Start& start) {
  Counters counters{servers};
  ContentionRow row{
      .waiters = kind, .order = std::string{to_string(waiting.order)}, .count = waiting.waiters};
  counters.take(waiting.resource);
  const std::unique_ptr<Waiters> waiters = start(waiting);
  waiters->wait_for_calls();
  row.idle_commands_per_s = commands_while_idle(counters, static_cast<unsigned>(servers.size()), idle_time);
  counters.reset();
  const auto free_at = Stopwatch::now();
  counters.free(waiting.resource);
  const std::vector<Hold> holds = waiters->wait_for_end();
  row.attempts_per_hold = counters.attempts() / static_cast<double>(holds.size());
  add_holds(holds, free_at, row);
  return row;
}

}  // namespace

Contention contention(const ContentionSetup& setup) {
  Site site{setup};
  const std::vector<std::string> urls = site.urls();
  Redlock locks{std::vector<Endpoint>{urls.begin(), urls.end()}};
  Floor floor{site.addresses(), {'f', 0}, mark(locks, site.servers)};
  Samples cycles;
  floor.run(floor_cycles, cycles);
  const double busy_round_trip_us = cycles.percentile_us(0.5) / 2;
  // The next one in line needs two round trips to be ready, and most holds are longer than that.
  const std::chrono::microseconds three_trips{static_cast<std::int64_t>(3 * busy_round_trip_us)};
  const std::chrono::microseconds hold_time = std::max<std::chrono::microseconds>(shortest_hold, three_trips);
  // Before a hand-over, everybody was idle for as long.
  Samples round_trips;
  floor.run_idly(floor_cycles / 2, hold_time, round_trips);
  Contention result{.round_trip_us = round_trips.percentile_us(0.5),
                    .busy_round_trip_us = busy_round_trip_us,
                    .fifo_cycle_us = 0,
                    .none_cycle_us = 0,
                    .by_deletion = wake_ups_by_deletion(site.servers, locks),
                    .by_expiry = wake_ups_by_expiry(site.servers, locks),
                    .rows = {}};
  measure_order(locks, result);
  for (const unsigned count : setup.waiters)
    for (const Order order : {Order::fifo, Order::none}) {
      const std::string name = "bench/" + std::to_string(count) + "/" + std::string{to_string(order)};
      const Waiting waiting{name, order, count, std::max<std::size_t>(setup.holds / count, 2), hold_time};
      const std::chrono::seconds idle{setup.idle_seconds};
      result.rows.push_back(measure_waiters(site.servers, "processes", waiting, idle,
                                            [&](const Waiting& all) { return start_processes(urls, all); }));
      result.rows.push_back(measure_waiters(site.servers, "threads", waiting, idle,
                                            [&](const Waiting& all) { return start_threads(locks, all); }));
    }
  return result;
}

}  // namespace redlock::benchmark
