// Clients, nodes, the network between them, and all faults, under virtual time and from one seed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/clock/skewed_clock.hpp"
#include "simulation/judge/history.hpp"
#include "simulation/judge/judge.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/random.hpp"
#include "simulation/scenario/schedule.hpp"
#include "simulation/server/lua/scripts.hpp"
#include "simulation/server/server.hpp"
#include "simulation/world/copies.hpp"
#include "simulation/world/network.hpp"
#include "simulation/world/process.hpp"

namespace redlock::simulation {

/// The initial time of the nodes' clocks and of correct wall clocks of clients.
inline constexpr std::int64_t epoch_us = 1'790'000'000'000'000;

struct Outcome {
  Figures figures;
  std::optional<Violation> violation;  // the first
  std::vector<Judge::Lease> leases;    // in order of acquisition
};

/// Runs one schedule until no event is left.
class World final : private Surroundings {
 public:
  /// All arguments must outlive the world. `mutant` may be null.
  World(const Schedule& schedule, Interpreter& interpreter, History& history, const Mutant* mutant);
  ~World() override;

  Outcome run();

 private:
  /// A key whose next change is reported once.
  struct Armed {
    int connection;  // that has read the key
    std::string key;
  };
  struct Node {
    Server server;
    SkewedClock clock;
    int down = 0;  // number of faults that keep the node down, as for all counters here
    int stopped = 0;
    int starts = 0;
    int false_counters = 0;
    std::array<int, 3> modes{};  // loading, read only, out of memory
    bool host_is_dead = false;   // not only the process: no kernel answers for it
    Instant lost_data_at = -3600 * second;
    bool keeps_foreign_marker = false;  // what no client understands and stands in the place of the marker
    std::vector<Armed> armed{};
  };
  struct Client {
    SkewedClock clock;
    std::unique_ptr<Process> process;
    int life = 0;                  // number of processes so far
    std::vector<int> connections;  // of each line; -1: none
    Instant paused_until = 0;
    Instant pause_after_step = 0;  // duration; 0: no pause
    Instant timer = 0;             // time of the pending timer event
    bool has_unread = false;       // something has arrived that nobody reads yet
  };
  struct Write {
    int client;
    int resource;
    std::uint64_t token;
    Stores::Seen seen;
  };
  struct Due {
    enum class Kind : std::uint8_t {
      request,
      answers,
      dialled,
      closed,
      timer,
      read,
      wake,
      resume,
      successor,  // takes the place of a client
      write,
      deadline,
      overdue,
      snapshot,
      fault_begins,
      fault_ends,
      healed,
      look_for_grants,
      deletion,
      must_know,
      must_have_heard,
      must_have_nothing,
      look_at_line,
      must_know_holder,
      must_forget_holder,
      watches_end,
    };
    Instant at;
    std::uint64_t order;
    Kind kind;
    int subject;  // index of the connection, client, fault, …
    int detail;   // index of the thread
    int life;     // of the client's process
    // The earliest event comes first in a priority queue.
    bool operator<(const Due& other) const noexcept {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  // ── what processes ask for ─────────────────────────────────────────────────────────────────────────────────
  [[nodiscard]] int node_of(int client, int line) const;
  [[nodiscard]] bool listens(const Connection& connection) const;
  void dial(int client, int line) override;
  void send(int client, int line, std::string_view bytes) override;
  void send_separately(int client, int node, std::string_view bytes) override;
  void disconnect(int client, int line, bool gracefully, std::string_view last_bytes) override;
  void wake_in(int client, int what, Instant after) override;
  Instant write(int client, int resource, std::uint64_t token, const Stores::Seen& seen) override;
  void lease_prolonged(Judge::LeaseIndex lease) override;
  void lease_over(Judge::LeaseIndex lease, LeaseEnd end) override;
  Instant now() const override { return now_; }
  std::uint64_t wall_clock_us(int client) const override;
  bool is_open() const override { return is_open_; }
  std::optional<int> most_wanted() const override;
  bool awaits_grant() const override;
  bool flag_stands(int resource) const override;
  void asked(const std::string& owner) override;
  void got_nothing(std::vector<Judge::Asked> asked) override;
  void call_ended(int client) override;
  bool may_orphan() const override { return healed_at_ > now_; }
  void orphaned(int resource, Orphan orphan) override;
  const Orphan* orphan(int resource) const override;
  void note(int client, std::string_view text) override;

  // ── time ───────────────────────────────────────────────────────────────────────────────────────────────────
  void handle_all_events();
  void read_what_is_left();
  void post(Instant at, Due::Kind kind, int subject = 0, int detail = 0, int life = 0);
  void handle(const Due& due);
  [[nodiscard]] core::Time time_of(const Client& client) const {
    return core::Time{core::Span{client.clock.at(now_)}};
  }

  // ── the network ────────────────────────────────────────────────────────────────────────────────────────────
  void enqueue(int connection, std::string_view bytes);
  void pump_requests(int connection);
  void pump_answers(int connection);
  void dialled(int connection);
  void pump_all();

  // ── nodes ──────────────────────────────────────────────────────────────────────────────────────────────────
  void serve(int connection, const Connection::Request& request);
  void answer(int connection, Connection::Answers answers);
  [[nodiscard]] bool reaches_majority(int client) const;
  void repeat_change(int client, int heard, const Connection::Answers& answers);
  [[nodiscard]] bool is_unheeded_change(const Connection& listener, const Connection::Answers& answers) const;
  void execute(int connection, const std::vector<std::string_view>& words, std::vector<core::Reply>& replies);
  [[nodiscard]] bool execute_otherwise(int connection, const std::vector<std::string_view>& words,
                                       std::vector<core::Reply>& replies);
  [[nodiscard]] std::optional<core::Reply> tracking(int connection,
                                                    const std::vector<std::string_view>& words);
  void deliver_messages(int node);
  [[nodiscard]] bool may_arm(Connection& connection, std::string_view key) const;
  void arm(int connection, const std::vector<std::string_view>& words);
  void notify_change(int node, std::string_view key, int by = -1);
  void count_change(Connection& listener);
  void flood(int node);
  void send_stray_replies(int node);
  [[nodiscard]] core::Reply welcome(const Connection& connection, const std::vector<std::string_view>& words);
  void delete_by_hand(int node);
  void delete_by_hand(int node, std::string_view key);
  void delete_something(int node);
  void judge_line(const Connection& connection, const std::vector<std::string_view>& words);
  void judge_changes(int index, const std::vector<std::string_view>& words, const std::vector<Sight>& before,
                     std::int64_t at);
  void judge_copies(int resource, const std::vector<Copy>& before, const std::vector<Copy>& after,
                    const Connection& connection, const std::vector<std::string_view>& words);
  void judge_change(int resource, const Copy* before, const Copy* after, const Connection& connection,
                    const std::vector<std::string_view>& words);
  void judge_request(int index, std::string_view lock_key, const std::vector<Copy>& holders);
  [[nodiscard]] std::int64_t clock_us(const Node& node) const;
  [[nodiscard]] NodeSet copies(int resource, std::string_view owner) const;
  /// The nodes that have this holder's copy and its token as their counter. A node that it got the lock on too late to raise
  /// the counter, or after a loss of data, has another one.
  [[nodiscard]] NodeSet showing(const Judge::Lease&) const;
  void audit_all();
  /// The node has a marker with a name, of its current run.
  [[nodiscard]] bool has_its_marker(const Node& node, int team) const;
  [[nodiscard]] bool may_lose_data(const Node& node) const;
  [[nodiscard]] Keyspace keys_for_replica(const Node& replica, const Node& master) const;
  void delete_keys_of_guard(Node&, std::int64_t which);
  void lose_data(Node& node, const Keyspace& left);
  void note_request(const Connection& connection, const Connection::Request& request, Event::Kind kind);
  void note_answers(const Connection& connection, const Connection::Answers& answers, Event::Kind kind);

  // ── clients ────────────────────────────────────────────────────────────────────────────────────────────────
  [[nodiscard]] bool is_running(const Client& client) const {
    return client.process && client.paused_until <= now_;
  }
  void start_process(int client);
  void after_step(int client);
  void pause(int client, Instant until);
  void resume(int client);
  void read_all(int client);
  void fire_timer(int client);
  void look_at_timer(int client);
  void judge_loss_report(const Due& due);

  // ── faults ─────────────────────────────────────────────────────────────────────────────────────────────────
  void begin(const Fault& fault, int index);
  void end(const Fault& fault, int index);
  void crash(const Fault& fault);
  void restart(const Fault& fault, int index);
  void roll_back(Node& node, const Server& snapshot);
  void change_mode(const Fault& fault, int by);
  static void set_mode(Node& node);
  void cut(const Fault& fault);
  void kill(int client);
  template <class Change>
  void for_each_node(const Fault& fault, Change change);
  void foreign_take(const Fault& fault, int index);
  void foreign_give_back(const Fault& fault, int index);

  // ── the end ────────────────────────────────────────────────────────────────────────────────────────────────
  void healed();
  void delete_everywhere();
  void check_loss_is_reported(Judge::LeaseIndex lease);
  Instant longest_wait_here() const;
  void look_for_grants();
  void look_at_line();
  [[nodiscard]] bool judges_watches(const Judge::Lease& lease) const;
  [[nodiscard]] Instant time_to_hear() const;
  [[nodiscard]] Instant time_to_see() const;
  [[nodiscard]] Instant time_to_read_all() const;
  void check_holder_is_known(Judge::LeaseIndex lease);
  void check_holder_is_forgotten(Judge::LeaseIndex lease, bool was_gone);
  void end_watches();
  /// The client has a connection to the node.
  [[nodiscard]] bool has_dialled(int client, int node) const;
  [[nodiscard]] bool could_take(int resource, int client, bool as_reader = false) const;
  [[nodiscard]] int nodes_with(std::string_view key) const;
  [[nodiscard]] bool is_usable(const Node& node) const;
  void check_quiescence();
  void check_lines_are_over();
  void check_names();

  static constexpr Instant never = std::numeric_limits<Instant>::max();

  const Schedule& schedule_;
  History& history_;
  const Mutant* mutant_;
  Random random_;
  Network network_;
  Judge judge_;
  std::vector<Node> nodes_;
  std::vector<Client> clients_;
  std::vector<Connection> connections_;
  std::vector<Write> writes_;
  std::vector<std::optional<Orphan>> orphans_;             // the latest of each resource
  std::vector<std::optional<Server>> snapshots_;           // for each fault, of its node
  std::vector<std::optional<Judge::LeaseIndex>> foreign_;  // likewise

  std::priority_queue<Due> events_;
  std::uint64_t posted_ = 0;
  Instant now_ = 0;
  Instant calm_ = 0;        // after all faults
  Instant extra_life_ = 0;  // of copies: total time by which clocks were set back
  bool is_open_ = true;
  Instant watched_changed_at_ = 0;  // a node's copies of the watched lock
  Instant watched_touched_at_ = 0;  // they were touched by a request to their holder
  bool all_listen_ = true;          // no node has reported so many changes that a client stops listening
  std::uint64_t attempts_when_healed_ = 0;
  Instant healed_at_ = never;
  Instant free_since_ = 0;
  std::vector<std::string> asked_after_healing_;        // owner values
  std::vector<std::vector<Judge::Asked>> got_nothing_;  // by calls for all locks
  std::vector<std::string_view> words_;                 // kept for its memory
};

}  // namespace redlock::simulation
