#include "simulation/scenario/schedule.hpp"

#include <algorithm>
#include <array>

#include "redlock/core/line/gates.hpp"
#include "simulation/random.hpp"

namespace redlock::simulation {
namespace {

using Kind = Fault::Kind;

// At most one draw per statement: the compiler chooses the order in which operands are evaluated.

/// Kinds of faults with their relative frequencies.
struct Likely {
  Kind kind;
  int weight;
};
constexpr std::array within_assumptions{
    Likely{Kind::crash, 3},          Likely{Kind::crash_empty, 1},  Likely{Kind::stall, 5},
    Likely{Kind::partition, 5},      Likely{Kind::deaf_node, 3},    Likely{Kind::deaf_client, 3},
    Likely{Kind::slow, 5},           Likely{Kind::cut, 6},          Likely{Kind::pause, 4},
    Likely{Kind::pause_mid_step, 4}, Likely{Kind::client_crash, 2}, Likely{Kind::flush_scripts, 3},
    Likely{Kind::foreign_take, 3},   Likely{Kind::loading, 1},      Likely{Kind::read_only, 1},
    Likely{Kind::out_of_memory, 1}};
constexpr std::array beyond_assumptions{Likely{Kind::crash_empty, 3},   Likely{Kind::crash_old, 3},
                                        Likely{Kind::client_rate, 2},   Likely{Kind::node_rate, 2},
                                        Likely{Kind::node_jump, 3},     Likely{Kind::flush_all, 2},
                                        Likely{Kind::foreign_delete, 6}};

constexpr std::array losses_of_data{Likely{Kind::crash_empty, 3}, Likely{Kind::crash_old, 3},
                                    Likely{Kind::flush_all, 2}};

template <std::size_t size>
int total(const std::array<Likely, size>& likely) {
  int sum = 0;
  for (const Likely& one : likely) sum += one.weight;
  return sum;
}

template <std::size_t size>
Kind pick(const std::array<Likely, size>& likely, Random& random) {
  auto left = random.between(1, total(likely));
  for (const Likely& one : likely)
    if ((left -= one.weight) <= 0) return one.kind;
  return likely.back().kind;
}

Kind pick_kind(const Schedule& schedule, Random& random) {
  if (schedule.profile == Profile::beyond && random.chance(40)) return pick(beyond_assumptions, random);
  if (schedule.guarded && random.chance(20)) return pick(losses_of_data, random);
  return pick(within_assumptions, random);
}

/// Whether nodes that lost their data must stay down for a while.
bool stays_away(const Schedule& schedule) { return schedule.profile == Profile::within && !schedule.guarded; }

void set_details(Fault& fault, const Schedule& schedule, Random& random) {
  const Instant ttl = schedule.ttl.count() * millisecond;
  fault.length = random.skewed(millisecond, 2 * ttl);
  switch (fault.kind) {
    case Kind::crash:
    case Kind::stall:
    case Kind::loading:
    case Kind::read_only:
    case Kind::out_of_memory:
    case Kind::flush_scripts:
    case Kind::flush_all:
    case Kind::foreign_delete:
    case Kind::false_counters:
    case Kind::flood:
    case Kind::stray_replies:
    case Kind::false_run_id:
    case Kind::foreign_marker:
    case Kind::delete_marker:
    case Kind::replica:
      break;
    case Kind::crash_empty:
      // Down until every lease that the node may have forgotten has ended.
      if (stays_away(schedule)) fault.length += ttl + ttl / 50 + 5 * millisecond;
      break;
    case Kind::crash_old:
    case Kind::roll_back:
      fault.amount = random.skewed(millisecond, 4 * ttl);
      break;
    case Kind::slow:
      fault.amount = random.skewed(millisecond, ttl);
      break;
    case Kind::partition:
    case Kind::deaf_node:
    case Kind::deaf_client:
      if (random.chance(25))
        fault.client = Fault::all;
      else if (random.chance(20))
        fault.node = Fault::all;
      return;
    case Kind::client_rate:
    case Kind::node_rate:
      fault.amount = random.between(-300'000, 300'000);
      break;
    case Kind::node_jump:
      fault.amount = random.skewed(millisecond, 4 * ttl);
      if (random.chance(50)) fault.amount = -fault.amount;
      break;
    case Kind::foreign_take:
      fault.node = random.chance(60) ? Fault::all : fault.node;
      fault.length = random.skewed(millisecond, ttl);
      break;
    case Kind::cut:
    case Kind::pause:
    case Kind::pause_mid_step:
    case Kind::client_crash:
    case Kind::cut_listener:
    case Kind::no_publish:
      break;
  }
  if (fault.kind == Kind::foreign_delete || fault.kind == Kind::flush_all)
    fault.node = random.chance(30) ? Fault::all : fault.node;
}

Fault draw_fault(const Schedule& schedule, Random& random) {
  Fault fault{};
  fault.kind = pick_kind(schedule, random);
  // Another library does not check markers, so it could take the lock on nodes that lost their data.
  if (schedule.guarded && fault.kind == Kind::foreign_take) fault.kind = Kind::stall;
  fault.at = random.between(0, schedule.heals);
  fault.client = static_cast<int>(random.between(0, schedule.clients - 1));
  fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
  set_details(fault, schedule, random);
  if (fault.kind != Kind::crash_empty || !stays_away(schedule))
    fault.length = std::min(fault.length, schedule.heals - fault.at);
  return fault;
}

Fault draw_flood(const Schedule& schedule, Random& random) {
  Fault fault{.kind = Kind::flood, .at = random.between(0, schedule.heals)};
  fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
  fault.length = random.skewed(millisecond, schedule.heals);
  fault.length = std::min(fault.length, schedule.heals - fault.at);
  return fault;
}

/// All nodes restart at once, each with old data or none: all of them forget what they granted since.
void draw_power_failure(Schedule& schedule, Random& random) {
  const Instant ttl = schedule.ttl.count() * millisecond;
  const Instant at = random.between(0, schedule.heals);
  const Instant length = std::min(random.skewed(millisecond, ttl), schedule.heals - at);
  for (int node = 0; node < schedule.nodes; ++node) {
    const Kind kind = random.chance(20) ? Kind::crash_empty : Kind::crash_old;
    const Instant age = random.between(millisecond, 2 * ttl);
    schedule.faults.push_back({.kind = kind, .at = at, .length = length, .node = node, .amount = age});
  }
}

/// In a tenth of the worlds. Draws from a sequence of its own, so that the other worlds do not depend on it.
void draw_false_counters(Schedule& schedule) {
  Random random{schedule.seed ^ 0x636f756e746572U};
  if (!schedule.fencing || !random.chance(10)) return;
  const Instant at = random.between(0, schedule.heals / 2);
  const Instant length = random.between(millisecond, schedule.heals - at);
  const int node = static_cast<int>(random.between(0, schedule.nodes - 1));
  schedule.faults.push_back({.kind = Kind::false_counters, .at = at, .length = length, .node = node});
}

/// In a tenth of the worlds, a node answers what nobody asked, or has the run_id of another one for a while. Draws from a
/// sequence of its own, too.
void draw_hostile_node(Schedule& schedule) {
  Random random{schedule.seed ^ 0x686f7374696c65U};
  if (!random.chance(10)) return;
  const bool sends_stray_replies = random.chance(60);
  const Kind kind = sends_stray_replies ? Kind::stray_replies : Kind::false_run_id;
  Fault fault{.kind = kind, .at = random.between(0, schedule.heals / 2)};
  fault.length = random.between(millisecond, schedule.heals - fault.at);
  fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
  schedule.faults.push_back(fault);
}

/// In a fifth of the worlds whose restarts are guarded, operators work on the nodes, in some of these with no other faults, so
/// that connections last. Under the policy `automatic` nobody writes markers by hand: it trusts the marker of an earlier run.
/// Draws from a sequence of its own, too.
void draw_operators(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6f7065726174U};
  if (!schedule.guarded || !random.chance(20)) return;
  if (random.chance(40)) schedule.faults.clear();
  for (auto left = random.between(1, 4); left > 0; --left) {
    Fault fault{.kind = Kind::delete_marker, .at = random.between(0, schedule.heals)};
    if (random.chance(10)) fault.at = 0;
    fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
    fault.length = random.skewed(millisecond, schedule.heals);
    fault.length = std::min(fault.length, schedule.heals - fault.at);
    fault.amount = random.between(Fault::no_marker, Fault::of_another_deployment);
    if (!schedule.automatic && random.chance(40)) fault.kind = Kind::foreign_marker;
    if (random.chance(25)) fault.kind = Kind::replica;
    const int affected = random.chance(30) ? schedule.nodes / 2 + 1 : 1;
    for (int i = 0; i < affected; ++i) {
      schedule.faults.push_back(fault);
      fault.node = (fault.node + 1) % schedule.nodes;
    }
  }
}

/// In some worlds whose restarts are guarded, the only faults are that a node is a replica of another one for a moment, while
/// some clients do not reach that other one. So the replica forgets what it granted these clients, and stays connected. Draws
/// from a sequence of its own, too.
void draw_replicas(Schedule& schedule) {
  Random random{schedule.seed ^ 0x7265706c696361U};
  if (!schedule.guarded || !random.chance(8)) return;
  schedule.faults.clear();
  const Instant ttl = schedule.ttl.count() * millisecond;
  schedule.workload.hold = ttl;  // so that there is mostly a lock to forget
  schedule.workload.think = ttl / 4;
  for (auto left = random.between(1, 6); left > 0; --left) {
    const auto replica = static_cast<int>(random.between(0, schedule.nodes - 1));
    const Instant at = random.between(0, schedule.heals);
    const Instant length = std::min(random.between(ttl / 2, 2 * ttl), schedule.heals - at);
    for (int client = 0; client < schedule.clients; ++client)
      if (random.chance(50))
        schedule.faults.push_back({.kind = Kind::partition,
                                   .at = at,
                                   .length = length,
                                   .client = client,
                                   .node = (replica + 1) % schedule.nodes});
    const Instant change = at + random.between(0, length);
    schedule.faults.push_back(
        {.kind = Kind::replica,
         .at = change,
         .length = std::min(random.skewed(millisecond, ttl / 4), schedule.heals - change),
         .node = replica});
  }
}

/// In a tenth of the worlds whose restarts are guarded, two teams with nothing in common share servers. Draws from a sequence
/// of its own, too.
void draw_teams(Schedule& schedule) {
  Random random{schedule.seed ^ 0x7465616d73U};
  if (!schedule.guarded || !random.chance(10)) return;
  schedule.two_teams = true;
  schedule.resources = 2;
}

/// In a tenth of the other worlds with few clients, each of them often holds two locks, for so long that it loses some. A
/// callback that is told of such a loss may release the other lock. Draws from a sequence of its own, too.
void draw_callbacks(Schedule& schedule) {
  Random random{schedule.seed ^ 0x63616c6c73U};
  if (schedule.two_teams || schedule.clients > 3 || !random.chance(10)) return;
  schedule.threads = 2;
  schedule.resources = 2;
  schedule.workload.think = 10 * millisecond;
  schedule.workload.hold = 4 * schedule.ttl.count() * millisecond;
  schedule.workload.orphans = 0;
  schedule.workload.releases_others = static_cast<int>(random.between(30, 100));
}

/// In a fifth of the worlds, calls are for any of a few seats instead of the first lock. Draws from a sequence of its own, too.
void draw_semaphore(Schedule& schedule) {
  Random random{schedule.seed ^ 0x7365617473U};
  if (schedule.two_teams || !random.chance(20)) return;
  schedule.seats = static_cast<int>(random.between(1, most_seats));
  schedule.resources += schedule.seats - 1;
}

/// In some worlds, nobody gets a lock for a while after its loss. Draws from a sequence of its own, so that the other
/// schedules stay as they are.
void draw_lock_delay(Schedule& schedule) {
  Random random{schedule.seed ^ 0x64656c6179U};
  if (schedule.calls.empty() && random.chance(15))
    schedule.lock_delay =
        std::chrono::milliseconds{random.between(schedule.ttl.count() / 4, schedule.ttl.count() / 2)};
}

/// In some worlds, nobody else gets a lock for a while from the begin of its acquisition. Draws from a sequence of its own, too.
void draw_at_least(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6b657074U};
  const auto ttl = (schedule.ttl - schedule.lock_delay).count();
  if (schedule.calls.empty() && random.chance(15))
    schedule.at_least = std::chrono::milliseconds{random.between(ttl / 4, ttl)};
}

/// In some worlds, clients check each other's leases. Draws from a sequence of its own, too.
void draw_checks(Schedule& schedule) {
  Random random{schedule.seed ^ 0x636865636bU};
  if (schedule.calls.empty() && random.chance(15))
    schedule.workload.checks = static_cast<int>(random.between(10, 50));
}

/// In some worlds, clients ask others to give locks up. Draws from a sequence of its own, too.
void draw_requests(Schedule& schedule) {
  Random random{schedule.seed ^ 0x61736bU};
  if (schedule.calls.empty() && random.chance(15))
    schedule.workload.requests = static_cast<int>(random.between(10, 50));
}

/// In some worlds, clients take locks from their holders, which is beyond the assumptions. Not where they ask for them or check
/// leases as well: then a single client might ask for no lock for long. Draws from a sequence of its own, too.
void draw_breaks(Schedule& schedule) {
  Random random{schedule.seed ^ 0x627265616bU};
  const bool only_locks = schedule.workload.checks == 0 && schedule.workload.requests == 0;
  if (schedule.calls.empty() && schedule.profile == Profile::beyond && only_locks && random.chance(10))
    schedule.workload.breaks = static_cast<int>(random.between(5, 30));
}

/// In some worlds, calls are those of readers, and writers become readers. Draws from a sequence of its own, too.
void draw_readers(Schedule& schedule) {
  Random random{schedule.seed ^ 0x72656164U};
  if (!schedule.calls.empty() || !schedule.fencing || locks_of(schedule) == 0 || !random.chance(25)) return;
  schedule.workload.reads = static_cast<int>(random.between(20, 80));
  if (random.chance(50)) schedule.workload.short_reads = static_cast<int>(random.between(10, 60));
}

/// In some worlds with two locks, calls are for both. A lock beside a semaphore gets a second one for that. Draws from a
/// sequence of its own, too.
void draw_joint_calls(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6a6f696e74U};
  const bool is_plain = schedule.calls.empty() && !schedule.two_teams && !schedule.is_about_lines;
  if (!is_plain || locks_of(schedule) != (schedule.seats > 0 ? 1 : 2) || !random.chance(50)) return;
  schedule.resources = schedule.seats + 2;
  schedule.workload.together = static_cast<int>(random.between(20, 80));
}

/// In some worlds, clients watch who has a lock. Half of these have no faults; worlds about lines keep theirs. Draws from a
/// sequence of its own, too.
void draw_watches(Schedule& schedule) {
  Random random{schedule.seed ^ 0x7761746368U};
  // Readers need a lock that is not watched.
  const bool is_plain = schedule.calls.empty() && locks_of(schedule) > (schedule.workload.reads > 0 ? 1 : 0);
  if (!is_plain || schedule.two_teams || !random.chance(20)) return;
  schedule.observer = schedule.clients - 1;
  if (!schedule.is_about_lines && random.chance(50)) schedule.faults.clear();
}

/// Each client is near to some nodes and far from others.
void draw_distances(Schedule& schedule, Random& random) {
  const Instant farthest = schedule.node_timeout.count() * millisecond / 4;
  for (int link = 0; link < schedule.clients * schedule.nodes; ++link)
    schedule.link_delays.push_back(random.skewed(0, farthest));
}

/// In some worlds about lines, without faults, calls are for several locks and stand in the lines of all. Draws from a sequence
/// of its own, too.
void draw_joint_lines(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6a6c696eU};
  if (!schedule.is_about_lines || schedule.seats > 0 || !random.chance(15)) return;
  schedule.faults.clear();
  if (schedule.link_delays.empty()) draw_distances(schedule, random);
  schedule.resources = static_cast<int>(random.between(2, 3));
  schedule.workload.together = static_cast<int>(random.between(30, 100));
}

/// In a tenth of the worlds beyond the assumptions, clients guard restarts, and nodes are rolled back to snapshots of running
/// machines, which nobody can notice. Clocks are not changed: a quarantine could last for any time. Draws from a sequence of its
/// own, too.
void draw_roll_backs(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6261636bU};
  if (schedule.profile != Profile::beyond || !random.chance(10)) return;
  schedule.guarded = true;
  schedule.automatic = random.chance(50);
  schedule.deployed = random.chance(50);
  schedule.alias = -1;
  std::erase_if(schedule.faults, [](const Fault& fault) {
    return fault.kind == Kind::client_rate || fault.kind == Kind::node_rate || fault.kind == Kind::node_jump;
  });
  for (auto left = random.between(1, 2 * schedule.nodes); left > 0; --left) {
    Fault fault{.kind = Kind::roll_back, .at = random.between(0, schedule.heals)};
    fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
    set_details(fault, schedule, random);
    fault.length = std::min(fault.length, schedule.heals - fault.at);
    schedule.faults.push_back(fault);
  }
}

/// In a quarter of the worlds with the policy `automatic`, one client has the policy `strict`. Its `max_ttl` has to cover that
/// of the nodes, also after a raise. Draws from a sequence of its own, too.
void draw_strict_client(Schedule& schedule) {
  Random random{schedule.seed ^ 0x737472696374U};
  if (!schedule.automatic || !random.chance(25)) return;
  schedule.strict_client = static_cast<int>(random.between(0, schedule.clients - 1));
  const auto index = static_cast<std::size_t>(schedule.strict_client);
  if (index < schedule.max_ttls.size()) schedule.max_ttls[index] = schedule.ttl;
}

/// In some worlds of five nodes, unless they would have to begin, or to keep one marker, without the node that is never asked.
/// Draws from a sequence of its own, too.
void draw_alias(Schedule& schedule) {
  Random random{schedule.seed ^ 0x6e616d6573U};
  const bool is_possible = !schedule.guarded || (schedule.deployed && !schedule.automatic);
  if (schedule.nodes == 5 && is_possible && random.chance(20))
    schedule.alias = static_cast<int>(random.between(1, 4));
}

/// All nodes restart without their data, one after the other, and at a pace at which a holder can mark each of them before
/// the next one goes. The first client holds the lock meanwhile and makes no call. Each client makes one call, so the ones
/// that come late do not know the deployment.
void make_rolling_restart(Schedule& schedule, Random& random) {
  schedule.ttl = std::chrono::seconds{20};
  schedule.drift = schedule.ttl / 100 + std::chrono::milliseconds{2};
  schedule.node_timeout = std::chrono::milliseconds{250};
  schedule.automatic = true;
  schedule.deployed = true;
  schedule.reads_on_demand = true;
  schedule.clients = std::min(schedule.clients, 4);
  schedule.threads = 1;
  schedule.resources = 1;
  schedule.client_ppm.clear();
  schedule.node_ppm.clear();
  schedule.faults.clear();
  Instant end = 0;
  Instant at = random.between(500 * millisecond, 1500 * millisecond);
  const auto first = static_cast<int>(random.between(0, schedule.nodes - 1));
  for (int node = 0; node < schedule.nodes; ++node) {
    const Instant length = random.skewed(millisecond, 300 * millisecond);
    schedule.faults.push_back({.kind = Kind::crash_empty,
                               .at = at,
                               .length = length,
                               .node = (first + node) % schedule.nodes,
                               .amount = 1});
    end = at + length;
    at += length + random.between(1500 * millisecond, 2200 * millisecond);
  }
  const Instant begun = random.between(10 * millisecond, 100 * millisecond);
  const Instant hold = random.between(end + 2 * second, schedule.ttl.count() * millisecond - second);
  schedule.calls.push_back({.client = 0, .at = begun, .hold = hold});
  for (int client = 1; client < schedule.clients; ++client) {
    const bool is_late = random.chance(70);
    const Instant asked = is_late ? end + random.between(0, second) : random.between(200 * millisecond, end);
    schedule.calls.push_back(
        {.client = client, .at = asked, .hold = 10 * millisecond, .waits = random.chance(50)});
  }
  schedule.heals = end + 2 * second;  // no call begins later
}

/// The raise that begins then does not reach one of three nodes any more, and the other two lose their data together.
void interrupt_raise(Schedule& schedule, Instant begun, Random& random) {
  schedule.nodes = 3;
  const auto missed = static_cast<int>(random.between(0, 2));
  const Instant at = begun + random.skewed(0, 4 * (schedule.delay + schedule.jitter));
  schedule.faults.push_back(
      {.kind = Kind::deaf_node, .at = at, .length = schedule.heals - at, .client = 0, .node = missed});
  const Instant lost = begun + random.between(second, 8 * second);
  for (int node = 0; node < schedule.nodes; ++node)
    if (node != missed)
      schedule.faults.push_back({.kind = Kind::crash_empty,
                                 .at = lost + random.between(0, 100 * millisecond),
                                 .length = random.skewed(millisecond, 50 * millisecond),
                                 .node = node,
                                 .amount = 1});
}

/// An operator raises `max_ttl` from two seconds to the ttl, while nodes lose their data. Some clients take long locks as
/// soon as they may; the others take short ones, have no reason to look at the nodes again, and have other options.
void make_raise(Schedule& schedule, Random& random) {
  constexpr std::chrono::milliseconds short_ttl{2000};
  schedule.ttl = std::chrono::seconds{15};
  schedule.drift = schedule.ttl / 100 + std::chrono::milliseconds{2};
  schedule.node_timeout = std::chrono::milliseconds{250};
  schedule.automatic = true;
  schedule.deployed = true;
  schedule.one_node_is_steady = true;
  schedule.first_max_ttl = short_ttl;
  schedule.clients = static_cast<int>(random.between(3, 5));
  schedule.threads = 1;
  schedule.resources = 1;
  schedule.jitter = random.skewed(10 * microsecond, 50 * millisecond);
  schedule.heals = 40 * second;
  schedule.client_ppm.clear();
  schedule.node_ppm.clear();
  schedule.faults.clear();
  const int operators = 0;
  const int long_locks = 1;
  for (int client = 0; client < schedule.clients; ++client)
    schedule.max_ttls.push_back(random.chance(50) ? short_ttl : 2 * short_ttl);
  for (Instant at = random.between(0, 5 * second); at < schedule.heals; at += 4 * second)
    schedule.calls.push_back({.client = operators, .at = at, .raises = true});
  for (int client = 1; client < schedule.clients; ++client) {
    const bool is_long = client == long_locks;
    const Instant longest = is_long ? schedule.ttl.count() * millisecond : short_ttl.count() * millisecond;
    for (Instant at = 0; at < schedule.heals; at += random.between(20 * millisecond, 2 * second)) {
      const Instant hold = random.chance(30) ? longest : random.skewed(millisecond, longest);
      schedule.calls.push_back(
          {.client = client, .at = at, .hold = hold, .ttl = is_long ? schedule.ttl : short_ttl});
    }
  }
  const Instant first_raise = schedule.calls.front().at;
  for (auto left = random.between(0, 8); left > 0; --left) {
    Fault loss{.kind = pick(losses_of_data, random), .at = random.between(second, schedule.heals)};
    loss.node = static_cast<int>(random.between(0, schedule.nodes - 1));
    loss.length = std::min(random.skewed(millisecond, 300 * millisecond), schedule.heals - loss.at);
    loss.amount = loss.kind == Kind::crash_old ? random.skewed(millisecond, 20 * second) : 1;
    schedule.faults.push_back(loss);
  }
  for (auto left = random.between(0, 8); left > 0; --left) {
    Fault pause{.kind = random.chance(80) ? Kind::pause_mid_step : Kind::pause,
                .at = random.between(0, schedule.heals)};
    pause.client = static_cast<int>(random.between(0, schedule.clients - 1));
    pause.length = std::min(random.skewed(millisecond, 4 * second), schedule.heals - pause.at);
    schedule.faults.push_back(pause);
  }
  if (random.chance(30)) {
    schedule.faults.clear();
    interrupt_raise(schedule, first_raise, random);
  }
}

/// All nodes are new, and some come late, about when the others have waited for them. Some clients see that late, or live for
/// one call.
void make_first_start(Schedule& schedule, Random& random) {
  constexpr Instant before_waiting = 300 * millisecond;  // two looks, and the time for the others to connect
  const Instant ttl = schedule.ttl.count() * millisecond;
  schedule.first_start = true;
  schedule.brief_clients = random.chance(50);
  schedule.threads = 1;
  schedule.faults.clear();
  const auto first = static_cast<int>(random.between(0, schedule.nodes - 1));
  const Instant late = random.between(0, before_waiting + 3 * ttl);
  for (auto left = random.between(1, schedule.nodes / 2); left > 0; --left)
    schedule.faults.push_back({.kind = Kind::crash,
                               .at = 0,
                               .length = late + random.skewed(0, 100 * millisecond),
                               .node = (first + static_cast<int>(left)) % schedule.nodes});
  schedule.heals = late + ttl + 100 * millisecond;
  for (auto left = random.between(0, 6); left > 0; --left) {
    constexpr std::array delays{Likely{Kind::pause_mid_step, 3}, Likely{Kind::pause, 1},
                                Likely{Kind::slow, 2}, Likely{Kind::deaf_node, 2}, Likely{Kind::cut, 1}};
    Fault fault{.kind = pick(delays, random), .at = random.between(0, schedule.heals)};
    fault.client = static_cast<int>(random.between(0, schedule.clients - 1));
    fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
    fault.amount = fault.kind == Kind::slow ? random.skewed(millisecond, ttl) : 0;
    fault.length = std::min(random.skewed(millisecond, 2 * ttl), schedule.heals - fault.at);
    schedule.faults.push_back(fault);
  }
  schedule.open_for = 4 * second;  // so that the clients look again at nodes that do not vote
}

constexpr std::array faults_of_members{Likely{Kind::client_crash, 4},   Likely{Kind::pause, 3},
                                       Likely{Kind::pause_mid_step, 1}, Likely{Kind::partition, 1},
                                       Likely{Kind::deaf_client, 1},    Likely{Kind::cut, 2},
                                       Likely{Kind::cut_listener, 3},   Likely{Kind::slow, 1}};
constexpr std::array faults_of_gates{Likely{Kind::stall, 4},         Likely{Kind::crash, 3},
                                     Likely{Kind::crash_empty, 2},   Likely{Kind::no_publish, 2},
                                     Likely{Kind::flush_scripts, 1}, Likely{Kind::deaf_node, 1},
                                     Likely{Kind::foreign_take, 1}};
constexpr std::array faults_of_gates_beyond{Likely{Kind::node_jump, 4}, Likely{Kind::flush_all, 2},
                                            Likely{Kind::foreign_delete, 2}};

Fault draw_fault_of_line(const Schedule& schedule, Random& random) {
  const Instant life = schedule.line_times.life.count() * millisecond;
  Fault fault{};
  const bool is_of_gate = random.chance(50);
  fault.kind = is_of_gate ? pick(faults_of_gates, random) : pick(faults_of_members, random);
  if (is_of_gate && schedule.profile == Profile::beyond && random.chance(50))
    fault.kind = pick(faults_of_gates_beyond, random);
  fault.at = random.between(0, schedule.heals);
  fault.client = static_cast<int>(random.between(0, schedule.clients - 1));
  fault.node = static_cast<int>(random.between(0, schedule.nodes - 1));
  if (random.chance(60)) fault.node = gate_of(schedule);
  set_details(fault, schedule, random);
  fault.length = random.skewed(millisecond, 2 * life);
  if (fault.kind == Kind::crash_empty && stays_away(schedule))
    fault.length += 2 * schedule.ttl.count() * millisecond;
  // Whoever is paused for longer than this returns to its place.
  if (fault.kind == Kind::pause) fault.length += life;
  // A client finds out once in a line whether it may publish.
  if (fault.kind == Kind::no_publish)
    fault = {.kind = fault.kind, .at = 0, .length = schedule.heals, .node = fault.node};
  // A smaller step is not noticed: who stands in line already keeps the place.
  if (fault.kind == Kind::node_jump) fault.amount += fault.amount < 0 ? -2 * life : 2 * life;
  return fault;
}

/// The only faults are that some clients reach the gate and no other node for a while.
void cripple(Schedule& schedule, Random& random) {
  schedule.faults.clear();
  const Instant life = schedule.line_times.life.count() * millisecond;
  for (auto left = random.between(1, 3); left > 0; --left) {
    Fault fault{.kind = Kind::partition, .at = random.between(life, schedule.heals - life)};
    fault.client = static_cast<int>(random.between(0, schedule.clients - 1));
    fault.length = std::min(random.between(life, 2 * life), schedule.heals - fault.at);
    for (fault.node = 0; fault.node < schedule.nodes; ++fault.node)
      if (fault.node != gate_of(schedule)) schedule.faults.push_back(fault);
  }
}

/// In the proportions of the library's.
core::LineTimes line_times_of(std::chrono::milliseconds life) {
  return {.life = life, .look_pause = core::Span{life} * 9 / 32, .blind_pause = core::Span{life} * 3 / 160};
}

/// Many threads wait for one lock, and some of them are cancelled, die or are paused. The times of the line are shorter than
/// those of the library, so that they pass more often.
void make_line(Schedule& schedule, Random& random) {
  schedule.is_about_lines = schedule.stands_in_line = true;
  schedule.fencing = true;  // the plain SET does not heed the flag
  schedule.ttl = std::chrono::milliseconds{random.between(60, 200)};
  schedule.drift = schedule.ttl / 100 + std::chrono::milliseconds{2};
  schedule.node_timeout = schedule.ttl / 10;
  schedule.jitter = random.skewed(10 * microsecond, millisecond);
  schedule.threads = static_cast<int>(random.skewed(1, 4));
  schedule.resources = std::max(schedule.seats, 1);
  schedule.alias = -1;
  schedule.client_ppm.clear();
  schedule.node_ppm.clear();
  schedule.faults.clear();
  const std::chrono::milliseconds life{random.between(200, 600)};
  schedule.line_times = line_times_of(life);
  schedule.workload = {.think = random.skewed(millisecond, 200 * millisecond),
                       .hold = random.skewed(200 * microsecond, schedule.ttl.count() * millisecond),
                       .extends = 10,
                       .renews = 20,
                       .waits = static_cast<int>(random.between(70, 100)),
                       .orphans = 0,
                       .adopts = 0,
                       .cancels = static_cast<int>(random.between(0, 20)),
                       .longest_wait = 3 * second};
  schedule.heals = 1500 * millisecond;
  schedule.open_for = 2 * life.count() * millisecond;
  for (auto left = random.between(0, 4); left > 0; --left)
    schedule.faults.push_back(draw_fault_of_line(schedule, random));
  if (random.chance(10)) cripple(schedule, random);
  if (schedule.faults.empty()) draw_distances(schedule, random);
}

std::int64_t draw_wall_offset(Random& random) {
  constexpr std::int64_t year_us = 365 * 24 * 3600 * std::int64_t{1'000'000};
  if (random.chance(5)) return 274 * year_us;
  if (random.chance(5)) return -57 * year_us;
  const std::int64_t offset = random.between(-2'000'000, 2'000'000);
  return random.chance(50) ? offset : offset / 1000;
}

}  // namespace

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 32> names{"crash",
                                                   "crash without its data",
                                                   "crash, back with old data",
                                                   "stopped",
                                                   "cut off",
                                                   "hears nothing",
                                                   "is not heard",
                                                   "slow link",
                                                   "connection lost",
                                                   "paused",
                                                   "paused in mid-step",
                                                   "process dies",
                                                   "clock rate",
                                                   "clock rate",
                                                   "clock jumps",
                                                   "FLUSHALL",
                                                   "SCRIPT FLUSH",
                                                   "another library takes the lock",
                                                   "key deleted",
                                                   "loading",
                                                   "read only",
                                                   "out of memory",
                                                   "false counters",
                                                   "floods with messages",
                                                   "sends stray replies",
                                                   "reports another's run_id",
                                                   "foreign marker",
                                                   "marker deleted",
                                                   "is a replica",
                                                   "rolled back",
                                                   "listener lost",
                                                   "may not publish"};
  return names[static_cast<std::size_t>(kind)];
}

bool concerns_client(const Fault& fault) {
  switch (fault.kind) {
    case Kind::partition:
    case Kind::deaf_node:
    case Kind::deaf_client:
    case Kind::slow:
    case Kind::cut:
    case Kind::pause:
    case Kind::pause_mid_step:
    case Kind::client_crash:
    case Kind::client_rate:
    case Kind::cut_listener:
      return true;
    default:
      return false;
  }
}

bool concerns_node(const Fault& fault) {
  switch (fault.kind) {
    case Kind::pause:
    case Kind::pause_mid_step:
    case Kind::client_crash:
    case Kind::client_rate:
      return false;
    default:
      return true;
  }
}

bool restores_old_data(const Fault& fault) {
  return fault.kind == Kind::crash_old || fault.kind == Kind::roll_back;
}

std::string describe(const Fault& fault) {
  std::string text{name_of(fault.kind)};
  if (fault.kind == Kind::delete_marker && fault.amount == Fault::quarantine_alone)
    text = "quarantine deleted";
  if (fault.kind == Kind::delete_marker && fault.amount == Fault::marker_and_quarantine)
    text = "marker and quarantine deleted";
  const auto milliseconds = [](Instant span) { return std::to_string(span / millisecond) + " ms"; };
  if (fault.kind == Kind::client_rate || fault.kind == Kind::node_rate)
    text += " " + std::to_string(fault.amount) + " ppm";
  if (fault.kind == Kind::node_jump) text += " by " + milliseconds(fault.amount);
  if (restores_old_data(fault)) text += " (" + milliseconds(fault.amount) + " old)";
  if (fault.kind == Kind::slow) text += " (+" + milliseconds(fault.amount) + ")";
  return text;
}

bool loses_copies(const Schedule& schedule) {
  constexpr Kind kinds[] = {Kind::crash_empty, Kind::crash_old, Kind::client_rate,
                            Kind::node_rate,   Kind::node_jump, Kind::flush_all,
                            Kind::replica,     Kind::roll_back, Kind::foreign_delete};
  return std::any_of(schedule.faults.begin(), schedule.faults.end(), [&](const Fault& fault) {
    return std::find(std::begin(kinds), std::end(kinds), fault.kind) != std::end(kinds);
  });
}

int gate_of(const Schedule& schedule) {
  const auto run_id = [](core::NodeIndex node) { return run_id_of(static_cast<int>(node), 0); };
  return static_cast<int>(
      *core::best_suited(static_cast<std::size_t>(schedule.nodes), line_key_of(0, schedule), run_id));
}

Instant longest_way(const Schedule& schedule) {
  const auto& fixed = schedule.link_delays;
  return schedule.delay + schedule.jitter + (fixed.empty() ? 0 : *std::ranges::max_element(fixed));
}

Schedule draw_schedule(std::uint64_t seed, Profile profile) {
  Random random{seed};
  Schedule schedule;
  schedule.seed = seed;
  schedule.profile = profile;
  schedule.nodes = random.chance(50) ? 3 : 5;
  schedule.clients = static_cast<int>(random.skewed(2, 8));
  schedule.threads = random.chance(25) ? 2 : 1;
  schedule.resources = random.chance(20) ? 2 : 1;
  schedule.ttl = std::chrono::milliseconds{random.between(20, 120)};
  schedule.drift = schedule.ttl / 100 + std::chrono::milliseconds{2};
  schedule.node_timeout = schedule.ttl / 10;
  schedule.fencing = random.chance(85);
  schedule.counters_kept = random.chance(80);
  schedule.jitter = random.skewed(10 * microsecond, 5 * millisecond);
  schedule.workload.think = random.between(10 * millisecond, 150 * millisecond);
  schedule.workload.hold = random.skewed(2 * millisecond, 2 * schedule.ttl.count() * millisecond);
  if (random.chance(15)) schedule.open_for = 3 * schedule.ttl.count() * millisecond;
  // Long enough for connections that have proved good and are replaced at once when they break.
  if (random.chance(5)) schedule.heals = 2500 * millisecond;
  if (random.chance(20)) schedule.fence_memory = {};
  schedule.guarded = random.chance(50) && profile == Profile::within;
  // The difference between two clocks stays just below what the drift allows over one ttl.
  const std::int64_t most = random.chance(50) ? schedule.drift.count() * 450'000 / schedule.ttl.count() : 0;
  for (int client = 0; client < schedule.clients; ++client) {
    schedule.client_ppm.push_back(random.between(-most, most));
    schedule.wall_offsets_us.push_back(draw_wall_offset(random));
  }
  for (int node = 0; node < schedule.nodes; ++node) {
    schedule.node_ppm.push_back(random.between(-most, most));
    schedule.node_offsets.push_back(random.between(0, second));
  }
  // Schedules with power failures have few other faults, so that there are leases to forget.
  schedule.deployed = schedule.guarded && random.chance(40);
  schedule.automatic = schedule.guarded && Random{~seed}.chance(schedule.deployed ? 25 : 50);
  const auto power_failures = schedule.deployed && !schedule.automatic ? random.between(1, 3) : 0;
  const auto faults = schedule.deployed ? random.between(3, 12) : random.between(20, 50);
  for (std::int64_t i = 0; i < power_failures; ++i) draw_power_failure(schedule, random);
  for (std::int64_t i = 0; i < faults; ++i) schedule.faults.push_back(draw_fault(schedule, random));
  draw_false_counters(schedule);
  draw_alias(schedule);
  if (random.chance(25)) schedule.faults.push_back(draw_flood(schedule, random));
  Random restarts{seed ^ 0x726f6c6cU};  // of its own, so that other schedules stay as they are
  if (schedule.guarded && restarts.chance(6)) make_rolling_restart(schedule, restarts);
  Random raises{seed ^ 0x7261697365U};
  if (schedule.guarded && schedule.calls.empty() && raises.chance(6)) make_raise(schedule, raises);
  Random first_starts{seed ^ 0x6669727374U};
  if (schedule.guarded && !schedule.deployed && schedule.calls.empty() && first_starts.chance(5))
    make_first_start(schedule, first_starts);
  const bool is_special = !schedule.calls.empty() || schedule.first_start;
  if (!is_special) draw_operators(schedule);
  if (!is_special) draw_replicas(schedule);
  if (!is_special) draw_teams(schedule);
  if (!is_special) draw_callbacks(schedule);
  if (!is_special) draw_semaphore(schedule);
  Random lines{seed ^ 0x6c696e65U};
  schedule.stands_in_line = lines.chance(50);
  if (schedule.calls.empty()) schedule.line_times = line_times_of(std::chrono::milliseconds{200});
  const bool is_about_lines = !is_special && !schedule.guarded && lines.chance(20);
  draw_strict_client(schedule);
  draw_roll_backs(schedule);
  if (!is_special) draw_hostile_node(schedule);
  if (is_about_lines && !schedule.guarded) make_line(schedule, lines);
  if (!is_special) draw_lock_delay(schedule);
  if (!is_special) draw_at_least(schedule);
  if (!is_special) draw_checks(schedule);
  if (!is_special) draw_requests(schedule);
  if (!is_special) draw_breaks(schedule);
  if (!is_special) draw_readers(schedule);
  if (!is_special) draw_joint_calls(schedule);
  draw_joint_lines(schedule);
  if (!is_special) draw_watches(schedule);
  std::stable_sort(schedule.faults.begin(), schedule.faults.end(),
                   [](const Fault& one, const Fault& other) { return one.at < other.at; });
  return schedule;
}

}  // namespace redlock::simulation
