// Beside a hostile node the others go on, and it costs the client neither memory nor descriptors.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "integration/hostile/beset_client.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace redlock::testing;
using redlock::LockClient;
using redlock::Release;

/// Locks and releases one resource again and again, with tokens that increase.
class Cycles {
 public:
  Cycles(LockClient& locks, std::string resource) : locks_{locks}, resource_{std::move(resource)} {}

  void run(int count) {
    for (int cycle = 0; cycle < count; ++cycle) {
      const auto begun = std::chrono::steady_clock::now();
      all_succeed_ = run_one() && all_succeed_;
      times_.push_back(std::chrono::steady_clock::now() - begun);
    }
  }
  [[nodiscard]] bool all_succeed() const noexcept { return all_succeed_; }
  [[nodiscard]] std::chrono::nanoseconds median() {
    const auto middle = times_.begin() + std::ssize(times_) / 2;
    std::nth_element(times_.begin(), middle, times_.end());
    return *middle;
  }

 private:
  bool run_one() {
    auto lease = locks_.try_lock(resource_);
    if (!lease) {
      UNSCOPED_INFO(lease.message());
      return false;
    }
    const std::uint64_t token = lease->fencing_token().value();
    const bool is_greater = token > std::exchange(token_, token);
    return lease->release() == Release::released && is_greater;
  }

  LockClient& locks_;
  std::string resource_;
  std::uint64_t token_ = 0;
  bool all_succeed_ = true;
  std::vector<std::chrono::nanoseconds> times_;
};

/// Commands that a server has executed, except those that count them.
std::uint64_t commands(RawClient& server) {
  std::uint64_t sum = 0;
  for (const auto& [name, calls] : server.all_calls()) sum += name == "info" ? 0 : calls;
  return sum;
}

std::size_t resident_kib() { return std::stoul(status_of(::getpid(), "VmRSS")); }

/// Waits until node 1 has answered this client: a call does not wait for all nodes.
void settle(const InspectableLock& locks) {
  REQUIRE(eventually([&] {
    return locks.look([](const redlock::core::Engine& engine) { return engine.session(1).pending() == 0; });
  }));
}

struct Comparison {
  FiveNodes& five;
  const InspectableLock& beset_client;
  Cycles honest;
  Cycles beset;
  std::uint64_t honest_commands = 0;
  std::uint64_t beset_commands = 0;

  /// One slice of each, so that the machine is equally busy for both.
  void run_slices() {
    const std::uint64_t begun = commands(five.servers[1]);
    honest.run(4);
    settle(five.honest);
    const std::uint64_t between = commands(five.servers[1]);
    beset.run(4);
    settle(beset_client);
    honest_commands += between - begun;
    beset_commands += commands(five.servers[1]) - between;
  }
  [[nodiscard]] bool has_half_the_speed() { return beset.median() <= 2 * honest.median(); }
};

}  // namespace

TEST_CASE("beside_a_hostile_node_every_attempt_succeeds_at_half_the_speed_or_more") {
  FiveNodes five;
  for (const Attack& attack : five.attacks()) {
    INFO("attack: " << attack.name);
    const std::size_t descriptors = count_descriptors();
    const std::size_t resident = resident_kib();
    {
      BesetClient client{five};
      Comparison compared{five, client.locks, {five.honest, "honest"}, {client.locks, "beset"}};
      attack.begin(client.proxy);  // on connections that have worked
      for (int slice = 0; slice < 3; ++slice) compared.run_slices();
      client.proxy.cut();
      for (int slice = 0; slice < 3; ++slice) compared.run_slices();
      for (int more = 0; more < 60 && !compared.has_half_the_speed(); ++more) compared.run_slices();
      CHECK(compared.honest.all_succeed());
      CHECK(compared.beset.all_succeed());
      INFO("beset " << compared.beset.median().count() << " ns, honest " << compared.honest.median().count());
      CHECK(compared.has_half_the_speed());
      INFO("commands: beset " << compared.beset_commands << ", honest " << compared.honest_commands);
      CHECK(compared.beset_commands <= 2 * compared.honest_commands);
      // The proxy's sockets, at most two connections to each node, and those that are being closed.
      CHECK(count_descriptors() <= descriptors + 60);
      if (!sanitized) CHECK(resident_kib() <= resident + 24 * 1024);
    }
    CHECK(count_descriptors() <= descriptors);
  }
}
