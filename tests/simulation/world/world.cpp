#include "simulation/world/world.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/wire/marker.hpp"

namespace redlock::simulation {

namespace {

/// A node that has the run_id of another one is refused, and asked again after ten seconds at the earliest.
Instant longest_refusal(const Schedule& schedule) {
  const bool any_false_run_id = std::ranges::any_of(
      schedule.faults, [](const Fault& each) { return each.kind == Fault::Kind::false_run_id; });
  return any_false_run_id ? 10 * second : 0;
}

/// Upper bound on the time from the last fault until a client gets a free lock: copies of dead clients expire, hung connections
/// are given up, new ones are made, contenders stop splitting the vote, and dead members of a line are stepped over. With the restart guard, nodes without data may
/// still have to be detected, twice, and wait.
Instant longest_wait(const Schedule& schedule) {
  const Instant ttl = schedule.ttl.count() * millisecond;
  const core::Span dead_member = schedule.line_times.life + 2 * schedule.line_times.look_pause;
  return 2 * ttl + 500 * millisecond + (schedule.stands_in_line ? dead_member.count() : 0) +
         (schedule.guarded ? 2 * ttl + second : 0) + longest_refusal(schedule);
}

/// The keys of a node that was deployed before the start of the world.
Keyspace marked(int node, const Schedule& schedule, const std::string& run_id) {
  const auto max_ttl = schedule.first_max_ttl.count() > 0 ? schedule.first_max_ttl : schedule.ttl;
  Keyspace keys;
  for (int team = 0; team < teams_of(schedule); ++team) {
    const int nodes = nodes_of_team(team, schedule);
    const core::Marker marker{.deployment = core::name_of({}),
                              .nodes = static_cast<std::size_t>(nodes),
                              .limits = {max_ttl, max_ttl},
                              .node = core::name_of({run_id}),
                              .run_id = run_id};
    if (node < nodes) keys[marker_keys_of(team).marker] = {.value = marker.text()};
  }
  return keys;
}

}  // namespace

World::World(const Schedule& schedule, Interpreter& interpreter, History& history, const Mutant* mutant)
    : schedule_{schedule},
      history_{history},
      mutant_{mutant},
      random_{schedule.seed ^ 0x776f726c64U},
      network_{schedule, Random{schedule.seed ^ 0x6e6574U}},
      judge_{schedule,
             {.is_valid =
                  [this](int client, Instant deadline) {
                    if (client < 0) return now_ < deadline;
                    return clients_[static_cast<std::size_t>(client)].clock.at(now_) < deadline;
                  },
              .copies = [this](int resource, std::string_view owner) { return copies(resource, owner); }},
             !mutant || mutant->names_seats()},
      clients_(static_cast<std::size_t>(schedule.clients)),
      orphans_(static_cast<std::size_t>(schedule.resources)),
      snapshots_(schedule.faults.size()),

      foreign_(schedule.faults.size()) {
  for (std::size_t node = 0; node < static_cast<std::size_t>(schedule.nodes); ++node) {
    const std::string run_id = run_id_of(static_cast<int>(node), 0);
    nodes_.push_back({Server{interpreter, run_id}, SkewedClock{drawn_for(node, schedule.node_offsets),
                                                               drawn_for(node, schedule.node_ppm)}});
    if (schedule.deployed)
      nodes_.back().server.replace_keys(marked(static_cast<int>(node), schedule, run_id));
    if (!mutant) continue;
    for (const Mutant::Patch& patch : mutant->patches())
      nodes_.back().server.patch(*patch.original, patch.source);
  }
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    clients_[client].clock = SkewedClock{100 * second, drawn_for(client, schedule.client_ppm)};
    clients_[client].connections.assign(2 * nodes_.size(), -1);
  }
}

World::~World() = default;

Outcome World::run() {
  calm_ = schedule_.heals;
  for (std::size_t index = 0; index < schedule_.faults.size(); ++index) {
    const Fault& fault = schedule_.faults[index];
    post(fault.at, Due::Kind::fault_begins, static_cast<int>(index));
    post(fault.at + fault.length, Due::Kind::fault_ends, static_cast<int>(index));
    if (restores_old_data(fault))
      post(std::max<Instant>(fault.at - fault.amount, 0), Due::Kind::snapshot, static_cast<int>(index));
    calm_ = std::max(calm_, fault.at + fault.length);
  }
  post(calm_ + 1, Due::Kind::healed);
  if (schedule_.is_about_lines) post(0, Due::Kind::look_at_line);
  for (int client = 0; client < schedule_.clients; ++client) start_process(client);
  handle_all_events();
  if (schedule_.reads_on_demand && !judge_.violation()) read_what_is_left();
  // A client that watches the lock is told of changes that were before its reads, too, and may ask in vain after each.
  if (schedule_.observer < 0)
    judge_.lines().judge_attempts(judge_.figures().extensions + judge_.figures().kept +
                                      judge_.figures().shared + judge_.figures().requests,
                                  now_);
  if (!judge_.violation()) check_quiescence();
  judge_.judge_stores(now_);
  Figures& figures = judge_.figures();
  figures.schedules = 1;
  figures.faults = schedule_.faults.size();
  figures.bypasses = judge_.lines().bypasses();
  clients_.clear();  // ends the leases of processes that still hold locks
  return {judge_.figures(), judge_.violation(), judge_.leases()};
}

// ── time ────────────────────────────────────────────────────────────────────────────────────────────────────

/// Clients that read on demand have left replies unread.
void World::read_what_is_left() {
  for (int client = 0; client < schedule_.clients; ++client) {
    clients_[static_cast<std::size_t>(client)].process->read_always();
    read_all(client);
    after_step(client);
  }
  handle_all_events();
}

void World::handle_all_events() {
  while (!events_.empty() && !judge_.violation()) {
    const Due due = events_.top();
    events_.pop();
    now_ = due.at;
    if (now_ > calm_ + 60 * second)
      return judge_.report(Rule::quiescence, now_, "the clients do not come to rest");
    handle(due);
  }
}

void World::post(Instant at, Due::Kind kind, int subject, int detail, int life) {
  events_.push({at, posted_++, kind, subject, detail, life});
}

void World::handle(const Due& due) {
  const auto index = static_cast<std::size_t>(due.subject);
  switch (due.kind) {
    case Due::Kind::request:
      return pump_requests(due.subject);
    case Due::Kind::answers:
      return pump_answers(due.subject);
    case Due::Kind::dialled:
      return dialled(due.subject);
    case Due::Kind::closed:
      connections_[index].closing = true;
      return pump_answers(due.subject);
    case Due::Kind::timer:
      return fire_timer(due.subject);
    case Due::Kind::read:
      return read_all(due.subject);
    case Due::Kind::wake: {
      Client& client = clients_[index];
      if (client.life != due.life || !client.process) return;
      if (client.paused_until > now_)
        return post(client.paused_until, due.kind, due.subject, due.detail, due.life);
      client.process->wake(due.detail, time_of(client));
      return after_step(due.subject);
    }
    case Due::Kind::resume:
      return resume(due.subject);
    case Due::Kind::successor:
      if (clients_[index].life != due.life || !clients_[index].process) return;
      kill(due.subject);
      return start_process(due.subject);
    case Due::Kind::write: {
      const Write& write = writes_[index];
      const auto written = judge_.stores(write.resource).write(write.token, write.seen);
      if (written == Stores::Written::refused && write.token != 0) ++judge_.figures().writes_refused;
      if (history_.kept())
        note(write.client, "its write with token " + std::to_string(write.token) +
                               (written == Stores::Written::refused ? " is refused" : " is done"));
      return;
    }
    case Due::Kind::deadline:
      return judge_.audit(judge_.lease(index).resource, now_);
    case Due::Kind::overdue:
      return judge_loss_report(due);
    case Due::Kind::snapshot:
      snapshots_[index] = nodes_[static_cast<std::size_t>(schedule_.faults[index].node)].server;
      return;
    case Due::Kind::fault_begins:
      return begin(schedule_.faults[index], due.subject);
    case Due::Kind::fault_ends:
      return end(schedule_.faults[index], due.subject);
    case Due::Kind::healed:
      return healed();
    case Due::Kind::look_for_grants:
      return look_for_grants();
    case Due::Kind::deletion:
      return delete_everywhere();
    case Due::Kind::look_at_line:
      return look_at_line();
    case Due::Kind::must_know:
      return check_loss_is_reported(index);
    case Due::Kind::must_have_heard:
      return judge_.must_have_heard(index, now_);
    case Due::Kind::must_have_nothing:
      return judge_.must_have_nothing(got_nothing_[index], now_);
    case Due::Kind::must_know_holder:
      return check_holder_is_known(index);
    case Due::Kind::must_forget_holder:
      return check_holder_is_forgotten(index, due.detail != 0);
    case Due::Kind::watches_end:
      return end_watches();
  }
}

void World::note(int client, std::string_view text) {
  history_.add({Event::Kind::note, now_, now_, client, -1, std::string{text}});
}

std::uint64_t World::wall_clock_us(int client) const {
  const std::int64_t offset = drawn_for(static_cast<std::size_t>(client), schedule_.wall_offsets_us);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(epoch_us + now_ / microsecond + offset, 0));
}

// ── clients ─────────────────────────────────────────────────────────────────────────────────────────────────

void World::start_process(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  ++client.life;
  const std::uint64_t seed = schedule_.seed ^ (static_cast<std::uint64_t>(index * 1000 + client.life) << 32U);
  client.timer = never;
  client.process = std::make_unique<Process>(index, schedule_, mutant_, Random{seed},
                                             static_cast<Surroundings&>(*this), judge_);
  client.process->start();
  if (schedule_.connects_at_once) client.process->connect(time_of(client));
  if (schedule_.observer >= 0) client.process->watch(time_of(client));
  if (schedule_.connects_at_once || schedule_.observer >= 0) after_step(index);
}

void World::wake_in(int index, int what, Instant after) {
  const Client& client = clients_[static_cast<std::size_t>(index)];
  post(client.clock.when(client.clock.at(now_) + std::max<Instant>(after, 0)), Due::Kind::wake, index, what,
       client.life);
}

/// Every step of a process ends with sending. A pause may come before that.
void World::after_step(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  if (client.pause_after_step > 0) return pause(index, now_ + std::exchange(client.pause_after_step, 0));
  client.process->flush();
  if (client.has_unread && client.process->reads(time_of(client))) {
    client.has_unread = false;
    post(now_, Due::Kind::read, index);
  }
  const core::Time timer = client.process->timer(time_of(client));
  if (timer == core::never) return;
  const Instant at = std::max(client.clock.when(timer.time_since_epoch().count()), now_);
  if (at >= client.timer) return;
  client.timer = at;
  post(at, Due::Kind::timer, index, 0, client.life);
}

void World::fire_timer(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  if (client.timer > now_) return;  // the event is outdated
  client.timer = never;
  if (client.has_unread) read_all(index);
  if (!is_running(client)) return;
  client.process->on_time(time_of(client));
  after_step(index);
}

/// Passes everything that has arrived to the client, if it reads now.
void World::read_all(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  client.has_unread = false;
  for (std::size_t connection = 0; connection < connections_.size(); ++connection)
    if (connections_[connection].client == index && is_running(client))
      pump_answers(static_cast<int>(connection));
}

/// Called after the clock of a client has changed.
void World::look_at_timer(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  if (!client.process) return;
  client.timer = now_;
  post(now_, Due::Kind::timer, index);
}

void World::pause(int index, Instant until) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  client.paused_until = std::max(client.paused_until, until);
  post(until, Due::Kind::resume, index, 0, client.life);
}

/// Everything that arrived meanwhile is read before the timer fires.
void World::resume(int index) {
  Client& client = clients_[static_cast<std::size_t>(index)];
  if (!is_running(client)) return;
  client.process->flush();
  read_all(index);
  if (!is_running(client)) return;
  client.process->on_time(time_of(client));
  after_step(index);
}

Instant World::write(int client, int resource, std::uint64_t token, const Stores::Seen& seen) {
  const Instant usual =
      schedule_.profile == Profile::beyond ? 2 * schedule_.ttl.count() * millisecond : 2 * millisecond;
  Instant taken =
      random_.skewed(20 * microsecond, schedule_.longest_write > 0 ? schedule_.longest_write : usual);
  taken += clients_[static_cast<std::size_t>(client)]
               .pause_after_step;  // the pause is between the check of the lease and the write
  writes_.push_back({client, resource, token, seen});
  post(now_ + taken, Due::Kind::write, static_cast<int>(writes_.size()) - 1);
  return taken;
}

void World::lease_prolonged(Judge::LeaseIndex lease) {
  const Judge::Lease& held = judge_.lease(lease);
  const Client& client = clients_[static_cast<std::size_t>(held.client)];
  const Instant end = client.clock.when(held.deadline) - 1;
  if (end <= now_) return;
  post(end, Due::Kind::deadline, static_cast<int>(lease));
  post(end + 2 * microsecond, Due::Kind::overdue, static_cast<int>(lease), 0, client.life);
  if (judges_watches(held)) post(now_ + time_to_see(), Due::Kind::must_know_holder, static_cast<int>(lease));
}

bool World::judges_watches(const Judge::Lease& lease) const {
  // After a first start, a client may look at the nodes' markers a second too late.
  const bool is_calm = schedule_.faults.empty() && (!schedule_.guarded || schedule_.deployed);
  return schedule_.observer >= 0 && is_calm && all_listen_ && lease.resource == watched_lock(schedule_);
}

Instant World::time_to_hear() const { return 8 * longest_way(schedule_) + 10 * millisecond; }

/// A client that watches reads the last nodes so long after the first report of a change.
Instant World::time_to_see() const {
  return time_to_hear() + (watch_times.settling + watch_times.before_others).count();
}

/// A client that watches reads each node at least every five seconds.
Instant World::time_to_read_all() const { return 10 * second + longest_refusal(schedule_) + extra_life_; }

/// While others ask the holder again and again, a distant client may hear that the key was touched before each of its reads is
/// answered. A client that was told that the holder has left, which lost its majority and got it back, waits before it looks again.
void World::check_holder_is_known(Judge::LeaseIndex index) {
  const Judge::Lease& lease = judge_.lease(index);
  const bool is_held = !lease.over && !lease.loss_is_reported &&
                       copies(lease.resource, lease.owner).count() >= core::quorum(nodes_.size());
  if (!is_held || !judges_watches(lease)) return;
  const Instant known_at =
      std::max(watched_touched_at_, judge_.watches().told_again_at(lease.owner)) + time_to_see();
  if (now_ >= known_at) {
    const bool shows_token = showing(lease).count() >= core::quorum(nodes_.size());
    return judge_.watches().must_know(lease.owner, shows_token ? std::optional{lease.token} : std::nullopt,
                                      now_);
  }
  post(known_at, Due::Kind::must_know_holder, static_cast<int>(index));
}

/// `was_gone`: no node had a copy when this was checked before. While the lock changes hands quickly, a client may skip holders.
void World::check_holder_is_forgotten(Judge::LeaseIndex index, bool was_gone) {
  const Judge::Lease& lease = judge_.lease(index);
  if (copies(lease.resource, lease.owner).any() || !judges_watches(lease)) return;
  const Instant changed_at = std::max(watched_changed_at_, watched_touched_at_);
  const Instant known_at = std::max(changed_at, was_gone ? 0 : now_) + time_to_see();
  if (now_ >= known_at) return judge_.watches().must_have_forgotten(lease.owner, now_);
  post(known_at, Due::Kind::must_forget_holder, static_cast<int>(index), 1);
}

/// Nobody has asked for a lock for so long that all copies are gone and each client has read all nodes again. A client that only
/// watches marks no node. So it counts a node that lost its data only if a client that wanted a lock has marked that node since.
void World::end_watches() {
  const int team = team_of(watched_lock(schedule_), schedule_);
  const auto marked =
      std::ranges::count_if(nodes_, [&](const Node& node) { return has_its_marker(node, team); });
  if (!schedule_.guarded || static_cast<std::size_t>(marked) >= core::quorum(nodes_.size()))
    judge_.watches().must_know_that_it_is_free(now_);
  for (int client = 0; client < schedule_.clients; ++client) {
    clients_[static_cast<std::size_t>(client)].process->stop_watching();
    after_step(client);
  }
}

/// A loss must be reported by the deadline to a client that is running then.
void World::judge_loss_report(const Due& due) {
  const Judge::Lease& lease = judge_.lease(static_cast<std::size_t>(due.subject));
  const Client& client = clients_[static_cast<std::size_t>(lease.client)];
  const bool has_run = client.process && client.life == due.life && client.paused_until < now_;
  if (has_run && !lease.over && !lease.loss_is_reported && client.clock.at(now_) >= lease.deadline)
    judge_.report(Rule::honesty, now_, "a loss was not reported at the deadline");
}

void World::lease_over(Judge::LeaseIndex lease, LeaseEnd how) {
  judge_.end(lease, how);
  if (judges_watches(judge_.lease(lease)))
    post(now_ + time_to_see(), Due::Kind::must_forget_holder, static_cast<int>(lease));
  if (!history_.kept()) return;
  const Judge::Lease& held = judge_.lease(lease);
  const Instant end = held.client < 0
                          ? held.deadline
                          : clients_[static_cast<std::size_t>(held.client)].clock.when(held.deadline);
  history_.add({Event::Kind::hold, held.begun, std::min(now_, end), held.client, -1,
                held.token == 0 ? "" : "token " + std::to_string(held.token)});
}

void World::orphaned(int resource, Orphan orphan) {
  orphans_[static_cast<std::size_t>(resource)] = std::move(orphan);
}

const Surroundings::Orphan* World::orphan(int resource) const {
  const auto& orphan = orphans_[static_cast<std::size_t>(resource)];
  return may_orphan() && orphan ? &*orphan : nullptr;
}

// ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────

void World::healed() {
  attempts_when_healed_ = judge_.figures().attempts;
  healed_at_ = free_since_ = now_;
  // Only beyond the assumptions: the next client may get the lock before the loss is reported to its holder.
  if (schedule_.profile == Profile::beyond && schedule_.open_for > 0)
    post(now_ + schedule_.open_for / 2, Due::Kind::deletion);
  look_for_grants();
}

/// A lock that no client has got since the end of all faults.
std::optional<int> World::most_wanted() const {
  for (int resource = 0; resource < schedule_.resources && healed_at_ <= now_; ++resource)
    if (!judge_.any_begun(line_of(resource, schedule_), healed_at_)) return resource;
  return std::nullopt;
}

/// Copies also live longer if clocks were set back.
Instant World::longest_wait_here() const { return longest_wait(schedule_) + extra_life_; }

/// Nobody gets a lock while all do something else.
bool World::awaits_grant() const {
  return healed_at_ <= now_ && now_ > free_since_ + longest_wait_here() / 2;
}

/// Repeated until each lock was granted. After that clients begin no new calls.
void World::look_for_grants() {
  const bool all_granted = !most_wanted();
  const std::uint64_t attempts = judge_.figures().attempts - attempts_when_healed_;
  const std::uint64_t contenders = clients_.size() * static_cast<std::uint64_t>(schedule_.threads);
  // While nodes are quarantined, attempts fail at once, so there are many.
  const std::uint64_t tries = 40 * contenders * static_cast<std::uint64_t>(std::max(schedule_.seats, 1));
  if (attempts > tries && !all_granted && !schedule_.guarded)
    return judge_.report(Rule::liveness, now_, std::to_string(attempts) + " attempts without success");
  is_open_ = schedule_.calls.empty() && (!all_granted || now_ < healed_at_ + schedule_.open_for);
  if (!is_open_ && schedule_.observer >= 0) post(now_ + time_to_read_all(), Due::Kind::watches_end);
  if (!is_open_) return;
  // Of a semaphore, seats are free until each of the contenders has one, or there are no more.
  // One that only observes wants none.
  const std::uint64_t wanting =
      contenders - (schedule_.observer >= 0 ? static_cast<std::uint64_t>(schedule_.threads) : 0);
  const std::uint64_t most = std::min(static_cast<std::uint64_t>(std::max(schedule_.seats, 1)), wanting);
  if (static_cast<std::uint64_t>(judge_.in_force()) >= most) free_since_ = now_;
  if (now_ > free_since_ + longest_wait_here())
    return judge_.report(Rule::liveness, now_, "no client gets the lock after the end of all faults");
  post(now_ + 5 * millisecond, Due::Kind::look_for_grants);
}

/// Records attempts made after every message that was on its way at the end of the last fault has arrived.
void World::asked(const std::string& owner) {
  const Instant settled = 2 * schedule_.ttl.count() * millisecond + 20 * millisecond;
  if (healed_at_ < now_ - settled) asked_after_healing_.push_back(owner);
}

/// A release that a node answers by NOSCRIPT is sent again. Where there are faults, it may arrive at any time.
void World::got_nothing(std::vector<Judge::Asked> asked) {
  if (!schedule_.faults.empty()) return;
  got_nothing_.push_back(std::move(asked));
  post(now_ + 4 * longest_way(schedule_) + millisecond, Due::Kind::must_have_nothing,
       static_cast<int>(got_nothing_.size()) - 1);
}

void World::call_ended(int client) {
  if (schedule_.brief_clients && client % 2 == 1)
    post(now_, Due::Kind::successor, client, 0, clients_[static_cast<std::size_t>(client)].life);
}

/// All nodes were new and none has lost its data, so all must have got one name.
void World::check_names() {
  std::string_view name;
  for (Node& node : nodes_) {
    const Entry* const entry = node.server.find(core::marker_key, clock_us(node));
    const std::string_view text = entry ? std::string_view{entry->value} : std::string_view{};
    const auto marker = core::Marker::parse(text);
    if (!marker || !marker->is_named())
      return judge_.report(Rule::liveness, now_, "a node has no name although all nodes are there");
    const std::string_view of_node = text.substr(0, text.find(" nodes="));
    if (!name.empty() && of_node != name)
      return judge_.report(Rule::liveness, now_, "the nodes belong to two deployments");
    name = of_node;
  }
}

bool World::is_usable(const Node& node) const {
  return node.down == 0 && node.stopped == 0 && node.modes == std::array<int, 3>{};
}

bool World::has_dialled(int client, int node) const {
  const int current = clients_[static_cast<std::size_t>(client)].connections[static_cast<std::size_t>(node)];
  return current >= 0 && connections_[static_cast<std::size_t>(current)].made_is_known;
}

bool World::reaches_majority(int client) const {
  int reached = 0;
  for (int node = 0; node < schedule_.nodes; ++node) reached += network_.connects(client, node) ? 1 : 0;
  return reached >= static_cast<int>(core::quorum(nodes_.size()));
}

int World::nodes_with(std::string_view key) const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return node.server.find(key, clock_us(node)) != nullptr;
  }));
}

bool World::flag_stands(int resource) const {
  return nodes_with(core::flag_key(line_key_of(resource, schedule_))) >=
         static_cast<int>(core::quorum(nodes_.size()));
}

/// Whether the client is running and reaches a majority on which the lock is free, or, as a reader, on which others have it.
bool World::could_take(int resource, int client, bool as_reader) const {
  const std::string key = key_of(resource, schedule_);
  const auto is_free_for = [&](const Node& node) {
    const int which = static_cast<int>(&node - nodes_.data());
    const Entry* const lock = node.server.find(key, clock_us(node));
    return is_usable(node) && network_.connects(client, which) &&
           (now_ >= judge_.lines().redialled_at() || has_dialled(client, which)) &&
           (!lock || (as_reader && lock->value == core::held_by_readers));
  };
  return is_running(clients_[static_cast<std::size_t>(client)]) &&
         std::count_if(nodes_.begin(), nodes_.end(), is_free_for) >=
             static_cast<std::ptrdiff_t>(core::quorum(nodes_.size()));
}

/// Repeated as long as somebody may wait for a lock or a seat.
void World::look_at_line() {
  LineJudge& lines = judge_.lines();
  const auto anybody = [](int) { return true; };
  const auto locks = std::views::iota(0, schedule_.resources);
  const auto is_free = [&](int lock) { return !judge_.is_in_force(lock); };
  const bool any_joint = lines.any_joint(anybody);
  for (const int lock : locks) {
    const auto can_take = [&](int client) { return could_take(lock, client); };
    lines.look_at(
        lock, !any_joint && is_free(lock) && lines.any_able(line_of(lock, schedule_), can_take, now_), now_);
    const auto can_join = [&](int client) { return could_take(lock, client, true); };
    lines.look_at_readers(
        lock, any_joint || judge_.has_writer(lock) ? std::nullopt : lines.first_readers(lock, can_join),
        now_);
  }
  const auto can_take_all = [&](int client) {
    return std::ranges::all_of(locks, [&](int lock) { return could_take(lock, client); });
  };
  lines.look_at_all(std::ranges::all_of(locks, is_free) && lines.any_able_joint(can_take_all, now_), now_);
  const bool is_left =
      nodes_with(core::flag_key(line_key_of(0, schedule_))) > 0 && !lines.any_standing(0, anybody);
  lines.look(is_left, flag_stands(0), now_);
  const bool any_standing =
      std::ranges::any_of(locks, [&](int lock) { return lines.any_standing(lock, anybody); });
  if (is_open_ || any_standing) post(now_ + 2 * millisecond, Due::Kind::look_at_line);
}

/// Nobody stands in line any more, so its keys must be gone, too.
void World::check_lines_are_over() {
  now_ += 2 * schedule_.line_times.life.count() * millisecond;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    for (int resource = 0; resource < schedule_.resources; ++resource) {
      const core::LineKeys keys{line_key_of(resource, schedule_)};
      for (const std::string& key : {keys.order, keys.alive, keys.born, keys.flag})
        if (nodes_[node].server.find(key, clock_us(nodes_[node])))
          judge_.report(Rule::quiescence, now_, "node " + std::to_string(node + 1) + " still has " + key);
    }
}

void World::check_quiescence() {
  if (schedule_.first_start) check_names();
  for (const Node& node : nodes_)
    for (int resource = 0; resource < schedule_.resources; ++resource)
      for (const Copy& copy : copies_on(node.server, key_of(resource, schedule_), clock_us(node)))
        if (!judge_.is_kept(copy.owner) && std::find(asked_after_healing_.begin(), asked_after_healing_.end(),
                                                     copy.owner) != asked_after_healing_.end())
          judge_.report(Rule::quiescence, now_, "a copy is left that nobody holds: it was not given back");
  now_ += 2 * schedule_.ttl.count() * millisecond + extra_life_;
  for (std::size_t client = 0; client < clients_.size(); ++client)
    if (const auto left = clients_[client].process->left_over())
      judge_.report(Rule::quiescence, now_,
                    "client " + std::string(1, static_cast<char>('A' + client)) + " has left " + *left);
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    for (int resource = 0; resource < schedule_.resources; ++resource)
      if (!watched_keys_on(nodes_[node].server, key_of(resource, schedule_), clock_us(nodes_[node])).empty())
        judge_.report(Rule::quiescence, now_,
                      "node " + std::to_string(node + 1) + " still has a copy of the lock");
  check_lines_are_over();
}

}  // namespace redlock::simulation
