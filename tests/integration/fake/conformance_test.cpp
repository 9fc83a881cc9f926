// The same scenarios with FakeLocks and with a Redlock on real servers: what a user sees must be the same.
#include <algorithm>
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>
#include <redlock/testing/local_nodes.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/network/raw_client.hpp"

using namespace redlock;
using namespace redlock::testing;
using namespace std::chrono_literals;

namespace {

const Options common{.node_timeout = 1s, .restart_guard = RestartGuard::off};

/// A client of three nodes, and what may happen to it.
struct Surroundings {
  virtual ~Surroundings() = default;
  virtual LockClient& locks() = 0;
  virtual void pass(std::chrono::milliseconds) = 0;
  /// Somebody else gets the lock.
  virtual void take(const std::string& resource) = 0;
  virtual void lose(const std::string& resource) = 0;
  virtual void set_node(int node, FakeNodeState) = 0;
};

struct FakeSurroundings final : Surroundings {
  FakeLocks fake{3, common};
  LockClient& locks() override { return fake; }
  void pass(std::chrono::milliseconds time) override { fake.advance(time); }
  void take(const std::string& resource) override { fake.take(resource, 1h, "web3:4711 backup"); }
  void lose(const std::string& resource) override { fake.lose(resource); }
  void set_node(int node, FakeNodeState state) override { fake.set_node(node, state); }
};

struct RealSurroundings final : Surroundings {
  LocalNodes nodes{3};
  Redlock real{nodes.urls(), common};
  LockClient& locks() override { return real; }
  void pass(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
  void take(const std::string& resource) override {
    const std::string owner = std::string(40, 'a') + " web3:4711 backup @1767225600";
    on_all({"SET", resource, owner, "PX", "3600000"});
  }
  void lose(const std::string& resource) override { on_all({"DEL", resource}); }
  void set_node(int node, FakeNodeState state) override {
    if (state == FakeNodeState::refusing) nodes.kill(node);
    if (state == FakeNodeState::hanging) nodes.pause(node);
  }
  void on_all(const std::vector<std::string>& command) const {
    for (int node = 0; node < nodes.size(); ++node) RawClient{nodes.port(node)}.command(command);
  }
};

/// What a user sees, a line for each thing.
using Transcript = std::vector<std::string>;

std::string seen(const LockResult& result) {
  std::ostringstream line;
  if (result) {
    line << "granted, " << (result->valid() ? "valid" : "over");
    return line.str();
  }
  line << to_string(static_cast<Errc>(result.code().value())) << (result.is_held() ? ", is held" : "");
  if (result.holder()) line << " by " << result.holder()->label;
  line << (result.holder() && result.holder()->ttl ? ", with a ttl" : "");
  return line.str();
}

std::string seen(const Lease& lease) {
  return std::string{to_string(lease.state())} + ", " + std::string{to_string(lease.loss())};
}

using Scenario = void (*)(Surroundings&, Transcript&);

void acquires_and_releases(Surroundings& world, Transcript& see) {
  Lease first = world.locks().try_lock("r", {.label = "mine"}).value();
  see.push_back(seen(world.locks().try_lock("r")));
  see.push_back(seen(world.locks().try_lock_for("r", 50ms)));
  see.push_back(seen(world.locks().try_lock("r", {.fencing = false})));
  for (const NodeReport& report : world.locks().inspect("r"))
    see.push_back(std::string{to_string(report.status)} +
                  (report.owner == first.owner_value() ? " by us" : ""));
  see.emplace_back(to_string(first.release()));
  see.push_back(seen(first));
  for (const NodeReport& report : world.locks().inspect("r")) see.emplace_back(to_string(report.status));
  const Lease second = world.locks().try_lock("r").value();
  see.emplace_back(second.fencing_token() > first.fencing_token() ? "a greater token" : "a smaller token");
  const Lease third = world.locks().try_lock("plain", {.fencing = false}).value();
  see.push_back(std::to_string(third.fencing_token().value()));
}

void is_kept(Surroundings& world, Transcript& see) {
  see.emplace_back(to_string(world.locks().try_lock("r", {.ttl = 1s, .at_least = 1s}).value().release()));
  const LockResult refused = world.locks().try_lock("r");
  see.push_back(seen(refused));
  see.emplace_back(refused.holder()->is_kept() ? "kept" : "not kept");
  see.push_back(seen(world.locks().try_lock_for("r", 20s, {.ttl = 1s})));
}

void expires(Surroundings& world, Transcript& see) {
  std::string told = "nothing";
  Lease lease = world.locks()
                    .try_lock("r", {.ttl = 1s,
                                    .renewal = redlock::Renewal::none,
                                    .on_lost = [&](Loss why) { told = to_string(why); }})
                    .value();
  const LockResult next = world.locks().try_lock_for("r", 1h);
  see.push_back(seen(next));
  see.push_back(seen(lease));
  see.push_back(next->fencing_token() > lease.fencing_token() ? "a greater token" : "a smaller token");
  see.emplace_back(lease.extend() ? "extended" : "not extended");
  see.emplace_back(to_string(lease.release()));
  see.push_back(told);
  Lease bounded = world.locks().try_lock("b", {.ttl = 1s, .max_hold = 2s}).value();
  see.emplace_back(bounded.wait_lost() ? "lost" : "not lost");
  see.push_back(seen(bounded));
}

void is_extended(Surroundings& world, Transcript& see) {
  Lease lease = world.locks().try_lock("r", {.ttl = 20s}).value();
  world.pass(100ms);
  const auto before = lease.deadline();
  see.emplace_back(lease.extend() && lease.deadline() > before ? "extended" : "not extended");
  const Lease renewed = world.locks().try_lock("renewed", {.ttl = 3s}).value();
  world.pass(4s);
  see.push_back(seen(renewed));
}

void is_lost(Surroundings& world, Transcript& see, void (Surroundings::*lose)(const std::string&)) {
  std::string told = "nothing";
  Lease watched =
      world.locks().try_lock("watched", {.on_lost = [&](Loss why) { told = to_string(why); }}).value();
  Lease renewed = world.locks().try_lock("renewed").value();
  const std::stop_token stop = renewed.stop_token();
  Lease plain = world.locks().try_lock("plain").value();
  world.pass(50ms);
  for (const char* const resource : {"watched", "renewed", "plain"}) (world.*lose)(resource);
  see.emplace_back(watched.wait_lost() && renewed.wait_lost() ? "both lost" : "not lost");
  see.emplace_back(to_string(watched.release()));
  see.push_back(told);
  see.push_back(seen(watched));
  see.push_back(seen(renewed));
  see.emplace_back(stop.stop_requested() ? "stopped" : "not stopped");
  std::error_code ec;
  see.emplace_back(plain.extend(ec) ? "extended" : ec.message());
  see.push_back(seen(plain));
  see.emplace_back(to_string(plain.release()));
  see.push_back(seen(world.locks().try_lock("plain")));
}
void is_deleted(Surroundings& world, Transcript& see) { is_lost(world, see, &Surroundings::lose); }
void is_taken(Surroundings& world, Transcript& see) { is_lost(world, see, &Surroundings::take); }

/// Tries until no node is reported as a connection that has just been lost, but as one that refuses the next connection. How
/// soon that is depends on the machine.
LockResult lasting_failure(Surroundings& world, const std::string& resource) {
  const auto has_just_ended = [](const NodeReport& report) {
    return report.status == NodeStatus::connection_lost;
  };
  LockResult failed = world.locks().try_lock(resource);
  for (int tries = 0; tries < 1000 && std::ranges::any_of(failed.nodes(), has_just_ended); ++tries) {
    world.pass(10ms);
    failed = world.locks().try_lock(resource);
  }
  return failed;
}

void nodes_fail(Surroundings& world, Transcript& see, FakeNodeState state) {
  Lease plain = world.locks().try_lock("plain", {.ttl = 20s}).value();
  Lease renewed = world.locks().try_lock("renewed", {.ttl = 3s}).value();
  world.set_node(2, state);
  see.push_back(seen(world.locks().try_lock("with two")));
  see.emplace_back(plain.extend() ? "extended" : "not extended");
  world.set_node(1, state);
  const LockResult failed = lasting_failure(world, "with one");
  see.push_back(seen(failed));
  const std::span<const NodeReport> reports = failed.nodes();
  for (const NodeReport& report : reports) see.emplace_back(to_string(report.status));
  see.push_back(seen(world.locks().try_lock_for("with one", 10ms)));
  std::error_code ec;
  see.emplace_back(plain.extend(ec) ? "extended" : ec.message());
  see.push_back(seen(plain));
  see.emplace_back(renewed.wait_lost() ? "lost" : "not lost");
  see.push_back(seen(renewed));
  see.emplace_back(to_string(plain.release()));
}
void nodes_refuse(Surroundings& world, Transcript& see) { nodes_fail(world, see, FakeNodeState::refusing); }
void nodes_hang(Surroundings& world, Transcript& see) { nodes_fail(world, see, FakeNodeState::hanging); }

void is_handed_over(Surroundings& world, Transcript& see) {
  for (const bool fencing : {true, false}) {
    Lease old = world.locks().try_lock("r", {.fencing = fencing}).value();
    see.emplace_back(old.orphan() ? "orphaned" : "not orphaned");
    see.push_back(seen(old));
    see.push_back(seen(world.locks().try_lock("r", {.fencing = fencing})));
    const LockResult adopted =
        world.locks().adopt({"r", old.owner_value(), old.fencing_token()}, {.fencing = fencing});
    see.push_back(seen(adopted));
    see.emplace_back(adopted->fencing_token() > old.fencing_token() ? "a greater token" : "no greater token");
    see.push_back(
        seen(world.locks().adopt({"r", old.owner_value(), old.fencing_token()}, {.fencing = fencing})));
  }
  see.push_back(seen(world.locks().adopt({"never", "held"})));
}

void is_checked(Surroundings& world, Transcript& see) {
  const Sequencer lost = world.locks().try_lock("lost").value().sequencer();
  see.emplace_back(to_string(world.locks().check(lost)));
  world.take("lost");
  see.emplace_back(to_string(world.locks().check(lost)));
  const Lease lease = world.locks().try_lock("r", {.ttl = 60s}).value();
  for (const int node : {2, 1}) {
    see.emplace_back(to_string(world.locks().check(lease.sequencer())));
    world.set_node(node, FakeNodeState::hanging);
  }
  see.emplace_back(to_string(world.locks().check(lease.sequencer())));
}

void is_refused(Surroundings& world, Transcript& see) {
  see.push_back(world.locks().try_lock("").message());
  see.push_back(world.locks().try_lock("redlock:x").message());
  see.push_back(world.locks().try_lock("r", {.ttl = 1ms}).message());
  see.push_back(world.locks().try_lock("r", {.label = std::string(201, 'x')}).message());
}

void is_cancelled(Surroundings& world, Transcript& see) {
  std::stop_source stop;
  stop.request_stop();
  see.push_back(world.locks().lock("r", {}, stop.get_token()).message());
  const Lease lease = world.locks().try_lock("r", {.on_lost = [](Loss) {}}).value();
  world.locks().shut_down();
  see.push_back(seen(lease));
  see.push_back(world.locks().try_lock("other").message());
}

void is_a_mutex(Surroundings& world, Transcript& see) {
  Mutex mutex{world.locks(), "r"};
  Mutex other{world.locks(), "r"};
  mutex.lock();
  see.emplace_back(other.try_lock() ? "both" : "one");
  see.emplace_back(other.try_lock_for(20ms) ? "both" : "one");
  mutex.unlock();
  see.emplace_back(to_string(mutex.last_release()));
  // `try_lock` might fail: for a moment the nodes still say that somebody waits.
  see.emplace_back(other.try_lock_for(10s) ? "the other" : "none");
  other.unlock();
}

void is_shared(Surroundings& world, Transcript& see) {
  const LockOptions reader{.ttl = 20s, .shared = true};
  Lease first = world.locks().try_lock("r", reader).value();
  Lease second = world.locks().try_lock("r", reader).value();
  see.push_back(std::to_string(readers_in(world.locks().inspect("r")).size()) + " readers");
  const LockResult writer = world.locks().try_lock("r");
  see.push_back(seen(writer));
  see.emplace_back(writer.holder()->is_shared() ? "shared" : "not shared");
  see.emplace_back(to_string(world.locks().check(first.sequencer())));
  see.emplace_back(second.extend() ? "extended" : "not extended");
  see.emplace_back(to_string(first.release()));
  see.emplace_back(to_string(world.locks().check(first.sequencer())));
  see.push_back(seen(world.locks().try_lock("r")));
  see.emplace_back(to_string(second.release()));
  for (const NodeReport& report : world.locks().inspect("r")) see.emplace_back(to_string(report.status));
  Lease alone = world.locks().try_lock("r").value();
  see.emplace_back(alone.fencing_token() > first.fencing_token() ? "a greater token" : "a smaller token");
  see.push_back(seen(world.locks().try_lock("r", reader)));
  const auto earlier = alone.fencing_token();
  const LockResult downgraded = world.locks().downgrade(std::move(alone), reader);
  see.push_back(seen(downgraded));
  see.emplace_back(downgraded->fencing_token() > earlier ? "a greater token" : "a smaller token");
  see.push_back(seen(world.locks().try_lock("r", reader)));
}

void readers_are_lost(Surroundings& world, Transcript& see, void (Surroundings::*lose)(const std::string&)) {
  Lease renewed = world.locks().try_lock("renewed", {.ttl = 3s, .shared = true}).value();
  Lease extended = world.locks().try_lock("extended", {.ttl = 20s, .shared = true}).value();
  Lease released = world.locks().try_lock("released", {.ttl = 20s, .shared = true}).value();
  world.pass(50ms);
  for (const char* const resource : {"renewed", "extended", "released"}) (world.*lose)(resource);
  see.emplace_back(renewed.wait_lost() ? "lost" : "not lost");
  see.push_back(seen(renewed));
  std::error_code ec;
  see.emplace_back(extended.extend(ec) ? "extended" : ec.message());
  see.push_back(seen(extended));
  see.emplace_back(to_string(released.release()));
  for (const char* const resource : {"renewed", "extended", "released"})
    see.push_back(seen(world.locks().try_lock(resource, {.shared = true})));
}
void readers_are_deleted(Surroundings& world, Transcript& see) {
  readers_are_lost(world, see, &Surroundings::lose);
}
void readers_are_replaced(Surroundings& world, Transcript& see) {
  readers_are_lost(world, see, &Surroundings::take);
}

}  // namespace

TEST_CASE("fake_locks_show_what_real_nodes_show") {
  const auto [name, scenario, lines] = GENERATE(table<std::string, Scenario, std::size_t>({
      {"acquires and releases", acquires_and_releases, 13},
      {"is kept", is_kept, 4},
      {"expires", expires, 8},
      {"is extended", is_extended, 2},
      {"is deleted", is_deleted, 10},
      {"is taken", is_taken, 10},
      {"nodes refuse", nodes_refuse, 12},
      {"nodes hang", nodes_hang, 12},
      {"is handed over", is_handed_over, 13},
      {"is checked", is_checked, 5},
      {"is refused", is_refused, 4},
      {"is cancelled", is_cancelled, 3},
      {"is a mutex", is_a_mutex, 4},
      {"is shared", is_shared, 17},
      {"readers are deleted", readers_are_deleted, 8},
      {"readers are replaced", readers_are_replaced, 8},
  }));
  CAPTURE(name);
  Transcript with_fake;
  Transcript with_servers;
  FakeSurroundings fake;
  scenario(fake, with_fake);
  RealSurroundings real;
  scenario(real, with_servers);
  CHECK(with_fake == with_servers);
  CHECK(with_fake.size() == lines);
}
