// What is to go wrong, and when: a world's whole plan, drawn from one seed or written by hand.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

inline constexpr Instant microsecond = 1'000;
inline constexpr Instant millisecond = 1'000'000;
inline constexpr Instant second = 1'000'000'000;

/// `within`: what the algorithm assumes holds, so nothing may break. `beyond`: anything goes; tokens still increase.
enum class Profile : bool { within, beyond };

struct Fault {
  enum class Kind : std::uint8_t {
    crash,        // of a node, which keeps its data
    crash_empty,  // which comes back without data
    crash_old,    // which comes back with the data that it had `amount` earlier
    stall,        // of a node: it answers nothing, and then everything
    partition,    // both directions; of a client and a node, of all clients or of all nodes
    deaf_node,    // requests do not arrive
    deaf_client,  // replies do not arrive
    slow,         // messages take `amount` longer
    cut,    // the connection is lost; what was under way may still be executed, and is if `amount` is not 0
    pause,  // of a client, between two of its steps
    pause_mid_step,  // of a client, after it has read the clock
    client_crash,    // the process dies, and another starts
    client_rate,     // its clock runs `amount` ppm too fast
    node_rate,
    node_jump,  // its clock is set by `amount`
    flush_all,
    flush_scripts,
    foreign_take,    // another library's client takes the lock where it is free, and gives it back
    foreign_delete,  // somebody deletes the key
    loading,
    read_only,
    out_of_memory,
  };
  static constexpr int all = -1;

  Kind kind;
  Instant at;
  Instant length = 0;
  int client = all;
  int node = all;
  std::int64_t amount = 0;

  bool operator==(const Fault&) const = default;
};

[[nodiscard]] std::string_view name_of(Fault::Kind);
[[nodiscard]] bool concerns_client(const Fault&);
[[nodiscard]] bool concerns_node(const Fault&);
/// In words, for a timeline.
[[nodiscard]] std::string describe(const Fault&);

/// What one thread of a client's process does, over and over; all times are drawn up to these bounds.
struct Habits {
  Instant think = 40 * millisecond;
  Instant hold = 100 * millisecond;
  int extends = 30;  // per cent of the holds, by hand
  int renews = 40;   // per cent of the others, by themselves
  int waits = 50;    // per cent of the calls, the others try once
  int leaves = 15;   // per cent of the holds, to whoever adopts the lock
  int adopts = 50;   // per cent of the calls, where a lock was left
};

/// One call of a client, and what it does with the lock.
struct Visit {
  int client;
  Instant at;
  Instant hold;        // then it writes once, if the lease says that it is valid, and releases
  bool waits = false;  // for a second
};

struct Schedule {
  std::uint64_t seed = 0;
  Profile profile = Profile::within;
  int nodes = 3;
  int clients = 2;
  int threads = 1;  // of each client
  int resources = 1;
  std::chrono::milliseconds ttl{100};
  std::chrono::milliseconds drift{3};
  std::chrono::milliseconds node_timeout{10};
  bool fencing = true;
  bool counters_kept = true;  // whatever else a node loses
  bool guarded = false;   // clients guard restarts, strictly, so that nodes may lose their data at any moment
  bool deployed = false;  // and the nodes had their markers before the world began
  std::chrono::milliseconds fence_memory{std::chrono::hours{24}};
  Instant delay = 100 * microsecond;   // of every message, one way
  Instant jitter = 400 * microsecond;  // up to so much more
  std::vector<Instant> detours;        // and always so much, for every link: client by client, node by node
  Instant heals = 600 * millisecond;   // from then on nothing goes wrong
  Instant well_for = 0;                // then still so long, until the world closes
  Instant longest_write = 0;  // how long writes to the stores are under way; 0: what suits the profile
  Habits habits;
  std::vector<Visit> visits;             // if there are any, clients do nothing else
  bool connects_at_once = false;         // not only when the first call comes
  std::vector<std::int64_t> client_ppm;  // rate errors; none: 0
  std::vector<std::int64_t> node_ppm;
  std::vector<Instant> node_offsets;          // of the nodes' clocks; none: 0
  std::vector<std::int64_t> wall_offsets_us;  // of the clients' wall clocks
  std::vector<Fault> faults;
};

/// What was drawn for one client or node; 0 where nothing was.
[[nodiscard]] inline std::int64_t drawn_for(std::size_t index, const std::vector<std::int64_t>& drawn) {
  return index < drawn.size() ? drawn[index] : 0;
}

[[nodiscard]] Schedule draw_schedule(std::uint64_t seed, Profile profile);

}  // namespace redlock::simulation
