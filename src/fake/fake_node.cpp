#include "fake/fake_node.hpp"

#include <algorithm>
#include <utility>

#include "fake/replies.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::Reply;
using core::Time;

constexpr long long most_by_clock = 9'000'000'000'000'000;
constexpr long long day = 86'400'000'000;  // in microseconds

}  // namespace

FakeNode::Entry* FakeNode::find(const std::string& key, Time now) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  if (now < found->second.expires) return &found->second;
  keys_.erase(found);
  return nullptr;
}

std::string FakeNode::value(const Call& call, std::size_t key) {
  const Entry* const entry = find(call.keys.at(key), call.now.time);
  return entry ? entry->value : std::string{};
}

long long FakeNode::counter(const Call& call) {
  const Entry* const entry = find(call.keys.at(1), call.now.time);
  return entry ? std::stoll(entry->value) : 0;
}

long long FakeNode::pttl(const std::string& key, Time now) {
  const Entry* const entry = find(key, now);
  if (!entry) return -2;
  if (entry->expires == core::never) return -1;
  return std::chrono::ceil<std::chrono::milliseconds>(entry->expires - now).count();
}

void FakeNode::set_for(const std::string& key, std::string value, std::string_view milliseconds, Time now) {
  const std::chrono::milliseconds ttl{std::stoll(std::string{milliseconds})};
  set(key, std::move(value), ttl.count() == 0 ? core::never : core::later(now, ttl));
}

/// Its ttl becomes at least so long.
void FakeNode::prolong(const std::string& key, std::string_view milliseconds, Time now) {
  if (pttl(key, now) < std::stoll(std::string{milliseconds}))
    set_for(key, find(key, now)->value, milliseconds, now);
}

void FakeNode::keep_counter(const Call& call, std::string_view milliseconds) {
  if (milliseconds != "0" && find(call.keys.at(1), call.now.time))
    set_for(call.keys[1], value(call, 1), milliseconds, call.now.time);
}

Reply FakeNode::execute(const Words& command, Now now) {
  const std::string& name = command.at(0);
  if (name == "EVALSHA" || name == "EVAL") return evaluate(command, now);
  if (name == "GETRANGE") {
    const Entry* const entry = find(command.at(1), now.time);
    return string(entry ? entry->value.substr(0, std::stoull(command.at(3)) + 1) : "");
  }
  if (name == "PTTL") return integer(pttl(command.at(1), now.time));
  if (name == "ZRANGE") return members(command.at(1), std::stoull(command.at(3)), now);
  if (name == "TIME") {
    const auto wall = now.wall.count();
    return array({string(std::to_string(wall / 1'000'000)), string(std::to_string(wall % 1'000'000))});
  }
  if (name == "SET") {  // key value [NX] PX ttl
    if (command.at(3) == "NX" && find(command.at(1), now.time)) return {};
    set_for(command.at(1), command.at(2), command.back(), now.time);
    return status("OK");
  }
  if (name == "ROLE") return array({string("master"), integer(0), array({})});
  if (name == "INFO") return string("run_id:" + run_id_ + "\r\n");
  if (name == "SCRIPT") {
    for (const core::Script* const script : core::all_scripts)
      if (script->source == command.at(2)) return string(std::string{script->sha1});
  }
  if (name == "CLIENT") return command.at(1) == "ID" ? integer(1) : status("OK");
  if (name == "SUBSCRIBE") return array({string("subscribe"), string(command.at(1)), integer(1)});
  if (name == "PING") return status("PONG");
  return error("ERR the fake does not know the command " + name);
}

Reply FakeNode::evaluate(const Words& command, Now now) {
  const auto is = [&](const core::Script& script) {
    return command.at(1) == (command[0] == "EVAL" ? script.source : script.sha1);
  };
  const auto keys_end = command.begin() + 3 + std::stoi(command.at(2));
  const Call call{{command.begin() + 3, keys_end}, {keys_end, command.end()}, now};
  if (is(core::grant_script)) return grant(call);
  if (is(core::confirm_script)) return confirm(call);
  if (is(core::put_back_script)) return put_back(call);
  if (is(core::swap_script)) return swap(call);
  if (is(core::extend_script)) return extend(call);
  if (is(core::release_script)) return release(call);
  if (is(core::line_script)) return line(call);
  if (is(core::shared_grant_script)) return shared_grant(call);
  if (is(core::shared_put_back_script)) return shared_put_back(call);
  if (is(core::shared_extend_script)) return shared_extend(call);
  if (is(core::shared_release_script)) return shared_release(call);
  if (command.at(1) == core::readable_source) return readable(call);
  if (command.at(1) == core::readers_source) return readers(call);
  if (command.at(1) == core::reader_source) return reader(call);
  if (command.at(1) == core::seats_source) return seats(call);
  if (command.at(1) == core::ask_source) return ask(call);
  if (command.at(1) == core::break_source()) return break_lock(call);
  return error("ERR the fake does not know this script");
}

Reply FakeNode::denial(const Call& call) {
  return array({string(value(call, 0)), integer(pttl(call.keys[0], call.now.time))});
}

/// What the counter becomes when the lock is granted.
long long FakeNode::granted(long long counter, long long proposal, Now now) {
  const long long ahead = proposal - counter;
  if (ahead < 1) return counter + 1;
  if (ahead <= 3'600'000'000 && counter <= most_by_clock) return proposal;
  return std::max(counter + 1, std::min({proposal, now.wall.count() + day, most_by_clock}));
}

/// What the counter becomes when it is confirmed or put back; none if that is too far ahead of the clock.
std::optional<long long> FakeNode::raised(long long counter, long long proposal, Now now) {
  if (proposal - counter > 1'000'000 && proposal > std::min(now.wall.count() + 2 * day, most_by_clock))
    return std::nullopt;
  return std::max(counter, proposal);
}

Reply FakeNode::grant(const Call& call) {
  const long long token = granted(counter(call), std::stoll(call.values.at(2)), call.now);
  const std::string& adopted = call.values.at(4);
  const std::string holder = value(call, 0);
  const bool has_flag = call.keys.size() == 3;
  if (has_flag && find(call.keys[2], call.now.time))
    return array({string(holder), integer(pttl(call.keys[holder.empty() ? 2 : 0], call.now.time))});
  if (holder != adopted) return denial(call);
  const long long left = holder.empty() ? 0 : pttl(call.keys[0], call.now.time);
  set_for(call.keys[0], call.values[0], std::to_string(std::max(std::stoll(call.values.at(1)), left)),
          call.now.time);
  set_for(call.keys.at(1), std::to_string(token), call.values.at(3), call.now.time);
  return integer(token);
}

Reply FakeNode::seats(const Call& call) {
  std::vector<Reply> left;
  for (const std::string& key : call.keys) left.push_back(integer(pttl(key, call.now.time)));
  return array(std::move(left));
}

Reply FakeNode::ask(const Call& call) {
  const std::string holder = value(call, 0);
  if (holder == core::held_by_readers)
    for (const std::string& id : sets_[call.values.at(1)]) ask(call, call.values[1] + ":" + id, id);
  else if (!holder.starts_with("redlock:"))
    ask(call, call.keys[0], std::string{core::holder_id(holder)});
  return array({string(holder), integer(pttl(call.keys[0], call.now.time))});
}

void FakeNode::ask(const Call& call, const std::string& key, const std::string& id) {
  const long long left = pttl(key, call.now.time);
  if (left > 0) set_for(call.keys.at(1) + id, call.values.at(0), std::to_string(left), call.now.time);
}

/// It publishes nothing: a node in memory has one client.
Reply FakeNode::line(const Call& call) {
  Line& line = lines_[call.keys.at(0)];
  line.alive_key = call.keys.at(1);
  const std::string& member = call.values.at(0);
  const std::chrono::milliseconds life{std::stoll(call.values.at(2))};
  std::erase_if(line.members, [&](const auto& each) { return each.second.alive_until <= call.now.time; });
  if (call.values.at(1).empty()) {
    line.members.erase(member);
  } else {
    if (line.members.empty()) line.name = std::to_string(call.now.wall.count()) + "." + member.substr(0, 16);
    const Time called_at = call.now.time - std::chrono::microseconds{std::stoll(call.values[1])};
    const auto [place, is_new] = line.members.try_emplace(member);
    if (is_new || call.values.at(3) == "1") place->second.called_at = called_at;
    place->second.alive_until = call.now.time + life;
  }
  const auto stands_before = [&](const auto& each) {
    const auto self = line.members.find(member);
    return self != line.members.end() &&
           std::pair{each.second.called_at, each.first} < std::pair{self->second.called_at, self->first};
  };
  const auto rank = line.members.contains(member)
                        ? std::count_if(line.members.begin(), line.members.end(), stands_before)
                        : -1;
  Reply reply = array({integer(rank), integer(static_cast<long long>(line.members.size())),
                       integer(rank > 0 ? life.count() : -1), integer(1), string(line.name)});
  if (line.members.empty()) lines_.erase(call.keys[0]);
  return reply;
}

/// The key holds the order of a line, or until when each member is alive. `last`: the last index.
Reply FakeNode::members(const std::string& key, std::size_t last, Now now) const {
  std::vector<std::pair<core::Time, std::string>> scored;
  for (const auto& [order_key, line] : lines_)
    for (const auto& [member, place] : line.members) {
      if (key == order_key) scored.emplace_back(place.called_at, member);
      if (key == line.alive_key) scored.emplace_back(place.alive_until, member);
    }
  std::sort(scored.begin(), scored.end());
  if (scored.size() > last + 1) scored.resize(last + 1);
  std::vector<Reply> replies;
  for (const auto& [time, member] : scored) {
    const auto ahead = std::chrono::duration_cast<std::chrono::microseconds>(time - now.time);
    replies.push_back(string(member));
    replies.push_back(string(std::to_string((now.wall + ahead).count())));
  }
  return array(std::move(replies));
}

Reply FakeNode::confirm(const Call& call) {
  if (value(call, 0) != call.values.at(0) || value(call, 1) != call.values.at(1)) return integer(0);
  const auto token = raised(std::stoll(call.values[1]), std::stoll(call.values.at(2)), call.now);
  if (!token) return integer(-1);
  set_for(call.keys[1], call.values[2], call.values.at(3), call.now.time);
  return integer(1);
}

Reply FakeNode::put_back(const Call& call) {
  if (find(call.keys[0], call.now.time)) return integer(0);
  const auto token = raised(counter(call), std::stoll(call.values.at(2)), call.now);
  if (!token) return integer(-1);
  set_for(call.keys[1], std::to_string(*token), call.values.at(3), call.now.time);
  set_for(call.keys[0], call.values[0], call.values.at(1), call.now.time);
  return integer(1);
}

Reply FakeNode::swap(const Call& call) {
  if (value(call, 0) != call.values.at(0)) return denial(call);
  const long long left = pttl(call.keys[0], call.now.time);
  set_for(call.keys[0], call.values.at(1), std::to_string(std::max(std::stoll(call.values.at(2)), left)),
          call.now.time);
  return integer(1);
}

Reply FakeNode::extend(const Call& call) {
  const std::string holder = value(call, 0);
  if (holder != call.values.at(0)) return integer(holder.empty() ? 0 : -1);
  prolong(call.keys[0], call.values.at(1), call.now.time);
  if (call.keys.size() > 1) keep_counter(call, call.values.at(2));
  return integer(1);
}

Reply FakeNode::release(const Call& call) {
  if (value(call, 0) != call.values.at(0)) return integer(0);
  if (call.values.size() > 1)
    set_for(call.keys[0], std::string{core::kept_value}, call.values[1], call.now.time);
  else
    remove(call.keys[0]);
  return integer(1);
}

}  // namespace redlock::inline v1::detail
