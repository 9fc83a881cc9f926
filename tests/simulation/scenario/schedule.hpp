// The plan of a simulated world: its parameters and faults, drawn from one seed or written by hand.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/line/line_context.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/watch/holder_watch.hpp"
#include "simulation/judge/history.hpp"

namespace redlock::simulation {

inline constexpr Instant microsecond = 1'000;
inline constexpr Instant millisecond = 1'000'000;
inline constexpr Instant second = 1'000'000'000;

/// `within`: the assumptions of the algorithm hold, so every promise must hold. `beyond`: they are violated; tokens still
/// increase.
enum class Profile : bool { within, beyond };

struct Fault {
  enum class Kind : std::uint8_t {
    crash,        // a node crashes and keeps its data
    crash_empty,  // a node crashes and comes back without data; its host stays up if `amount` is not 0
    crash_old,    // a node crashes and comes back with the data that it had `amount` earlier
    stall,        // a node answers nothing for a while, then everything
    partition,    // no messages in either direction between a client and a node, all clients or all nodes
    deaf_node,    // requests do not arrive
    deaf_client,  // replies do not arrive
    slow,         // messages take `amount` longer
    cut,  // the connection is lost; commands on their way may still be executed, and are if `amount` is not 0
    pause,           // a client is paused between two steps
    pause_mid_step,  // a client is paused after it has read the clock
    client_crash,    // the process dies, and another one starts
    client_rate,     // the clock of a client runs `amount` ppm too fast
    node_rate,
    node_jump,  // the clock of a node is changed by `amount`
    flush_all,
    flush_scripts,
    foreign_take,    // a client of another library takes the lock on nodes where it is free, and releases it
    foreign_delete,  // the key is deleted by hand
    loading,
    read_only,
    out_of_memory,
    false_counters,  // a node answers grants with a counter near 2^53; its own counter is right
    flood,           // a node reports again and again that all keys were changed
    stray_replies,   // a node sends replies on connections on which no command waits for one
    false_run_id,    // a node reports the run_id of the next one
    foreign_marker,  // a node's marker is overwritten with what `amount` says, and deleted afterwards
    delete_marker,   // a node's marker is deleted, its quarantine, or both, as `amount` says
    replica,         // a node is a replica of another one, and then a master again, with that one's data
    roll_back,  // as crash_old, but unnoticed: the server is a snapshot of a running machine, with its run_id
    cut_listener,  // the connection for messages is lost
    no_publish,    // the ACL of a node forbids PUBLISH
  };
  static constexpr int all = -1;
  // What can stand in a marker's place.
  static constexpr std::int64_t no_marker = 0;
  static constexpr std::int64_t of_more_nodes = 1;
  static constexpr std::int64_t of_another_deployment = 2;
  // What is deleted. An operator deletes a quarantine alone only when all locks that the node forgot have ended.
  static constexpr std::int64_t marker_alone = 0;
  static constexpr std::int64_t marker_and_quarantine = 1;
  static constexpr std::int64_t quarantine_alone = 2;
  static_assert(no_marker == marker_alone && of_another_deployment == quarantine_alone, "drawn alike");

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
/// Whether the node comes back with the data that it had `amount` earlier.
[[nodiscard]] bool restores_old_data(const Fault&);
/// The text for a timeline.
[[nodiscard]] std::string describe(const Fault&);

/// What one thread of a client process does repeatedly. All times are drawn up to these bounds.
struct Workload {
  Instant think = 40 * millisecond;
  Instant hold = 100 * millisecond;
  int extends = 30;  // percentage of holds with explicit extensions
  int renews = 40;   // percentage of the other holds, with automatic renewal
  int waits = 50;    // percentage of calls that wait; the others try once
  int orphans = 15;  // percentage of holds that orphan the lock
  int adopts = 50;   // percentage of calls that adopt, if there is an orphaned lock
  int cancels = 0;   // percentage of calls that are cancelled after any time
  Instant longest_wait = second;
  int reads = 0;            // percentage of calls that are readers'
  int short_reads = 0;      // percentage of these whose ttl is half as long
  int together = 0;         // percentage of calls for all locks at once, but no seats
  int requests = 0;         // percentage of calls that ask a holder for its lock instead
  int breaks = 0;           // percentage of calls that take one of the last leases from its holder instead
  int checks = 0;           // percentage of calls that check one of the last leases instead, whoever holds it
  int releases_others = 0;  // percentage of reports of a loss that release another lease of the process
};

/// One scheduled call of a client, and what it does with the lock.
struct ScheduledCall {
  int client;
  Instant at;
  Instant hold = 0;                 // afterwards it writes once if the lease is valid, and releases
  bool waits = false;               // up to one second
  std::chrono::milliseconds ttl{};  // 0: the schedule's
  bool raises = false;              // an operator raises `max_ttl` to the schedule's ttl instead
  bool shared = false;              // a reader's, which reads again in place of the write
  bool renews = false;              // the lease renews itself and is watched
};

inline constexpr int most_seats = 4;
inline constexpr int most_resources = most_seats + 2;

struct Schedule {
  std::uint64_t seed = 0;
  Profile profile = Profile::within;
  int nodes = 3;
  int clients = 2;
  int threads = 1;    // of each client
  int resources = 1;  // the seats of the semaphore, then locks
  int seats = 0;      // of the semaphore; 0: there is none
  int observer =
      -1;  // all clients watch who has the last lock, and this one does nothing else; -1: nobody does
  std::chrono::milliseconds ttl{100};
  std::chrono::milliseconds lock_delay{};  // part of `ttl`
  std::chrono::milliseconds at_least{};    // each call draws a time up to this
  std::chrono::milliseconds drift{3};
  std::chrono::milliseconds node_timeout{10};
  bool fencing = true;
  bool counters_kept = true;  // nodes never lose their counters
  bool two_teams =
      false;  // every second client locks the second resource, and has another key prefix and only three nodes
  bool stands_in_line = false;  // clients that wait do so in the order of their calls
  bool is_about_lines = false;  // few faults, so that what is promised to those who wait can be judged
  core::LineTimes line_times;
  bool guarded = false;  // clients use the restart guard, so nodes may lose their data
  bool automatic =
      false;  // the guard is not strict, so a node loses its data only while another one has its marker
  int strict_client = -1;                           // a strict client among others that are not; -1: none
  bool deployed = false;                            // the nodes have their markers from the beginning
  std::chrono::milliseconds first_max_ttl{};        // in these markers; 0: `ttl`
  std::vector<std::chrono::milliseconds> max_ttls;  // options of the clients; `ttl` for missing elements
  bool first_start = false;                         // all nodes are new, and some of them come late
  bool brief_clients = false;  // every second client lives for one call, and another one follows
  bool one_node_is_steady =
      false;       // a node loses its data only while another one has had its marker for seconds
  int alias = -1;  // this node's name leads to the first node, so its own server is never asked; -1: none
  std::chrono::milliseconds fence_memory{std::chrono::hours{24}};
  Instant delay = 100 * microsecond;   // of every message, one way
  Instant jitter = 400 * microsecond;  // random additional delay, up to this
  std::vector<Instant> link_delays;    // fixed additional delay of each link: client by client, node by node
  Instant heals = 600 * millisecond;   // end of all faults
  Instant open_for = 0;       // time after the end of all faults in which clients still begin new calls
  Instant longest_write = 0;  // longest duration of a write to the stores; 0: depends on the profile
  Workload workload;
  std::vector<ScheduledCall> calls;      // if not empty, clients make only these calls
  bool reads_on_demand = false;          // like the library's shell: see `Process::reads`
  bool connects_at_once = false;         // instead of with the first call
  std::vector<std::int64_t> client_ppm;  // rate errors; 0 for missing elements
  std::vector<std::int64_t> node_ppm;
  std::vector<Instant> node_offsets;          // offsets of the nodes' clocks; 0 for missing elements
  std::vector<std::int64_t> wall_offsets_us;  // offsets of the clients' wall clocks
  std::vector<Fault> faults;
};

/// Whether nodes lose copies of locks that nobody has released, or let them expire at another time.
[[nodiscard]] bool loses_copies(const Schedule&);

/// The team of a client or of a resource: 0 or 1.
[[nodiscard]] inline int team_of(int client_or_resource, const Schedule& schedule) {
  return schedule.two_teams ? client_or_resource % 2 : 0;
}
[[nodiscard]] inline int teams_of(const Schedule& schedule) { return schedule.two_teams ? 2 : 1; }
/// How many nodes a team uses: the first ones.
[[nodiscard]] inline int nodes_of_team(int team, const Schedule& schedule) {
  return team == 0 ? schedule.nodes : 3;
}
/// How many nodes a client or a resource has.
[[nodiscard]] inline int nodes_of(int client_or_resource, const Schedule& schedule) {
  return nodes_of_team(team_of(client_or_resource, schedule), schedule);
}

[[nodiscard]] inline bool is_seat(int resource, const Schedule& schedule) {
  return resource < schedule.seats;
}
/// The number of locks that are no seats.
[[nodiscard]] inline int locks_of(const Schedule& schedule) { return schedule.resources - schedule.seats; }
/// The first resource with the same line. All seats have one.
[[nodiscard]] inline int line_of(int resource, const Schedule& schedule) {
  return is_seat(resource, schedule) ? 0 : resource;
}
inline constexpr std::string_view semaphore = "r";
[[nodiscard]] inline std::string key_of(int resource, const Schedule& schedule) {
  if (is_seat(resource, schedule))
    return core::seat_key(core::line_of_seats(semaphore), static_cast<std::size_t>(resource));
  return std::string{"r"} + static_cast<char>('0' + resource);
}
[[nodiscard]] inline std::string line_key_of(int resource, const Schedule& schedule) {
  return is_seat(resource, schedule) ? core::line_of_seats(semaphore) : key_of(resource, schedule);
}

/// How long watches wait: a tenth of the library's times, as the ttls are short as well.
inline constexpr core::WatchTimes watch_times{.settling = std::chrono::microseconds{700},
                                              .before_others = std::chrono::microseconds{2500}};

/// The lock that clients watch, if they watch any.
[[nodiscard]] inline int watched_lock(const Schedule& schedule) { return schedule.resources - 1; }

/// Whether readers use this lock. A seat has one holder, and so has the lock that clients watch.
[[nodiscard]] inline bool is_for_readers(int resource, const Schedule& schedule) {
  return !is_seat(resource, schedule) && (schedule.observer < 0 || resource != watched_lock(schedule));
}

/// The value drawn for one client or node, or 0.
[[nodiscard]] inline std::int64_t drawn_for(std::size_t index, const std::vector<std::int64_t>& drawn) {
  return index < drawn.size() ? drawn[index] : 0;
}

/// The run_id of a node that was started again `starts` times.
[[nodiscard]] inline std::string run_id_of(int node, int starts) {
  return "run-" + std::to_string(node) + "-" + std::to_string(starts);
}

/// The node that orders the line of the first resource as long as all nodes are well.
[[nodiscard]] int gate_of(const Schedule& schedule);
/// How long a message takes at most, without faults.
[[nodiscard]] Instant longest_way(const Schedule& schedule);

[[nodiscard]] Schedule draw_schedule(std::uint64_t seed, Profile profile);

}  // namespace redlock::simulation
