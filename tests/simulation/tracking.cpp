// What servers tell of keys that others change: CLIENT TRACKING.
#include <algorithm>
#include <string>
#include <utility>

#include "simulation/world.hpp"

namespace redlock::simulation {
namespace {

core::Reply integer_reply(long long value) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::integer;
  reply.integer = value;
  return reply;
}
core::Reply text_reply(core::Reply::Kind kind, std::string text) {
  core::Reply reply;
  reply.kind = kind;
  reply.text = std::move(text);
  return reply;
}
core::Reply array_reply(std::vector<core::Reply> elements) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::array;
  reply.elements = std::move(elements);
  return reply;
}
core::Reply string_reply(std::string text) { return text_reply(core::Reply::Kind::string, std::move(text)); }

constexpr const char* channel = "__redis__:invalidate";

}  // namespace

/// The answer to a command that is about connections; none: it is about keys.
std::optional<core::Reply> World::tracking(int index, const std::vector<std::string_view>& words) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  const core::Reply ok = text_reply(core::Reply::Kind::status, "OK");
  if (words.front() == "PING") return array_reply({string_reply("pong"), string_reply("")});
  if (words.front() == "SUBSCRIBE")
    return array_reply({string_reply("subscribe"), string_reply(channel), integer_reply(1)});
  if (words.front() != "CLIENT") return std::nullopt;
  if (words[1] == "ID") return integer_reply(index + 1);
  if (words[1] == "CACHING") {
    connection.arms = true;
    return ok;
  }
  connection.listener = std::stoi(std::string{words[4]}) - 1;
  if (connections_[static_cast<std::size_t>(connection.listener)].node_open) return ok;
  return text_reply(core::Reply::Kind::error, "ERR The client ID you want redirect to does not exist");
}

/// A read behind CLIENT CACHING YES.
void World::arm(int index, const std::vector<std::string_view>& words) {
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (!std::exchange(connection.arms, false) || words.front() != "GETRANGE") return;
  if (mutant_ && !mutant_->arms_again() && connection.has_written) return;
  nodes_[static_cast<std::size_t>(connection.node)].armed.push_back({index, std::string{words[1]}});
}

/// Once; and not to the connection that changed it, which has then disarmed it all the same.
void World::tell_change(int node, std::string_view key, int by) {
  std::vector<Armed>& armed = nodes_[static_cast<std::size_t>(node)].armed;
  const auto told =
      std::stable_partition(armed.begin(), armed.end(), [&](const Armed& each) { return each.key != key; });
  std::vector<int> listeners;
  for (auto each = told; each != armed.end(); ++each)
    if (each->connection != by)
      listeners.push_back(connections_[static_cast<std::size_t>(each->connection)].listener);
  armed.erase(told, armed.end());
  std::sort(listeners.begin(), listeners.end());
  listeners.erase(std::unique(listeners.begin(), listeners.end()), listeners.end());
  const core::Reply change = array_reply(
      {string_reply("message"), string_reply(channel), array_reply({string_reply(std::string{key})})});
  for (const int listener : listeners)
    if (connections_[static_cast<std::size_t>(listener)].node_open)
      answer(listener, {now_, 0, {change}, {"a change"}});
}

// ── whether it is heard ─────────────────────────────────────────────────────────────────────────────────────

/// When all has been well for a while.
void World::delete_everywhere() {
  const Instant there_and_back = 2 * (schedule_.delay + schedule_.jitter);
  const Instant settled = 20 * millisecond + 2 * there_and_back;
  // Who has no second connection yet looks every tenth of the ttl.
  const Instant next_look = std::max(schedule_.ttl.count() * millisecond / 10, 5 * millisecond);
  const auto& leases = judge_.leases();
  for (std::size_t index = 0; index < leases.size(); ++index) {
    const Judge::Lease& lease = leases[index];
    const bool counts = lease.resource == 0 && lease.watched && !lease.over && !lease.told;
    if (counts && lease.begun + settled < now_)
      post(now_ + next_look + 2 * there_and_back + 2 * millisecond, Due::Kind::must_know,
           static_cast<int>(index));
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const std::string_view words[] = {"DEL", "r0"};
    nodes_[node].server.execute(words, clock_us(nodes_[node]));
    tell_change(static_cast<int>(node), "r0");
  }
}

void World::judge_knowledge(Judge::LeaseIndex index) {
  const Judge::Lease& lease = judge_.lease(index);
  if (!lease.over && !lease.told)
    judge_.report(Rule::honesty, now_, "a lock was deleted on all nodes, and its holder does not hear of it");
}

}  // namespace redlock::simulation
