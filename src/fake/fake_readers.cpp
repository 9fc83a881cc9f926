// The scripts of shared locks, for the node in memory.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fake/fake_node.hpp"
#include "fake/replies.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::Reply;

/// The reader's own key. `set`: the one of the readers' ids.
std::string own_key(const std::string& set, const std::string& owner) {
  return set + ":" + std::string{core::holder_id(owner)};
}

}  // namespace

/// The lock becomes one of readers, and all of those who are still in the set lose their copies.
void FakeNode::open(const Call& call) {
  std::set<std::string>& ids = sets_[call.keys.at(2)];
  for (const std::string& id : ids) remove(own_key(call.keys[2], id));
  ids.clear();
}

void FakeNode::join(const Call& call) {
  const std::string& owner = call.values.at(0);
  const std::string& ttl = call.values.at(1);
  const long long left = value(call, 0) == core::held_by_readers ? pttl(call.keys[0], call.now.time) : 0;
  sets_[call.keys.at(2)].emplace(core::holder_id(owner));
  set_for(own_key(call.keys[2], owner), owner, ttl, call.now.time);
  set_for(call.keys[0], std::string{core::held_by_readers}, std::to_string(std::max(std::stoll(ttl), left)),
          call.now.time);
}

/// Of a lock that readers hold.
bool FakeNode::has_copy(const Call& call) {
  const std::string& owner = call.values.at(0);
  const Entry* const own = find(own_key(call.keys.at(2), owner), call.now.time);
  return own && own->value == owner && sets_[call.keys[2]].contains(std::string{core::holder_id(owner)});
}

Reply FakeNode::shared_grant(const Call& call) {
  const std::string holder = value(call, 0);
  const std::string& adopted = call.values.at(4);
  const bool opens = holder == adopted;
  const bool joins = adopted.empty() && holder == core::held_by_readers;
  const bool has_flag = call.keys.size() == 4;
  if (has_flag && find(call.keys[3], call.now.time))
    return array({string(holder), integer(pttl(call.keys[holder.empty() ? 3 : 0], call.now.time))});
  if (!opens && !joins) return denial(call);
  long long token = counter(call);
  if (opens || token == 0) token = granted(token, std::stoll(call.values.at(2)), call.now);
  if (opens) open(call);
  join(call);
  set_for(call.keys.at(1), std::to_string(token), call.values.at(3), call.now.time);
  return integer(token);
}

Reply FakeNode::shared_extend(const Call& call) {
  const std::string holder = value(call, 0);
  if (holder != core::held_by_readers) return integer(holder.empty() ? 0 : -1);
  if (!has_copy(call)) return integer(0);
  for (const std::string& key : {own_key(call.keys[2], call.values.at(0)), call.keys[0]})
    prolong(key, call.values.at(1), call.now.time);
  keep_counter(call, call.values.at(2));
  return integer(1);
}

Reply FakeNode::shared_put_back(const Call& call) {
  const std::string holder = value(call, 0);
  const bool opens = holder.empty();
  if (!opens && (holder != core::held_by_readers || has_copy(call))) return integer(0);
  const long long counted = counter(call);
  const auto token = raised(counted, std::stoll(call.values.at(2)), call.now);
  if (!token) return integer(-1);
  set_for(call.keys.at(1), std::to_string(opens ? std::max(*token, counted + 1) : *token), call.values.at(3),
          call.now.time);
  if (opens) open(call);
  join(call);
  return integer(1);
}

/// Its second key is the set.
Reply FakeNode::shared_release(const Call& call) {
  const std::string& owner = call.values.at(0);
  const std::string own = own_key(call.keys.at(1), owner);
  const Entry* const copy = find(own, call.now.time);
  if (!copy || copy->value != owner) return integer(0);
  const core::Time mine = copy->expires;
  std::set<std::string>& ids = sets_[call.keys[1]];
  remove(own);
  ids.erase(std::string{core::holder_id(owner)});
  if (value(call, 0) != core::held_by_readers) return integer(0);
  core::Time latest = core::Time::min();
  std::erase_if(ids, [&](const std::string& id) {
    const Entry* const other = find(own_key(call.keys[1], id), call.now.time);
    if (other) latest = std::max(latest, other->expires);
    return !other;
  });
  if (ids.empty())
    remove(call.keys[0]);
  else if (latest < mine)
    set(call.keys[0], std::string{core::held_by_readers}, latest);
  return integer(1);
}

/// Its first value is the set, and the others are owners.
Reply FakeNode::break_lock(const Call& call) {
  long long deleted = 0;
  const bool is_shared = value(call, 0) == core::held_by_readers;
  for (std::size_t at = 1; at < call.values.size(); ++at) {
    const Call release_of_one{{call.keys[0], call.values[0]}, {call.values[at]}, call.now};
    deleted += (is_shared ? shared_release(release_of_one) : release(release_of_one)).integer;
  }
  return integer(is_shared ? -deleted : deleted);
}

Reply FakeNode::readable(const Call& call) {
  return integer(value(call, 0) == core::held_by_readers ? -2 : pttl(call.keys[0], call.now.time));
}

Reply FakeNode::reader(const Call& call) {
  const std::string& set = call.values.at(0);
  const std::string& id = call.values.at(1);
  const bool is_reader = value(call, 0) == core::held_by_readers && sets_[set].contains(id);
  const Entry* const own = is_reader ? find(own_key(set, id), call.now.time) : nullptr;
  return string(own ? own->value : "");
}

Reply FakeNode::readers(const Call& call) {
  std::vector<Reply> owners{integer(0)};
  if (value(call, 0) != core::held_by_readers) return array(std::move(owners));
  const std::string& set = call.values.at(0);
  for (const std::string& id : sets_[set]) {
    const Entry* const own = find(own_key(set, id), call.now.time);
    if (own && ++owners.front().integer <= static_cast<long long>(core::most_named_readers))
      owners.push_back(string(own->value));
  }
  return array(std::move(owners));
}

}  // namespace redlock::inline v1::detail
