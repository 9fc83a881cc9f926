// What servers send by themselves: what was published, and changes of keys (CLIENT TRACKING).
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "redlock/core/line/line_messages.hpp"
#include "simulation/server/command.hpp"
#include "simulation/world/world.hpp"

namespace redlock::simulation {
namespace {

constexpr std::string_view channel = "__redis__:invalidate";

/// The reply that `fill` writes.
template <class Fill>
Reply reply_of(const Fill& fill) {
  Reply reply;
  fill(Answer{reply});
  return reply;
}
Reply string_of(std::string_view text) {
  return reply_of([&](const Answer& answer) { answer.string(text); });
}
Reply integer_of(long long number) {
  return reply_of([&](const Answer& answer) { answer.integer(number); });
}
Reply array_of(std::vector<Reply> elements) {
  return reply_of([&](const Answer& answer) { answer.array(std::move(elements)); });
}

}  // namespace

/// Sends what a client has published to the subscribers. A server learns by this that a client has closed its connection.
void World::deliver_messages(int node) {
  Server& server = nodes_[static_cast<std::size_t>(node)].server;
  for (const Channels::Message& message : server.take_messages()) {
    if (message.reply.elements[2].text == core::LineKeys{line_key_of(0, schedule_)}.order)
      judge_.lines().told(connections_[static_cast<std::size_t>(message.subscriber)].client, 0, node, now_);
    if (connections_[static_cast<std::size_t>(message.subscriber)].client_open)
      answer(message.subscriber, {now_, 0, {message.reply}, {"a message"}});
    else
      server.disconnected(message.subscriber);
  }
}

/// The answer to a command about connections. Returns nothing for other commands.
std::optional<Reply> World::tracking(int index, const std::vector<std::string_view>& words) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  const Reply ok = reply_of([](const Answer& answer) { answer.ok(); });
  if (words.front() == "PING")
    return array_of({string_of("pong"), string_of("")});  // also from a server that loads: no client reads it
  if (words.front() != "CLIENT") return std::nullopt;
  if (words[1] == "ID") return integer_of(index + 1);
  if (words[1] == "CACHING") {
    connection.arms = connection.listener >= 0;
    if (connection.arms) return ok;
    return reply_of([](const Answer& answer) {
      answer.error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN");
    });
  }
  connection.listener = std::stoi(std::string{words[4]}) - 1;
  if (connections_[static_cast<std::size_t>(connection.listener)].node_open) return ok;
  return reply_of(
      [](const Answer& answer) { answer.error("ERR The client ID you want redirect to does not exist"); });
}

/// Under a mutant, some reads do not arm their keys.
bool World::may_arm(Connection& connection, std::string_view key) const {
  if (connection.client != schedule_.observer) return true;
  if (!mutant_->watches_counters() && key == core::counter_key(key_of(watched_lock(schedule_), schedule_)))
    return false;
  const bool is_again = std::ranges::find(connection.armed, key) != connection.armed.end();
  if (!is_again) connection.armed.emplace_back(key);
  return !is_again || mutant_->observer_rearms();
}

/// Handles a read after CLIENT CACHING YES.
void World::arm(int index, const std::vector<std::string_view>& words) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (!std::exchange(connection.arms, false)) return;
  std::span<const std::string_view> keys;
  if (words.front() == "GETRANGE" || words.front() == "PTTL") keys = std::span{words}.subspan(1, 1);
  if (words.front() == "EVAL" && words[1] == core::seats_source) keys = std::span{words}.subspan(3);
  if (words.front() == "EVAL" && words[1] == core::readable_source) keys = std::span{words}.subspan(3);
  if (mutant_ && !mutant_->rearms() && connection.has_written) return;
  if (mutant_ && !mutant_->rearms_after_reconnect() && !connection.is_first) return;
  for (const std::string_view key : keys)
    if (!mutant_ || may_arm(connection, key))
      nodes_[static_cast<std::size_t>(connection.node)].armed.push_back({index, std::string{key}});
}

/// Reports a change once. The connection that made the change gets no message, but its tracking of the key ends too.
void World::notify_change(int node, std::string_view key, int by) {
  std::vector<Armed>& armed = nodes_[static_cast<std::size_t>(node)].armed;
  const auto notified =
      std::stable_partition(armed.begin(), armed.end(), [&](const Armed& each) { return each.key != key; });
  std::vector<int> listeners;
  for (auto each = notified; each != armed.end(); ++each)
    if (each->connection != by)
      listeners.push_back(connections_[static_cast<std::size_t>(each->connection)].listener);
  armed.erase(notified, armed.end());
  std::sort(listeners.begin(), listeners.end());
  listeners.erase(std::unique(listeners.begin(), listeners.end()), listeners.end());
  const Reply change = array_of({string_of("message"), string_of(channel), array_of({string_of(key)})});
  for (const int listener : listeners)
    if (Connection& connection = connections_[static_cast<std::size_t>(listener)]; connection.node_open) {
      count_change(connection);
      answer(listener, {now_, 0, {change}, {"a change"}, false, true});
    }
}

/// A client that hears of too many changes within a second does not listen to the node any more.
void World::count_change(Connection& listener) {
  if (now_ - listener.counted_since >= second) {
    listener.counted_since = now_;
    listener.changes = 0;
  }
  all_listen_ = all_listen_ && ++listener.changes < 900;
}

/// Sends many messages without a cause to every listener.
void World::flood(int which) {
  const Reply change = array_of({string_of("message"), string_of(channel), Reply{}});
  const std::size_t made = connections_.size();
  for (std::size_t index = 0; index < made; ++index) {
    const Connection& listener = connections_[index];
    const bool is_listener = listener.node == which && listens(listener);
    if (is_listener && listener.made && listener.node_open && listener.client_open)
      answer(static_cast<int>(index),
             {now_, 0, std::vector<Reply>(300, change), std::vector<std::string>(300, "flood")});
  }
}

/// To all clients on whose connections no command waits. (A reply in the place of another one is a lie about what the node did,
/// which no client can notice.)
void World::send_stray_replies(int which) {
  const Reply kinds[] = {reply_of([](const Answer& to) { to.status("OK"); }), integer_of(1), Reply{},
                         reply_of([](const Answer& to) { to.error("ERR nobody asked"); }),
                         array_of({string_of("message"), string_of(channel), Reply{}})};
  const std::size_t made = connections_.size();
  for (std::size_t index = 0; index < made; ++index) {
    const Connection& connection = connections_[index];
    if (connection.node != which || !connection.made || !connection.node_open || !connection.client_open)
      continue;
    const Reply& reply = kinds[random_.next() % std::size(kinds)];
    answer(static_cast<int>(index), {now_, 0, {reply}, {"stray reply"}, true});
  }
}

/// Deletes the key of the first resource.
void World::delete_by_hand(int which) {
  const Node& node = nodes_[static_cast<std::size_t>(which)];
  const std::string lock = key_of(0, schedule_);
  const Keyspace keys = watched_keys_on(node.server, lock, clock_us(node));
  delete_by_hand(which, lock);
  for (const auto& [key, entry] : keys)
    if (key != lock) delete_by_hand(which, key);
}
void World::delete_by_hand(int which, std::string_view key) {
  Node& node = nodes_[static_cast<std::size_t>(which)];
  const std::string_view words[] = {"DEL", key};
  node.server.execute(words, clock_us(node));
  notify_change(which, key);
}
/// The first lock, or where there are readers, any of its keys.
void World::delete_something(int which) {
  judge_.deleted_by_people();
  if (schedule_.workload.reads == 0 || random_.chance(40)) return delete_by_hand(which);
  const Node& node = nodes_[static_cast<std::size_t>(which)];
  const std::string lock = key_of(0, schedule_);
  const Keyspace keys = watched_keys_on(node.server, lock, clock_us(node));
  if (keys.empty() || random_.chance(30)) return delete_by_hand(which, core::readers_key(lock));
  auto key = keys.begin();
  std::advance(key, random_.next() % keys.size());
  delete_by_hand(which, key->first);
}

// ── reports of deletions ────────────────────────────────────────────────────────────────────────────────────

/// Deletes a lock on all nodes some time after the end of all faults.
void World::delete_everywhere() {
  const Instant there_and_back = 2 * (schedule_.delay + schedule_.jitter);
  const Instant settled = 20 * millisecond + 2 * there_and_back;
  // Without a listener connection a client polls every tenth of the ttl.
  const Instant next_look = std::max(schedule_.ttl.count() * millisecond / 10, 5 * millisecond);
  judge_.deleted_by_people();
  const auto& leases = judge_.leases();
  for (std::size_t index = 0; index < leases.size(); ++index) {
    const Judge::Lease& lease = leases[index];
    const bool counts = lease.resource == 0 && lease.watched && !lease.over && !lease.loss_is_reported;
    if (counts && lease.begun + settled < now_)
      post(now_ + next_look + 2 * there_and_back + 2 * millisecond, Due::Kind::must_know,
           static_cast<int>(index));
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) delete_by_hand(static_cast<int>(node));
}

void World::check_loss_is_reported(Judge::LeaseIndex index) {
  const Judge::Lease& lease = judge_.lease(index);
  if (!lease.over && !lease.loss_is_reported)
    judge_.report(Rule::honesty, now_, "a lock was deleted on all nodes without a report to its holder");
}

}  // namespace redlock::simulation
