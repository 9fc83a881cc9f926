// Messages that scripts publish cross the network as all others do.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/world/world.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

/// Nodes on which every extension also publishes a message, on a channel to which all listeners subscribe.
class ExtensionsArePublished final : public Mutant {
 public:
  [[nodiscard]] std::string_view name() const override { return "extensions-are-published"; }
  [[nodiscard]] std::vector<Patch> patches() const override {
    const std::string original{redlock::core::extend_script.source};
    return {{&redlock::core::extend_script,
             "redis.call('PUBLISH', '__redis__:invalidate', 'extended')\n" + original}};
  }
};

/// Clients hold the lock in turn, for long, and renew it. So they have listeners.
Schedule renewing_clients() {
  Schedule schedule;
  schedule.seed = 1;
  schedule.delay = 2 * millisecond;
  schedule.jitter = 0;
  schedule.workload = {.hold = 400 * millisecond, .extends = 0, .renews = 100, .waits = 100, .orphans = 0};
  return schedule;
}

/// The messages that the clients have received.
std::vector<Event> messages(const Schedule& schedule) {
  const ExtensionsArePublished publishing;
  Interpreter interpreter;
  History history{true};
  World{schedule, interpreter, history, &publishing}.run();
  std::vector<Event> all = history.events();
  std::erase_if(all, [](const Event& event) {
    return event.kind != Event::Kind::reply || event.text != "message on __redis__:invalidate";
  });
  return all;
}

}  // namespace

TEST_CASE("what_a_script_publishes_reaches_listeners_of_all_clients_after_the_networks_delay") {
  const Schedule schedule = renewing_clients();
  const std::vector<Event> received = messages(schedule);
  for (int client = 0; client < schedule.clients; ++client)
    CHECK(std::ranges::count(received, client, &Event::client) > 10);
  CHECK(std::ranges::all_of(received,
                            [&](const Event& event) { return event.to == event.from + schedule.delay; }));
}

TEST_CASE("what_is_published_does_not_pass_a_broken_network") {
  Schedule schedule = renewing_clients();
  const Fault cut{.kind = Fault::Kind::deaf_client,
                  .at = 200 * millisecond,
                  .length = 300 * millisecond,
                  .client = 0,
                  .node = 0};
  schedule.faults = {cut};
  std::size_t during_the_fault = 0;
  for (const Event& event : messages(schedule)) {
    if (event.to < cut.at || event.to >= cut.at + cut.length) continue;
    ++during_the_fault;
    CHECK((event.client != cut.client || event.node != cut.node));
  }
  CHECK(during_the_fault > 10);
}
