#include "simulation/scenario/scenarios.hpp"

#include <algorithm>
#include <array>

namespace redlock::simulation {
namespace {

using Kind = Fault::Kind;

constexpr Instant ms = millisecond;
constexpr int a = 0;  // clients
constexpr int b = 1;
constexpr int c = 2;
constexpr int nodes = 3;

/// A client asks at once and gets the answer after one round trip, or two with a second round.
constexpr Expected::Grant soon(int client, Instant asked) { return {client, asked, asked + 6 * ms}; }

/// Messages take one millisecond and the clients' wall clocks show zero, so that times and tokens are easy to read.
Schedule quiet_world(int clients = 2) {
  Schedule schedule;
  schedule.clients = clients;
  schedule.ttl = std::chrono::milliseconds{300};
  schedule.drift = std::chrono::milliseconds{5};
  schedule.node_timeout = std::chrono::milliseconds{30};
  schedule.delay = ms;
  schedule.jitter = 0;
  schedule.heals = second;
  schedule.longest_write = 20 * microsecond;
  schedule.wall_offsets_us.assign(static_cast<std::size_t>(clients), -2 * epoch_us);
  return schedule;
}

/// From before the start of the scenario until its end.
Fault never_reaches(int client, int node) {
  return {
      .kind = Kind::partition, .at = -warm_up, .length = warm_up + second, .client = client, .node = node};
}

Scenario client_paused() {
  Schedule schedule = quiet_world();
  schedule.calls = {{.client = a, .at = 0, .hold = 50 * ms}, {.client = b, .at = 400 * ms, .hold = 30 * ms}};
  schedule.faults = {{.kind = Kind::pause_mid_step, .at = 51 * ms, .length = 500 * ms, .client = a}};
  return {.name = "client-paused",
          .title = "A holder is paused past the ttl, and writes when it wakes",
          .description =
              "A looks at its lease, which is valid, and is paused before its write leaves. The lease ends, "
              "B gets the lock and writes. Then A wakes, and its write goes out.",
          .verdict =
              "One holder at a time, and yet A writes after B. The store that has seen token 2 refuses token "
              "1; without tokens B's write would be lost.",
          .schedule = schedule,
          .expected = {.grants = {soon(a, 0), soon(b, 400 * ms)}, .writes_refused = 1, .writes_lost = 1}};
}

Scenario clock_jump() {
  Schedule schedule = quiet_world();
  schedule.profile = Profile::beyond;
  schedule.calls = {{.client = a, .at = 0, .hold = 250 * ms}, {.client = b, .at = 150 * ms, .hold = 40 * ms}};
  schedule.faults = {never_reaches(a, 1),
                     {.kind = Kind::node_jump, .at = 100 * ms, .node = 2, .amount = second}};
  return {.name = "clock-jump",
          .title = "The clock of a node jumps ahead",
          .description =
              "A holds the lock on nodes 1 and 3. The clock of node 3 jumps, so that A's copy there expires "
              "at once. B gets nodes 2 and 3.",
          .verdict =
              "Two holders at once: the assumption about clocks is broken. The tokens keep their order, so "
              "the store refuses A's write after B's; without them B's would be lost.",
          .schedule = schedule,
          .expected = {.grants = {soon(a, 0), soon(b, 150 * ms)},
                       .overlaps = 1,
                       .writes_refused = 1,
                       .writes_lost = 1},
          .shown_until = 260 * ms};
}

/// Node 3 comes back empty after `down`. B asks twice.
Schedule node_forgets(Instant down) {
  Schedule schedule = quiet_world();
  schedule.seed =
      1;  // with this seed the host keeps running, so clients learn at once that their connections are gone
  schedule.counters_kept = false;
  // Without counters only the clients' proposals keep the tokens in order: here the microseconds since the start.
  schedule.wall_offsets_us.assign(2, -epoch_us - warm_up / microsecond);
  schedule.calls = {{.client = a, .at = 10 * ms, .hold = 270 * ms},
                    {.client = b, .at = 200 * ms, .hold = 40 * ms},
                    {.client = b, .at = 330 * ms, .hold = 40 * ms}};
  schedule.faults = {never_reaches(a, 1),
                     {.kind = Kind::crash_empty, .at = 100 * ms, .length = down, .node = 2}};
  return schedule;
}

Scenario crash_without_persistence() {
  Schedule schedule = node_forgets(20 * ms);
  schedule.profile = Profile::beyond;
  schedule.calls.pop_back();
  return {.name = "crash-without-persistence",
          .title = "A node crashes, and is back at once without its data",
          .description =
              "A holds the lock on nodes 1 and 3. Node 3 crashes, restarts empty, and knows nothing of A. B "
              "gets nodes 2 and 3.",
          .verdict =
              "Two holders at once: a node forgot within the ttl. It has forgotten its counter, too; clients "
              "propose the time as token, and so the store refuses A's late write.",
          .schedule = schedule,
          .expected = {.grants = {soon(a, 10 * ms), soon(b, 200 * ms)},
                       .overlaps = 1,
                       .writes_refused = 1,
                       .writes_lost = 1},
          .shown_until = 290 * ms};
}

Scenario delayed_restart() {
  return {.name = "delayed-restart",
          .title = "A node crashes, and stays away until all that it forgot has ended",
          .description =
              "As before, but node 3 is kept out for longer than the ttl. B finds no majority, as long as A "
              "relies on its lock.",
          .verdict =
              "One holder at a time. B gets the lock when A has given it back. No write is refused or lost.",
          .schedule = node_forgets(320 * ms),
          .expected = {.grants = {soon(a, 10 * ms), soon(b, 330 * ms)}},
          .shown_until = 430 * ms};
}

Scenario reply_stuck() {
  Schedule schedule = quiet_world();
  schedule.node_timeout = schedule.ttl;
  schedule.calls = {{.client = a, .at = 0, .hold = 50 * ms}, {.client = b, .at = 320 * ms, .hold = 60 * ms}};
  schedule.faults = {
      never_reaches(a, 2),
      {.kind = Kind::slow, .at = ms / 2, .length = ms, .client = a, .node = 1, .amount = 350 * ms}};
  return {.name = "reply-stuck",
          .title = "The reply that makes the majority is stuck in the network",
          .description =
              "Nodes 1 and 2 grant the lock to A. The reply of node 2 arrives after the ttl, when the copies "
              "have expired and B has the lock.",
          .verdict =
              "One holder at a time. A gives up at the end of what its lock would have been good for, and "
              "the late reply makes no lock.",
          .schedule = schedule,
          .expected = {.grants = {soon(b, 320 * ms)}},
          .shown_until = 390 * ms};
}

Scenario pause_before_reply() {
  Schedule schedule = quiet_world();
  schedule.calls = {{.client = a, .at = 0, .hold = 50 * ms}, {.client = b, .at = 350 * ms, .hold = 100 * ms}};
  schedule.faults = {{.kind = Kind::pause, .at = ms * 3 / 2, .length = 400 * ms, .client = a}};
  return {.name = "pause-before-reply",
          .title = "A client is paused while the replies wait to be read",
          .description =
              "All nodes grant the lock to A, which is paused before it reads. When it reads, the copies "
              "have expired and B has the lock.",
          .verdict =
              "One holder at a time. A counts the ttl from before it asked, sees that nothing is left, and "
              "has not got the lock.",
          .schedule = schedule,
          .expected = {.grants = {soon(b, 350 * ms)}}};
}

Scenario split_vote() {
  Schedule schedule = quiet_world(nodes);
  const Instant near = 0;
  const Instant far = ms;
  schedule.link_delays = {near, far, far, far, near, far, far, far, near};
  for (const int client : {a, b, c})
    schedule.calls.push_back({.client = client, .at = 0, .hold = 5 * ms, .waits = true});
  constexpr Expected::Grant someday{Expected::anybody, 0, second};
  return {
      .name = "split-vote",
      .title = "Three clients ask at once, and each gets one node",
      .description =
          "Each client is the first at the node next to it. Nobody has a majority. All give back what they "
          "have, and try again after random times.",
      .verdict =
          "Nobody wins the first round, and nobody has to wait for a ttl: the second time they come apart.",
      .schedule = schedule,
      .expected = {.grants = {{Expected::anybody, 6 * ms, 50 * ms}, someday, someday}},
      .shown_until = 23 * ms};
}

Scenario late_set() {
  Schedule schedule = quiet_world();
  schedule.calls = {{.client = a, .at = 0, .hold = 50 * ms}, {.client = b, .at = 80 * ms, .hold = 20 * ms}};
  schedule.faults = {{.kind = Kind::slow, .at = -ms, .length = 2 * ms, .client = a, .amount = 60 * ms}};
  return {.name = "late-set",
          .title = "A lock is taken after its client has given up",
          .description =
              "A's commands are on their way for longer than A waits. They take the lock when nobody wants "
              "it any more.",
          .verdict =
              "The release follows on the same connection, so it cannot come before what it undoes. B gets "
              "the lock at once.",
          .schedule = schedule,
          .expected = {.grants = {soon(b, 80 * ms)}}};
}

Scenario late_set_on_a_lost_connection() {
  Schedule schedule = quiet_world();
  schedule.calls = {{.client = a, .at = 0, .hold = 50 * ms},
                    {.client = b, .at = 390 * ms, .hold = 20 * ms},
                    {.client = b, .at = 410 * ms, .hold = 20 * ms}};
  schedule.faults = {{.kind = Kind::slow, .at = -ms, .length = 2 * ms, .client = a, .amount = 100 * ms},
                     {.kind = Kind::cut, .at = 10 * ms, .client = a, .node = 0, .amount = 1},
                     {.kind = Kind::cut, .at = 10 * ms, .client = a, .node = 1, .amount = 1}};
  return {.name = "late-set-on-a-lost-connection",
          .title = "A lock is taken after its client has given up, on a connection that is lost",
          .description =
              "As before, but A's connections to nodes 1 and 2 break while its commands are under way, and "
              "the servers read these all the same. The releases go out on new connections, and come first.",
          .verdict =
              "The late copies on nodes 1 and 2 stay until their ttl, and for so long nobody gets the lock. "
              "Never do two hold it.",
          .schedule = schedule,
          .expected = {.grants = {soon(b, 410 * ms)}}};
}

}  // namespace

std::span<const Scenario> scenarios() {
  static const std::array all{client_paused(),   clock_jump(),  crash_without_persistence(),
                              delayed_restart(), reply_stuck(), pause_before_reply(),
                              split_vote(),      late_set(),    late_set_on_a_lost_connection()};
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  const auto all = scenarios();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const Scenario& scenario) { return scenario.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace redlock::simulation
