// Callbacks that release leases and destroy clients while other callbacks run.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/one_shot_event.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::Loss;
using redlock::Observer;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::State;

/// Two callbacks that have both begun before either goes on.
struct Pair {
  void begin() { both.arrive_and_wait(); }
  void end() { ++ended; }
  [[nodiscard]] bool have_ended() const {
    return eventually([this] { return ended == 2; });
  }

  std::latch both{2};
  std::atomic<int> ended = 0;
};

SingleNodeLock one_node(const LocalNodes& nodes, Options options = {}) {
  return SingleNodeLock{nodes.url(0), std::move(options)};
}

/// Calls a function when a lease has ended.
struct EndObserver final : Observer {
  explicit EndObserver(std::function<void()> on_end) : call{std::move(on_end)} {}
  void ended(const Hold&) override { call(); }
  const std::function<void()> call;
};

}  // namespace

TEST_CASE("callbacks_may_end_each_others_leases") {
  const LocalNodes nodes{1};
  Pair pair;
  std::array<Lease, 2> leases;
  std::array<Release, 2> released{};
  const int way = GENERATE(0, 1, 2);
  {
    std::array clients{one_node(nodes), one_node(nodes)};
    const std::size_t second = GENERATE(0U, 1U);  // the client of the second lease
    for (std::size_t i = 0; i < 2; ++i)
      leases[i] = clients[i * second]
                      .lock(i == 0 ? "a" : "b", {.ttl = 60s,
                                                 .on_lost =
                                                     [&, other = 1 - i](Loss) {
                                                       pair.begin();
                                                       if (way == 0)
                                                         released[other] = leases[other].release();
                                                       if (way == 1)
                                                         static_cast<void>(leases[other].orphan());
                                                       if (way == 2) leases[other] = {};
                                                       pair.end();
                                                     }})
                      .value();
    for (SingleNodeLock& client : clients) client.shut_down();
    CHECK(pair.have_ended());
  }
  if (way == 0) CHECK(released == std::array{Release::already_lost, Release::already_lost});
}

TEST_CASE("stop_callbacks_may_release_each_others_leases") {
  const LocalNodes nodes{1};
  Pair pair;
  SingleNodeLock locks = one_node(nodes);
  std::array leases{locks.lock("a", {.ttl = 60s}).value(), locks.lock("b", {.ttl = 60s}).value()};
  const auto release = [&](Lease& other) {
    pair.begin();
    other.release();
    pair.end();
  };
  const std::stop_callback first{leases[0].stop_token(), [&] { release(leases[1]); }};
  const std::stop_callback second{leases[1].stop_token(), [&] { release(leases[0]); }};
  locks.shut_down();
  CHECK(pair.have_ended());
}

TEST_CASE("a_release_inside_a_callback_ends_before_the_callback_of_the_released_lease") {
  const LocalNodes nodes{1};
  SingleNodeLock locks = one_node(nodes);
  OneShotEvent begun;
  OneShotEvent goes_on;
  std::atomic<bool> ended = false;
  std::atomic<bool> is_released_first = false;
  Lease released = locks
                       .lock("released", {.ttl = 60s,
                                          .on_lost =
                                              [&](Loss) {
                                                begun.set();
                                                goes_on.wait();
                                                ended = true;
                                              }})
                       .value();
  const Lease other = locks
                          .lock("other", {.ttl = 60s,
                                          .on_lost =
                                              [&](Loss) {
                                                begun.wait();
                                                released.release();
                                                is_released_first = !ended;
                                                goes_on.set();
                                              }})
                          .value();
  locks.shut_down();
  CHECK(eventually([&] { return ended.load(); }));
  CHECK(is_released_first);
}

TEST_CASE("a_lease_that_a_callback_releases_in_time_is_not_reported_lost") {
  const LocalNodes nodes{1};
  SingleNodeLock locks = one_node(nodes);
  std::atomic<bool> is_released = false;
  std::atomic<bool> is_reported = false;
  Lease kept = locks.lock("kept", {.ttl = 60s, .on_lost = [&](Loss) { is_reported = true; }}).value();
  const Lease lost = locks
                         .lock("lost", {.ttl = 100ms,
                                        .renewal = redlock::Renewal::none,
                                        .on_lost =
                                            [&](Loss) {
                                              kept.release();
                                              is_released = true;
                                            }})
                         .value();
  REQUIRE(eventually([&] { return is_released.load(); }));
  locks.shut_down();
  CHECK(kept.state() == State::released);
  CHECK_FALSE(kept.wait_lost(100ms));
  CHECK_FALSE(is_reported);
}

TEST_CASE("callbacks_may_destroy_each_others_clients") {
  const LocalNodes nodes{1};
  for (int round = 0; round < 10; ++round) {
    Pair pair;
    OneShotEvent handles_are_gone;
    std::array<Lease, 2> leases;
    const auto acquire = [&](SingleNodeLock& locks, std::size_t own) {
      leases[own] =
          locks
              .lock(own == 0 ? "a" : "b", {.ttl = 60s,
                                           .on_lost =
                                               [&, other = 1 - own](Loss) {
                                                 pair.begin();
                                                 handles_are_gone.wait();
                                                 leases[other] = {};  // the last owner of its client
                                                 pair.end();
                                               }})
              .value();
    };
    {
      std::array clients{one_node(nodes), one_node(nodes)};
      for (std::size_t i = 0; i < 2; ++i) acquire(clients[i], i);
      for (SingleNodeLock& client : clients) client.shut_down();
    }
    handles_are_gone.set();
    REQUIRE(pair.have_ended());
  }
}

TEST_CASE("an_observer_and_a_loss_callback_may_destroy_each_others_clients") {
  const LocalNodes nodes{1};
  Pair pair;
  std::atomic<bool> is_observed = false;
  std::optional<SingleNodeLock> observed;
  std::optional<SingleNodeLock> other = one_node(nodes);
  Lease lease = other
                    ->lock("a", {.ttl = 60s,
                                 .on_lost =
                                     [&](Loss) {
                                       pair.begin();
                                       observed.reset();
                                       pair.end();
                                     }})
                    .value();
  observed = one_node(nodes, {.observer = std::make_shared<EndObserver>([&] {
                                if (is_observed.exchange(true)) return;
                                pair.begin();
                                lease = {};
                                pair.end();
                              })});
  observed->lock("b").value().release();
  other->shut_down();
  other.reset();
  CHECK(pair.have_ended());
}
