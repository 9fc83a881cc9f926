#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "redlock/redlock.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::benchmark {
namespace {

constexpr std::chrono::milliseconds between_attempts{100};
constexpr std::chrono::seconds downtime{1};     // of a server that restarts
constexpr std::chrono::seconds redial_time{3};  // a client redials a server after a second at most

/// What the nodes keep over a restart: nothing, the snapshot that they write when they are shut down, or every change. In
/// the last case clients know that the nodes are durable.
enum class Kept { nothing, snapshot, every_change };
constexpr std::array<std::pair<Kept, const char*>, 3> kinds{
    {{Kept::nothing, "none"}, {Kept::snapshot, "RDB"}, {Kept::every_change, "AOF always"}}};

testing::LocalNodesOptions options_of(Kept kept) {
  testing::LocalNodesOptions options{.persist = kept != Kept::nothing};
  if (kept == Kept::snapshot) options.arguments = {"--appendonly", "no", "--save", "3600 1"};
  return options;
}

/// Tries again and again to lock, and notes the longest time between two successes.
class Applicant {
 public:
  explicit Applicant(std::function<bool()> has_locked)
      : thread_{[this, has_locked = std::move(has_locked)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            if (has_locked()) note_success();
            std::this_thread::sleep_for(between_attempts);
          }
        }} {}

  void forget_earlier_times() {
    const std::lock_guard lock{mutex_};
    last_ = Clock::now();
    longest_ = {};
  }
  [[nodiscard]] bool has_succeeded_since(Clock::time_point time) const {
    const std::lock_guard lock{mutex_};
    return last_ > time;
  }
  [[nodiscard]] double longest_in_seconds() const {
    const std::lock_guard lock{mutex_};
    return std::chrono::duration<double>(longest_).count();
  }

 private:
  void note_success() {
    const std::lock_guard lock{mutex_};
    const Clock::time_point now = Clock::now();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
  }

  mutable std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
  Clock::duration longest_{};
  std::jthread thread_;
};

/// Nodes, and what people do to them.
class Nodes {
 public:
  Nodes(int count, Kept kept) : kept_{kept}, servers_{count, options_of(kept)} {}

  [[nodiscard]] const testing::LocalNodes& servers() const noexcept { return servers_; }

  void kill(int node) { servers_.kill(node); }
  void flush(int node) { testing::RawClient{servers_.port(node)}.command({"FLUSHALL"}); }
  void flush_all() {
    for (int node = 0; node < servers_.size(); ++node) flush(node);
  }
  void replace(int node) {
    kill(node);
    std::this_thread::sleep_for(downtime);
    servers_.restart_empty(node);
  }
  /// Begins with the next node this long after it began with the one before.
  void restart_one_by_one(Clock::duration apart) {
    for (int node = 0; node < servers_.size(); ++node) {
      const auto next = std::chrono::steady_clock::now() + apart;
      shut_down(node);
      std::this_thread::sleep_for(downtime);
      start(node);
      if (node + 1 < servers_.size()) std::this_thread::sleep_until(next);
    }
  }
  void raise_max_ttl() {
    Redlock{endpoints_of(servers_), {.durable_nodes = kept_ == Kept::every_change}}.raise_max_ttl(
        std::chrono::hours{1});
  }
  void restart_all_at_once() {
    for (int node = 0; node < servers_.size(); ++node) shut_down(node);
    std::this_thread::sleep_for(downtime);
    for (int node = 0; node < servers_.size(); ++node) start(node);
  }

 private:
  /// As SHUTDOWN does it.
  void shut_down(int node) {
    if (kept_ == Kept::snapshot) testing::RawClient{servers_.port(node)}.command({"SAVE"});
    kill(node);
  }
  void start(int node) {
    kept_ == Kept::nothing ? servers_.restart_empty(node) : servers_.restart_with_data(node);
  }

  Kept kept_;
  testing::LocalNodes servers_;
};

struct Operation {
  std::string name;
  std::function<void(Nodes&)> run;
  bool precedes_clients = false;
};

std::vector<Operation> operations() {
  using std::chrono::seconds;
  return {{"reboot one by one, 10 s apart", [](Nodes& nodes) { nodes.restart_one_by_one(seconds{10}); }},
          {"reboot one by one, 30 s apart", [](Nodes& nodes) { nodes.restart_one_by_one(seconds{30}); }},
          {"reboot all at once", [](Nodes& nodes) { nodes.restart_all_at_once(); }},
          {"flush one", [](Nodes& nodes) { nodes.flush(0); }},
          {"flush all", [](Nodes& nodes) { nodes.flush_all(); }},
          {"replace one", [](Nodes& nodes) { nodes.replace(0); }},
          {"raise max_ttl", [](Nodes& nodes) { nodes.raise_max_ttl(); }},
          {"first start with one away", [](Nodes& nodes) { nodes.kill(0); }, true}};
}

/// For how long an operation prevented locks.
OutageTimes measure_outage(const Operation& operation, int count, Kept kept, Clock::duration max_ttl) {
  Nodes nodes{count, kept};
  if (operation.precedes_clients) operation.run(nodes);
  const Options options{.durable_nodes = kept == Kept::every_change, .max_ttl = max_ttl};
  const LockOptions brief{.ttl = std::min<Clock::duration>(max_ttl, std::chrono::seconds{5})};
  const auto connect = [&] { return Redlock{endpoints_of(nodes.servers()), options}; };
  const auto has_locked = [&brief](Redlock& locks, const char* resource) {
    return testing::is_granted(locks.try_lock(resource, brief));
  };
  Redlock client = connect();
  Applicant living{[&] { return has_locked(client, "living"); }};
  Applicant fresh{[&] {
    Redlock locks = connect();
    return has_locked(locks, "new");
  }};
  const auto wait_for_success_since = [&](Clock::time_point time) {
    const Clock::time_point give_up = time + 3 * max_ttl + std::chrono::minutes{1};
    while (!living.has_succeeded_since(time) || !fresh.has_succeeded_since(time)) {
      if (Clock::now() > give_up) throw std::runtime_error{operation.name + ": no lock for too long"};
      std::this_thread::sleep_for(between_attempts);
    }
  };
  if (!operation.precedes_clients) {
    wait_for_success_since(Clock::now());
    for (Applicant* applicant : {&living, &fresh}) applicant->forget_earlier_times();
    operation.run(nodes);
    std::this_thread::sleep_for(redial_time);
  }
  wait_for_success_since(Clock::now());
  return {living.longest_in_seconds(), fresh.longest_in_seconds()};
}

}  // namespace

Outages outages(unsigned max_ttl_in_seconds) {
  struct Running {
    std::string operation;
    std::future<OutageTimes> with_three_nodes;
    std::future<OutageTimes> with_five_nodes;
  };
  Outages table;
  for (const auto& [kept, name] : kinds) {
    std::vector<Running> all;
    for (const Operation& operation : operations()) {
      const auto measure = [&operation, kept = kept, max_ttl_in_seconds](int count) {
        return std::async(std::launch::async, measure_outage, operation, count, kept,
                          Clock::duration{std::chrono::seconds{max_ttl_in_seconds}});
      };
      all.push_back({operation.name, measure(3), measure(5)});
    }
    for (Running& each : all)
      table.push_back({each.operation, name, each.with_three_nodes.get(), each.with_five_nodes.get()});
  }
  return table;
}

}  // namespace redlock::benchmark
