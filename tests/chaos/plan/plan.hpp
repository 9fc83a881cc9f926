// The faults of one run, drawn from a seed before anything starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/scenario/schedule.hpp"

namespace redlock::chaos {

using simulation::Profile;
using std::chrono::milliseconds;

enum class Kind : std::uint8_t {
  // Of a node.
  crash,           // kill -9, and a restart with all data
  crash_empty,     // …, without data
  crash_old,       // …, with a copy of its data that was made before
  stop,            // SIGSTOP, and SIGCONT
  node_clock,      // its wall clock is wrong by `amount` ms
  flush_scripts,   // SCRIPT FLUSH
  flush_all,       // FLUSHALL
  full,            // maxmemory of one byte
  sleep,           // DEBUG SLEEP
  kill_clients,    // CLIENT KILL TYPE normal
  kill_listeners,  // CLIENT KILL TYPE pubsub
  no_command,      // the ACL forbids EVALSHA and SET
  no_channel,      // the ACL forbids all channels
  replica,         // REPLICAOF the node `amount`, and REPLICAOF NO ONE
  // Of a link: the way between a node and one half of the clients.
  stall,           // nothing arrives
  deaf_node,       // commands do not arrive
  deaf_client,     // replies do not arrive
  delay,           // everything takes `amount` ms longer, each way
  throttle,        // one byte every `amount` ms, one way or both
  close,           // connections end with FIN
  reset,           // connections end with RST, and new ones are refused
  lost,            // packets are lost, where the machine can do that
  lost_to_node,    // …, those of commands
  lost_to_client,  // …, those of replies
  // Of a client.
  client_stop,   // SIGSTOP to one of its processes, and SIGCONT
  client_kill,   // kill -9 of one of its processes, and a new one
  client_clock,  // its wall clock is wrong by `amount` ms
};
[[nodiscard]] std::string_view name_of(Kind);
[[nodiscard]] std::vector<Kind> all_kinds();

enum class Place : std::uint8_t { node, link, client };
[[nodiscard]] Place place_of(Kind);
/// Whether it needs a network in which packets can be lost.
[[nodiscard]] bool loses_packets(Kind);
/// Whether the node may have forgotten what it granted, and its counters.
[[nodiscard]] bool loses_data(Kind);

/// The process of a client that a fault concerns: the client itself, or what a client starts that runs commands.
enum class Part : std::uint8_t { client, run, watchdog, command };
[[nodiscard]] std::string_view name_of(Part);

/// What a throttled link slows.
enum class Way : std::uint8_t { both, commands, replies };

struct Fault {
  Kind kind;
  milliseconds at;      // since the begin
  milliseconds length;  // until it is healed
  int target;           // the node, the client, or the link: half * nodes + node
  int amount = 0;
  Part part = Part::client;
  Way way = Way::both;

  bool operator==(const Fault&) const = default;
};

/// What a plan depends on.
struct Shape {
  std::uint64_t seed = 1;
  Profile profile = Profile::within;
  int nodes = 3;
  int clients = 1;
  int lasting = 0;             // the last ones of the clients, which are never killed
  std::vector<int> running{};  // the clients that start `redlock run`
  std::chrono::seconds length{60};
  int haste = 1;  // faults come so many times as often
  bool loses_packets = false;
  bool stops_clients = true;  // with SIGSTOP
  std::vector<Kind> only{};   // if not empty, no other faults happen
};

/// The halves of the clients, each of which has proxies of its own.
inline constexpr int halves = 2;
/// No fault lasts longer, and no clock of a node is more wrong.
inline constexpr milliseconds longest_fault{3000};
inline constexpr milliseconds largest_error{5000};

struct Plan {
  std::vector<Fault> faults;  // ordered by their begin
};

/// The same shape gives the same plan, with every compiler. Faults of one target do not overlap, those of different ones do.
///
/// Under `within` the nodes' clocks are right, and with an odd seed a minority, the same all the time, loses data: so all
/// promises hold for clients that guard restarts. Under `beyond` every node's clock is set, and with an even seed all nodes lose
/// data. Where no node loses data, the clients' clocks are set. So fencing tokens increase in all plans: all nodes keep their
/// counters, or the clocks that propose tokens go on. (One node that forgets is too many for wrong clocks: if it was one of
/// a bare majority that had acknowledged a token, it forms a majority of smaller counters with a node that had not.)
[[nodiscard]] Plan draw_plan(const Shape&);

/// Faults by which it shows whether clients guard restarts: one half never reaches the node 2, so it locks by the nodes 0 and 1.
/// Again and again the node 1 loses what it has granted, and keeps its marker. If it may vote at once, the other half can
/// have the same lock by the nodes 1 and 2. All promises hold for clients that guard restarts. Precondition: three nodes.
[[nodiscard]] Plan draw_plan_of_restarts(const Shape&);

/// "client A": as the judge names it.
[[nodiscard]] inline std::string client_name(int client) {
  return std::string{"client "} + static_cast<char>('A' + client);
}
/// "crash of node 1", "stall between node 2 and half 0", "throttle 3 of replies between node 2 and half 1", "client-kill of the
/// watchdog of client K".
[[nodiscard]] std::string describe(const Fault&, int nodes);

}  // namespace redlock::chaos
