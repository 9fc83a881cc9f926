// The world's network and nodes.
#include <algorithm>
#include <span>
#include <utility>

#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/resp.hpp"
#include "simulation/timeline/wire.hpp"
#include "simulation/world/world.hpp"

namespace redlock::simulation {

constexpr auto to_node = Network::Direction::to_node;
constexpr auto to_client = Network::Direction::to_client;

namespace {

bool is_handshake(std::string_view command) {
  return command == "ROLE" || command == "INFO" || command == "SCRIPT";
}
/// Of scripts that is not known before they have run.
bool may_write(const std::vector<std::string_view>& words) {
  const Command* const command = find_command(words);
  return command && (command->needs.writes || command->name.starts_with("eval"));
}
/// Whether the client has sent a command and has not yet read its reply.
bool waits_for_reply(const Connection& connection) {
  const auto& answers = connection.answers;
  return !connection.requests.empty() ||
         std::any_of(answers.begin(), answers.end(), [](const auto& one) { return !one.stray; });
}
bool is_call_of(const core::Script& script, const std::vector<std::string_view>& words) {
  return words.size() > 1 && (words[1] == script.sha1 || words[1] == script.source);
}

}  // namespace

// ── connections ─────────────────────────────────────────────────────────────────────────────────────────────

/// The node to which a line leads.
int World::node_of(int client, int line) const {
  const int node = line % nodes_of(client, schedule_);
  return node == schedule_.alias ? 0 : node;
}

/// Whether the client learns of changed keys on this connection.
bool World::listens(const Connection& connection) const {
  return connection.line >= nodes_of(connection.client, schedule_);
}

void World::dial(int client, int line) {
  clients_[static_cast<std::size_t>(client)].connections[static_cast<std::size_t>(line)] =
      static_cast<int>(connections_.size());
  const bool is_first = std::none_of(connections_.begin(), connections_.end(), [&](const Connection& other) {
    return other.client == client && other.line == line;
  });
  Connection& connection = connections_.emplace_back();
  connection.client = client;
  connection.node = node_of(client, line);
  connection.line = line;
  connection.is_first = is_first;
  const int node = connection.node;
  const Instant there = network_.arrival(client, node, now_, now_);
  post(network_.arrival(client, node, there, there), Due::Kind::dialled,
       static_cast<int>(connections_.size()) - 1);
}

/// The answer to a SYN. The kernel answers even if the process is stopped.
void World::dialled(int index) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (!connection.client_open) return;
  const bool connects = network_.connects(connection.client, connection.node);
  Node& node = nodes_[static_cast<std::size_t>(connection.node)];
  if (!connects || (node.down > 0 && node.host_is_dead))
    return post(now_ + 20 * millisecond, Due::Kind::dialled, index);  // retransmission
  if (node.down > 0) return post(now_, Due::Kind::closed, index);
  connection.made = true;
  connection.node_open = true;
  pump_answers(index);
}

void World::disconnect(int client, int line, bool gracefully, std::string_view last_bytes) {
  int& current = clients_[static_cast<std::size_t>(client)].connections[static_cast<std::size_t>(line)];
  if (current < 0) return;
  Connection& connection = connections_[static_cast<std::size_t>(current)];
  if (gracefully && connection.made && !last_bytes.empty()) enqueue(current, last_bytes);
  connection.client_open = false;
  current = -1;
}

void World::send(int client, int line, std::string_view bytes) {
  enqueue(clients_[static_cast<std::size_t>(client)].connections[static_cast<std::size_t>(line)], bytes);
}

void World::send_separately(int client, int node, std::string_view bytes) {
  Connection& connection = connections_.emplace_back();
  connection.client = client;
  connection.node = node_of(client, node);
  connection.node_open = true;
  connection.client_open = false;
  connection.cut = true;
  enqueue(static_cast<int>(connections_.size()) - 1, bytes);
}

void World::enqueue(int index, std::string_view bytes) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (connection.loses_requests)
    return note_request(connection, {now_, now_, std::string{bytes}}, Event::Kind::lost);
  const Instant behind = connection.requests.empty() ? 0 : connection.requests.back().arrives;
  const Instant arrives = network_.arrival(connection.client, connection.node, now_, behind);
  connection.requests.push_back({now_, arrives, std::string{bytes}});
  post(arrives, Due::Kind::request, index);
}

void World::pump_requests(int index) {
  for (;;) {
    Connection& connection = connections_[static_cast<std::size_t>(index)];
    Node& node = nodes_[static_cast<std::size_t>(connection.node)];
    if (connection.requests.empty() || connection.requests.front().arrives > now_ || node.stopped > 0 ||
        !network_.passes(connection.client, connection.node, to_node))
      return;
    const Connection::Request request = std::move(connection.requests.front());
    connection.requests.pop_front();
    if (connection.node_open && node.down == 0) {
      serve(index, request);
    } else {
      note_request(connection, request, Event::Kind::lost);
      // A running host sends a reset.
      if (node.down == 0 || !node.host_is_dead) post(now_ + schedule_.delay, Due::Kind::closed, index);
    }
  }
}

/// Whether a client under a mutant ignores this report, because it is reading the key.
bool World::is_unheeded_change(const Connection& listener, const Connection::Answers& answers) const {
  if (!mutant_ || mutant_->heeds_overtaking_changes() || !answers.is_change) return false;
  const auto& open = clients_[static_cast<std::size_t>(listener.client)].connections;
  const int commands = open[static_cast<std::size_t>(listener.line % nodes_of(listener.client, schedule_))];
  return commands >= 0 && waits_for_reply(connections_[static_cast<std::size_t>(commands)]);
}

/// Under a mutant, a client takes a report of one node for a report of every node.
void World::repeat_change(int client, int heard, const Connection::Answers& answers) {
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    const Connection& other = connections_[index];
    if (other.client == client && listens(other) && static_cast<int>(index) != heard && other.client_open &&
        other.made_is_known && !waits_for_reply(other))
      clients_[static_cast<std::size_t>(client)].process->answered(
          other.line, answers.replies, time_of(clients_[static_cast<std::size_t>(client)]));
  }
}

void World::pump_answers(int index) {
  const int client_index = connections_[static_cast<std::size_t>(index)].client;
  Client& client = clients_[static_cast<std::size_t>(client_index)];
  for (;;) {
    Connection& connection = connections_[static_cast<std::size_t>(index)];
    const int node = connection.node;
    if (!connection.client_open || !is_running(client) || !network_.passes(client_index, node, to_client))
      break;
    const bool is_listener = listens(connection);
    const bool reads = is_listener || client.process->reads(time_of(client));
    if (connection.made && !connection.made_is_known) {
      connection.made_is_known = true;
      client.process->connected(connection.line, time_of(client));
    } else if (!reads && !(connection.closing && client.process->notices_ends(time_of(client)))) {
      client.has_unread = true;
      break;
    } else if (!connection.answers.empty() && connection.answers.front().arrives <= now_) {
      const Connection::Answers answers = std::move(connection.answers.front());
      connection.answers.pop_front();
      if (answers.stray && waits_for_reply(connection)) continue;
      if (is_unheeded_change(connection, answers)) continue;
      note_answers(connection, answers, Event::Kind::reply);
      client.process->answered(connection.line, answers.replies, time_of(client));
      if (answers.is_change && mutant_ && !mutant_->counts_changes_by_node())
        repeat_change(client_index, index, answers);
    } else if (connection.closing) {
      connection.client_open = false;
      client.connections[static_cast<std::size_t>(connection.line)] = -1;
      client.process->disconnected(connection.line, time_of(client));
    } else {
      break;
    }
    after_step(client_index);
  }
}

void World::pump_all() {
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    pump_requests(static_cast<int>(index));
    pump_answers(static_cast<int>(index));
  }
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────────

std::int64_t World::clock_us(const Node& node) const { return epoch_us + node.clock.at(now_) / microsecond; }

void World::serve(int index, const Connection::Request& request) {
  note_request(connections_[static_cast<std::size_t>(index)], request, Event::Kind::request);
  connections_[static_cast<std::size_t>(index)].has_written = false;
  Connection::Answers answers{now_, 0, {}, {}};
  for (std::string_view bytes = request.bytes; !bytes.empty();) {
    core::take_command(bytes, words_);
    execute(index, words_, answers.replies);
    if (history_.kept()) answers.commands.resize(answers.replies.size(), name_of_command(words_));
  }
  answer(index, std::move(answers));
}

void World::answer(int index, Connection::Answers answers) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (connection.cut) return note_answers(connection, answers, Event::Kind::lost);
  const Instant behind = connection.answers.empty() ? 0 : connection.answers.back().arrives;
  answers.arrives = network_.arrival(connection.client, connection.node, now_, behind);
  post(answers.arrives, Due::Kind::answers, index);
  connection.answers.push_back(std::move(answers));
}

/// The reply to a command of the handshake. Under a mutant, servers have another run_id for each name.
core::Reply World::welcome(const Connection& connection, const std::vector<std::string_view>& words) {
  Node& node = nodes_[static_cast<std::size_t>(connection.node)];
  core::Reply reply = node.server.execute(words, clock_us(node));
  const auto found = reply.text.find("run_id:");
  if (found == std::string::npos) return reply;
  const std::size_t at = found + std::string_view{"run_id:"}.size();
  if (mutant_ && !mutant_->recognises_servers())
    reply.text.insert(at, std::to_string(connection.line % schedule_.nodes) + "-");
  if (mutant_ && !mutant_->returns_to_gates() && !connection.is_first) reply.text.insert(at, "again-");
  return reply;
}

/// Under a mutant, commands of a line differ from those that the client has sent.
bool World::execute_otherwise(int index, const std::vector<std::string_view>& words,
                              std::vector<core::Reply>& replies) {
  Node& node = nodes_[static_cast<std::size_t>(connections_[static_cast<std::size_t>(index)].node)];
  std::vector<std::string_view> otherwise = words;
  std::string life;
  if (words.front() == "SET" && words[1].starts_with("redlock:qw")) {
    life = std::to_string(mutant_->flag_life(std::stoll(std::string{words[4]})));
    otherwise[4] = life;
    if (life == "0") otherwise.resize(3);
  }
  if (words[0] == "EVAL" && words[1] == core::line_script.source && words[7].empty() &&
      !mutant_->leaves_by_source()) {
    otherwise[0] = "EVALSHA";
    otherwise[1] = core::line_script.sha1;
  }
  if (words.size() > 9 && is_call_of(core::line_script, words) && words[7].empty() &&
      !mutant_->leaves_if_crippled() &&
      !reaches_majority(connections_[static_cast<std::size_t>(index)].client))
    otherwise[7] = otherwise[9] = "0";
  if (otherwise == words) return false;
  node.server.execute(index, otherwise, clock_us(node), replies);
  if (is_call_of(core::line_script, otherwise) && replies.back().is(core::Reply::Kind::array))
    judge_line(connections_[static_cast<std::size_t>(index)], otherwise);
  deliver_messages(connections_[static_cast<std::size_t>(index)].node);
  return true;
}

/// Runs one command, adds its replies, and checks its effect.
void World::execute(int index, const std::vector<std::string_view>& words,
                    std::vector<core::Reply>& replies) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  Node& node = nodes_[static_cast<std::size_t>(connection.node)];
  const std::int64_t at = clock_us(node);
  ++judge_.figures().commands;
  if (is_handshake(words.front())) return replies.push_back(welcome(connection, words));
  if (auto reply = tracking(index, words)) return replies.push_back(*std::move(reply));
  if (is_call_of(core::release_script, words)) connection.released.emplace_back(words[4]);
  if (is_call_of(core::shared_release_script, words)) connection.released.emplace_back(words[5]);
  std::vector<Sight> before;
  if (may_write(words))
    for (int resource = 0; resource < schedule_.resources; ++resource)
      before.push_back(sight_of(node.server, key_of(resource, schedule_), at));
  const bool is_request = words.size() > 3 && words[1] == core::ask_source;
  const std::vector<Copy> holders = is_request ? copies_on(node.server, words[3], at) : std::vector<Copy>{};
  const std::uint64_t writes = node.server.writes();
  if (mutant_ && execute_otherwise(index, words, replies)) return;
  const bool is_told_by_first = mutant_ && mutant_->believes_first_node() &&
                                connection.client == schedule_.observer &&
                                (words.front() == "GETRANGE" || words.front() == "PTTL");
  Node& teller = is_told_by_first ? nodes_.front() : node;
  teller.server.execute(index, words, clock_us(teller), replies);
  if (mutant_ && words.front() == "PTTL" && !mutant_->reads_when_arming()) replies.back().integer = -1;
  if (mutant_ && words.front() == "PTTL" && !mutant_->forgets_own_release() && !connection.released.empty())
    replies.back().integer = -2;
  if (is_call_of(core::line_script, words) && replies.back().is(core::Reply::Kind::array))
    judge_line(connection, words);
  deliver_messages(connection.node);
  core::Reply& reply = replies.back();
  const bool is_grant = is_call_of(core::grant_script, words) || is_call_of(core::shared_grant_script, words);
  if (node.false_counters > 0 && is_grant && reply.is(core::Reply::Kind::integer))
    reply.integer = core::greatest_counter - 1;
  if (node.server.writes() != writes) judge_changes(index, words, before, at);
  if (is_request) judge_request(index, words[3], holders);
  arm(index, words);
}

/// `before`: each resource on this node, before the command.
void World::judge_changes(int index, const std::vector<std::string_view>& words,
                          const std::vector<Sight>& before, std::int64_t at) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  const Server& server = nodes_[static_cast<std::size_t>(connection.node)].server;
  for (int resource = 0; resource < schedule_.resources; ++resource) {
    const Sight& was = before[static_cast<std::size_t>(resource)];
    const std::string lock_key = key_of(resource, schedule_);
    const Sight is = sight_of(server, lock_key, at);
    judge_copies(resource, was.copies, is.copies, connection, words);
    if (lets_outlive_readers(was, is, lock_key, at)) judge_.outlives_readers(now_);
    if (was.counter != is.counter) notify_change(connection.node, core::counter_key(lock_key), index);
    if (!was.copies.empty()) judge_.audit(resource, now_);
    for (const std::string& changed : changed_keys(was.keys, is.keys)) {
      if (resource == watched_lock(schedule_)) watched_changed_at_ = now_;
      connection.has_written = true;
      notify_change(connection.node, changed, index);
    }
  }
}

/// After a call of the line's script.
void World::judge_line(const Connection& connection, const std::vector<std::string_view>& words) {
  const Node& node = nodes_[static_cast<std::size_t>(connection.node)];
  for (int resource = 0; resource < schedule_.resources; ++resource) {
    const std::string order = core::LineKeys{line_key_of(resource, schedule_)}.order;
    if (words[3] != order || resource != line_of(resource, schedule_)) continue;
    if (!words[7].empty()) judge_.lines().enqueued(connection.client, resource, connection.node, now_);
    if (const Entry* const line = node.server.find(order, clock_us(node)))
      judge_.lines().is_first(client_of(line->members.members().front().name), resource, connection.node,
                              now_);
    else
      judge_.lines().emptied(resource, connection.node, now_);
  }
}

/// One holder may have replaced another one, and several readers may have copies.
void World::judge_copies(int resource, const std::vector<Copy>& before, const std::vector<Copy>& after,
                         const Connection& connection, const std::vector<std::string_view>& words) {
  if (before.size() <= 1 && after.size() <= 1)
    return judge_change(resource, before.empty() ? nullptr : &before.front(),
                        after.empty() ? nullptr : &after.front(), connection, words);
  const auto find = [](const std::vector<Copy>& copies, const Copy& copy) {
    const auto found = std::ranges::find(copies, copy.owner, &Copy::owner);
    return found == copies.end() ? nullptr : &*found;
  };
  for (const Copy& copy : before) judge_change(resource, &copy, find(after, copy), connection, words);
  for (const Copy& copy : after)
    if (!find(before, copy)) judge_change(resource, nullptr, &copy, connection, words);
}

void World::judge_change(int resource, const Copy* before, const Copy* after, const Connection& connection,
                         const std::vector<std::string_view>& words) {
  const auto report = [&](std::string_view what) {
    judge_.report(
        Rule::ownership, now_,
        "node " + std::to_string(connection.node + 1) + ": " + name_of_command(words) + std::string{what});
  };
  const bool is_same = before && after && before->owner == after->owner;
  if (before && (!is_same || after->expires_ms > before->expires_ms) &&
      std::find(words.begin(), words.end(), before->owner) == words.end())
    report(is_same ? " prolongs somebody else's copy" : " removes somebody else's copy");
  if (after && (!is_same || after->expires_ms != before->expires_ms)) {
    const Node& node = nodes_[static_cast<std::size_t>(connection.node)];
    const std::int64_t last_end = clock_us(node) / 1000 + schedule_.ttl.count();
    // A clock that was set back prolongs the life of a copy, and an adopter keeps the remaining time.
    const bool is_prolonged = !before || after->expires_ms > before->expires_ms;
    if (after->expires_ms < 0 || (is_prolonged && after->expires_ms > last_end))
      judge_.report(Rule::quiescence, now_, "a copy was set to live longer than its ttl");
  }
  if (after && !is_same && after->owner != core::kept_value &&
      std::find(words.begin(), words.end(), after->owner) == words.end())
    report(" makes somebody else's copy");
  const bool is_gone = !after || (after->owner == core::kept_value && !is_same);
  const auto calls = [&](const core::Script& one, const core::Script& other) {
    return is_call_of(one, words) || is_call_of(other, words);
  };
  if (before && is_gone && calls(core::release_script, core::shared_release_script))
    judge_.deleted(before->owner);
  if (after && !is_same) judge_.copied(after->owner, connection.node);
  if (calls(core::put_back_script, core::shared_put_back_script) && after && !is_same)
    judge_.put_back(after->owner, connection.node,
                    static_cast<int>(copies(resource, after->owner).count()) - 1);
  const auto& released = connection.released;
  if (after && !is_same && std::find(released.begin(), released.end(), after->owner) != released.end())
    report(" sets an owner value behind its release");
}

NodeSet World::copies(int resource, std::string_view owner) const {
  NodeSet all;
  // A node that was a replica of another one may have copies of locks for which nobody asks it.
  for (int node = 0; node < nodes_of(resource, schedule_); ++node) {
    const Node& each = nodes_[static_cast<std::size_t>(node)];
    const std::vector<Copy> copies = copies_on(each.server, key_of(resource, schedule_), clock_us(each));
    all.set(static_cast<std::size_t>(node), std::ranges::count(copies, owner, &Copy::owner) > 0);
  }
  return all;
}

NodeSet World::showing(const Judge::Lease& lease) const {
  NodeSet all = copies(lease.resource, lease.owner);
  if (lease.token == 0) return all;
  const std::string counter_key = core::counter_key(key_of(lease.resource, schedule_));
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const Entry* const counter = nodes_[node].server.find(counter_key, clock_us(nodes_[node]));
    if (!counter || counter->value != std::to_string(lease.token)) all.reset(node);
  }
  return all;
}

void World::audit_all() {
  for (int resource = 0; resource < schedule_.resources; ++resource) judge_.audit(resource, now_);
}

// ── the history ──────────────────────────────────────────────────────────────────────────

void World::note_request(const Connection& connection, const Connection::Request& request, Event::Kind kind) {
  if (!history_.kept()) return;
  std::string text;
  std::vector<std::string_view> words;
  for (std::string_view bytes = request.bytes; !bytes.empty();) {
    core::take_command(bytes, words);
    const std::string name = words.front() == "ROLE" ? "handshake" : name_of_command(words);
    if (words.front() == "INFO" || words.front() == "SCRIPT") continue;
    text += text.empty() ? name : ", " + name;
  }
  history_.add({kind, request.sent, now_, connection.client, connection.node, text});
}

void World::note_answers(const Connection& connection, const Connection::Answers& answers, Event::Kind kind) {
  if (!history_.kept()) return;
  std::string text;
  if (answers.replies.size() >= 7) text = answers.commands.front() == "flood" ? "a flood" : "welcome";
  if (text.empty())
    for (std::size_t at = 0; at < answers.replies.size(); ++at)
      text += (text.empty() ? "" : ", ") + in_words(answers.commands[at], answers.replies[at]);
  history_.add({kind, answers.sent, now_, connection.client, connection.node, text});
}

}  // namespace redlock::simulation
