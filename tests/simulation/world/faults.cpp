// The faults of the world.
#include <algorithm>
#include <utility>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/wire/marker.hpp"
#include "simulation/world/world.hpp"

namespace redlock::simulation {

using Kind = Fault::Kind;

namespace {

std::string_view value_of(const std::string& key, const Keyspace& keys) {
  const auto found = keys.find(key);
  return found == keys.end() ? std::string_view{} : found->second.value;
}

void remove_readers(const std::string& lock_key, Keyspace& keys) {
  if (value_of(lock_key, keys) == core::held_by_readers) keys.erase(lock_key);
  std::erase_if(
      keys, [all = core::readers_key(lock_key)](const auto& entry) { return entry.first.starts_with(all); });
}

/// What stands in the place of a node's marker.
std::string foreign_marker(std::int64_t kind, const Schedule& schedule) {
  if (kind == Fault::no_marker) return "what another program stored";
  const auto more = kind == Fault::of_more_nodes ? 2U : 0U;
  return core::Marker{.deployment = core::name_of({"elsewhere"}),
                      .nodes = static_cast<std::size_t>(schedule.nodes) + more,
                      .limits = {schedule.ttl, schedule.ttl},
                      .node = core::name_of({"a node elsewhere"}),
                      .run_id = "run-elsewhere"}
      .text();
}
bool is_foreign(const Entry& marker, const Schedule& schedule) {
  for (auto kind = Fault::no_marker; kind <= Fault::of_another_deployment; ++kind)
    if (marker.value == foreign_marker(kind, schedule)) return true;
  return false;
}

std::string foreign_owner(int fault) { return "another library's value " + std::to_string(fault); }

}  // namespace

template <class Change>
void World::for_each_node(const Fault& fault, Change change) {
  for (std::size_t index = 0; index < nodes_.size(); ++index)
    if (fault.node == Fault::all || fault.node == static_cast<int>(index))
      change(nodes_[index], static_cast<int>(index));
}

void World::begin(const Fault& fault, int index) {
  if (history_.kept() && now_ == fault.at)
    history_.add({Event::Kind::fault, now_, now_ + fault.length, concerns_client(fault) ? fault.client : -1,
                  concerns_node(fault) ? fault.node : -1, describe(fault)});
  judge_.lines().disturbed(fault, now_);
  Client& client = clients_[static_cast<std::size_t>(std::max(fault.client, 0))];
  switch (fault.kind) {
    case Kind::crash:
    case Kind::crash_empty:
    case Kind::crash_old:
    case Kind::roll_back:
      return crash(fault);
    case Kind::stall:
      return for_each_node(fault, [](Node& node, int) { ++node.stopped; });
    case Kind::partition:
    case Kind::deaf_node:
    case Kind::deaf_client:
      return network_.block(fault, 1);
    case Kind::slow:
      return network_.slow_down(fault, 1);
    case Kind::cut:
    case Kind::cut_listener:
      return cut(fault);
    case Kind::no_publish:
      return for_each_node(fault, [](Node& node, int) { node.server.set_acl({.forbidden = {"publish"}}); });
    case Kind::pause:
      if (client.process) pause(fault.client, now_ + fault.length);
      return;
    case Kind::pause_mid_step:
      client.pause_after_step = fault.length;
      return;
    case Kind::client_crash:
      return kill(fault.client);
    case Kind::client_rate:
      client.clock.set_rate(now_, fault.amount);
      return look_at_timer(fault.client);
    case Kind::node_rate:
      return for_each_node(fault, [&](Node& node, int) { node.clock.set_rate(now_, fault.amount); });
    case Kind::node_jump:
      extra_life_ += std::max<Instant>(-fault.amount, 0);
      return for_each_node(fault, [&](Node& node, int) { node.clock.jump(fault.amount); });
    case Kind::flush_all:
      for_each_node(fault, [&](Node& node, int) {
        if (may_lose_data(node)) lose_data(node, {});
      });
      return audit_all();
    case Kind::flush_scripts:
      return for_each_node(fault, [&](Node& node, int) {
        const std::string_view words[] = {"SCRIPT", "FLUSH"};
        node.server.execute(words, clock_us(node));
      });
    case Kind::foreign_take:
      return foreign_take(fault, index);
    case Kind::foreign_delete:
      if (now_ + 3 * millisecond < fault.at + fault.length)  // repeats
        post(now_ + random_.between(100 * microsecond, 3 * millisecond), Due::Kind::fault_begins, index);
      for_each_node(fault, [&](Node&, int which) { delete_something(which); });
      return audit_all();
    case Kind::flood:
      if (now_ + 3 * millisecond < fault.at + fault.length)  // repeats
        post(now_ + random_.between(100 * microsecond, 3 * millisecond), Due::Kind::fault_begins, index);
      return flood(fault.node);
    case Kind::stray_replies:
      if (now_ + 3 * millisecond < fault.at + fault.length)  // repeats
        post(now_ + random_.between(100 * microsecond, 3 * millisecond), Due::Kind::fault_begins, index);
      return send_stray_replies(fault.node);
    case Kind::false_run_id:
      return for_each_node(fault, [&](Node& node, int which) {
        node.server.pose_as(&nodes_[static_cast<std::size_t>(which + 1) % nodes_.size()].server);
      });
    case Kind::loading:
    case Kind::read_only:
    case Kind::out_of_memory:
      return change_mode(fault, 1);
    case Kind::false_counters:
      return for_each_node(fault, [](Node& node, int) { ++node.false_counters; });
    case Kind::foreign_marker:
      return for_each_node(fault, [&](Node& node, int) {
        Keyspace keys = node.server.keys();
        keys[std::string{core::marker_key}] = {.value = foreign_marker(fault.amount, schedule_)};
        node.server.replace_keys(std::move(keys));
        node.keeps_foreign_marker = fault.amount != Fault::of_another_deployment;
      });
    case Kind::delete_marker:
      return for_each_node(fault, [&](Node& node, int) {
        const bool is_over = now_ - node.lost_data_at > 2 * schedule_.ttl.count() * millisecond;
        if (fault.amount == Fault::quarantine_alone ? is_over : may_lose_data(node))
          delete_keys_of_guard(node, fault.amount);
      });
    case Kind::replica:
      return change_mode(fault, 1);
  }
}

void World::end(const Fault& fault, int index) {
  judge_.lines().disturbed(fault, now_);
  switch (fault.kind) {
    case Kind::crash:
    case Kind::crash_empty:
    case Kind::crash_old:
    case Kind::roll_back:
      return restart(fault, index);
    case Kind::stall:
      for_each_node(fault, [](Node& node, int) { --node.stopped; });
      return pump_all();
    case Kind::partition:
    case Kind::deaf_node:
    case Kind::deaf_client:
      network_.block(fault, -1);
      return pump_all();
    case Kind::slow:
      return network_.slow_down(fault, -1);
    case Kind::client_crash:
      if (!clients_[static_cast<std::size_t>(fault.client)].process) start_process(fault.client);
      return;
    case Kind::client_rate:
      clients_[static_cast<std::size_t>(fault.client)].clock.set_rate(
          now_, drawn_for(static_cast<std::size_t>(fault.client), schedule_.client_ppm));
      return look_at_timer(fault.client);
    case Kind::node_rate:
      return for_each_node(fault, [&](Node& node, int which) {
        node.clock.set_rate(now_, drawn_for(static_cast<std::size_t>(which), schedule_.node_ppm));
      });
    case Kind::foreign_take:
      return foreign_give_back(fault, index);
    case Kind::loading:
    case Kind::read_only:
    case Kind::out_of_memory:
      return change_mode(fault, -1);
    case Kind::false_counters:
      return for_each_node(fault, [](Node& node, int) { --node.false_counters; });
    case Kind::false_run_id:
      return for_each_node(fault, [](Node& node, int) { node.server.pose_as(nullptr); });
    case Kind::foreign_marker:
      return for_each_node(fault, [&](Node& node, int) {
        const Entry* const marker = node.server.find(core::marker_key, clock_us(node));
        const bool is_left = marker && is_foreign(*marker, schedule_);
        if (node.keeps_foreign_marker && !is_left)
          judge_.report(Rule::ownership, now_, "a client replaced what it does not understand by a marker");
        if (is_left) delete_keys_of_guard(node, Fault::marker_alone);
      });
    case Kind::replica:
      for_each_node(fault, [&](Node& node, int which) {
        if (!may_lose_data(node)) return;
        lose_data(node, keys_for_replica(node, nodes_[static_cast<std::size_t>(which + 1) % nodes_.size()]));
        node.server.promote();
        for (int resource = 0; resource < schedule_.resources; ++resource)
          for (const Copy& copy : copies_on(node.server, key_of(resource, schedule_), clock_us(node)))
            judge_.copied(copy.owner, which);
      });
      audit_all();
      return change_mode(fault, -1);
    case Kind::no_publish:
      return for_each_node(fault, [](Node& node, int) { node.server.set_acl({}); });
    case Kind::cut:
    case Kind::cut_listener:
    case Kind::pause:
    case Kind::pause_mid_step:
    case Kind::node_jump:
    case Kind::flush_all:
    case Kind::flush_scripts:
    case Kind::foreign_delete:
    case Kind::flood:
    case Kind::stray_replies:
    case Kind::delete_marker:
      return;
  }
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────────

/// Closes all connections. Clients learn of it unless the whole host is down.
void World::crash(const Fault& fault) {
  Node& node = nodes_[static_cast<std::size_t>(fault.node)];
  ++node.down;
  const bool host_stays_up = fault.kind == Kind::crash_empty && fault.amount != 0;
  node.host_is_dead = random_.chance(40) && !host_stays_up;
  node.armed.clear();
  for (std::size_t at = 0; at < connections_.size(); ++at) {
    Connection& connection = connections_[at];
    if (connection.node != fault.node) continue;
    connection.node_open = false;
    if (!node.host_is_dead && connection.made)
      post(now_ + schedule_.delay + random_.skewed(0, schedule_.jitter), Due::Kind::closed,
           static_cast<int>(at));
  }
}

/// The node loses its data when it comes back, as it answers nothing before. If it is rolled back, it also has the run_id and
/// the uptime of the snapshot.
void World::restart(const Fault& fault, int index) {
  Node& node = nodes_[static_cast<std::size_t>(fault.node)];
  const bool loses = may_lose_data(node);
  if (fault.kind == Kind::crash_empty && loses) lose_data(node, {});
  const std::optional<Server>& snapshot = snapshots_[static_cast<std::size_t>(index)];
  if (fault.kind == Kind::crash_old && loses) lose_data(node, snapshot.value().keys());
  if (fault.kind == Kind::roll_back) roll_back(node, snapshot.value());
  audit_all();
  if (--node.down > 0 || fault.kind == Kind::roll_back) return;
  // The steady node was cut off and goes on: a restart would end its marker.
  if (schedule_.one_node_is_steady && !loses) return;
  ++node.starts;
  const std::string run_id = run_id_of(fault.node, node.starts);
  node.server.restart(Keyspace{node.server.keys()}, run_id, clock_us(node));
  node.modes = {};
}

void World::roll_back(Node& node, const Server& snapshot) {
  lose_data(node, snapshot.keys());
  Keyspace kept = node.server.keys();
  node.server = snapshot;
  node.server.disconnect_all();
  node.server.replace_keys(std::move(kept));
  set_mode(node);
}

/// With several modes at once the first one applies. A replica is read-only.
void World::change_mode(const Fault& fault, int by) {
  const Kind mode_of_fault = fault.kind == Kind::replica ? Kind::read_only : fault.kind;
  const auto kind = static_cast<std::size_t>(mode_of_fault) - static_cast<std::size_t>(Kind::loading);
  for_each_node(fault, [&](Node& node, int) {
    node.modes[kind] = std::max(node.modes[kind] + by, 0);  // a restart may already have ended the mode
    set_mode(node);
  });
}

void World::set_mode(Node& node) {
  constexpr std::array modes{Server::Mode::loading, Server::Mode::read_only, Server::Mode::out_of_memory};
  Server::Mode mode = Server::Mode::serving;
  for (std::size_t at = modes.size(); at-- > 0;)
    if (node.modes[at] > 0) mode = modes[at];
  node.server.set_mode(mode);
}

bool World::has_its_marker(const Node& node, int team) const {
  const Entry* const entry = node.server.find(marker_keys_of(team).marker, clock_us(node));
  const auto marker = entry ? core::Marker::parse(entry->value) : std::nullopt;
  return marker && marker->is_named() && marker->run_id == node.server.run_id();
}

/// The policy `automatic` does not cover the loss of all markers. So another node must have its marker for each team. In a
/// rolling restart the holder must have seen to that.
/// In a raise it must have had that marker for so long that all clients have read it: those that are connected to no such
/// node know only their own options.
bool World::may_lose_data(const Node& node) const {
  if (!schedule_.automatic || schedule_.reads_on_demand) return true;
  const Instant steady_since = schedule_.one_node_is_steady ? now_ - 8 * second : now_;
  const auto another_has_marker = [&](int team) {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& other) {
      return &other != &node && other.down == 0 && other.lost_data_at <= steady_since &&
             has_its_marker(other, team);
    });
  };
  for (int team = 0; team < teams_of(schedule_); ++team)
    if (!another_has_marker(team)) return false;
  return true;
}

/// Keys keep their ttl. (Redis copies the time at which they expire; the wall clocks here differ by up to a second.)
Keyspace World::keys_for_replica(const Node& replica, const Node& master) const {
  Keyspace keys = master.server.keys();
  const std::int64_t ahead_ms = (clock_us(replica) - clock_us(master)) / 1000;
  for (auto& [key, entry] : keys)
    if (entry.expires_ms >= 0) entry.expires_ms += ahead_ms;
  return keys;
}

void World::delete_keys_of_guard(Node& node, std::int64_t which) {
  Keyspace keys = node.server.keys();
  if (which != Fault::marker_alone) keys.erase(std::string{core::quarantine_key});
  if (which != Fault::quarantine_alone) {
    keys.erase(std::string{core::marker_key});
    node.keeps_foreign_marker = false;
  }
  node.server.replace_keys(std::move(keys));
}

/// Keeps the counters if the schedule says so. No real server has newer counters than other data, so readers whose counter
/// was raised since do not return: others would join them with the token of a writer that came after them. A foreign marker,
/// which somebody has deleted since, does not return either.
void World::lose_data(Node& node, const Keyspace& left) {
  node.lost_data_at = now_;
  node.keeps_foreign_marker = false;
  Keyspace kept = left;
  if (const auto marker = kept.find(core::marker_key);
      marker != kept.end() && is_foreign(marker->second, schedule_))
    kept.erase(marker);
  const auto is_counter = [](const auto& entry) { return entry.first.starts_with("redlock:f"); };
  if (schedule_.counters_kept) {
    std::erase_if(kept, is_counter);
    for (const auto& entry : node.server.keys())
      if (is_counter(entry)) kept.insert(entry);
    for (int resource = 0; resource < schedule_.resources; ++resource) {
      const std::string key = key_of(resource, schedule_);
      if (value_of(core::counter_key(key), left) != value_of(core::counter_key(key), kept))
        remove_readers(key, kept);
    }
  }
  node.server.replace_keys(std::move(kept));
}

void World::foreign_take(const Fault& fault, int index) {
  const std::string key = key_of(0, schedule_);
  const std::string owner = foreign_owner(index);
  const std::string ttl = std::to_string(schedule_.ttl.count());
  int granted = 0;
  for_each_node(fault, [&](Node& node, int which) {
    if (node.down > 0 || node.stopped > 0) return;
    const std::string_view words[] = {"SET", key, owner, "NX", "PX", ttl};
    if (!node.server.execute(words, clock_us(node)).is(core::Reply::Kind::status)) return;
    ++granted;
    judge_.copied(owner, which);
  });
  if (granted < static_cast<int>(core::quorum(nodes_.size()))) return;
  const Instant validity = (schedule_.ttl - schedule_.drift).count() * millisecond;
  foreign_[static_cast<std::size_t>(index)] =
      judge_.begin({.resource = 0,
                    .client = -1,
                    .owner = owner,
                    .token = 0,
                    .invoked = now_,
                    .begun = now_,
                    .deadline = now_ + std::min(validity, fault.length)},
                   now_);
}

void World::foreign_give_back(const Fault& fault, int index) {
  const std::string owner = foreign_owner(index);
  if (const auto lease = foreign_[static_cast<std::size_t>(index)]) lease_over(*lease, LeaseEnd::given_back);
  for_each_node(fault, [&](Node& node, int which) {
    const Entry* entry = node.server.find(key_of(0, schedule_), clock_us(node));
    if (node.down == 0 && node.stopped == 0 && entry && entry->value == owner) delete_by_hand(which);
  });
}

// ── clients ─────────────────────────────────────────────────────────────────────────────────────────────────

/// The node may still receive the first of the requests on their way. No answers arrive.
void World::cut(const Fault& fault) {
  if (fault.node >= nodes_of(fault.client, schedule_)) return;
  const int line =
      fault.kind == Kind::cut_listener ? fault.node + nodes_of(fault.client, schedule_) : fault.node;
  const int index =
      clients_[static_cast<std::size_t>(fault.client)].connections[static_cast<std::size_t>(line)];
  if (index < 0) return;
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  connection.cut = true;
  for (const Connection::Answers& answers : connection.answers)
    note_answers(connection, answers, Event::Kind::lost);
  connection.answers.clear();
  if (fault.amount == 0 && random_.chance(50)) {
    connection.loses_requests = true;
    if (!connection.requests.empty()) connection.requests.resize(random_.next() % connection.requests.size());
  }
  post(now_ + schedule_.delay + random_.skewed(0, schedule_.jitter), Due::Kind::closed, index);
}

void World::kill(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  client.process.reset();
  client.paused_until = 0;
  client.pause_after_step = 0;
  client.has_unread = false;
  for (int& connection : client.connections) {
    if (connection >= 0) connections_[static_cast<std::size_t>(connection)].client_open = false;
    connection = -1;
  }
}

}  // namespace redlock::simulation
