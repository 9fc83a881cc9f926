#include "simulation/server/commands/set_commands.hpp"

#include <vector>

namespace redlock::simulation::set_commands {
namespace {

/// Returns nothing after writing an error to the answer, and null if there is no such key.
std::optional<Entry*> find_set(const Call& call) {
  Entry* const entry = call.find(call.words[1]);
  if (!entry || entry->is(Entry::Type::set)) return entry;
  return call.answer.wrong_type(), std::nullopt;
}

}  // namespace

void sadd(const Call& call) {
  const auto found = find_set(call);
  if (!found) return;
  Entry& set = *found ? **found : call.keys.emplace(call.words[1], Entry{}).first->second;
  set.type = Entry::Type::set;
  long long added = 0;
  for (const std::string_view name : call.words.subspan(2)) added += set.members.put(name, 0) ? 1 : 0;
  call.answer.integer(added);
}

void sismember(const Call& call) {
  const auto set = find_set(call);
  if (set) call.answer.integer(*set && (*set)->members.find(call.words[2]) ? 1 : 0);
}

void smembers(const Call& call) {
  const auto set = find_set(call);
  if (!set) return;
  std::vector<Reply> names;
  if (*set)
    for (const SortedSet::Member& member : (*set)->members.members())
      Answer{names.emplace_back()}.string(member.name);
  call.answer.array(std::move(names));
}

void srem(const Call& call) {
  const auto set = find_set(call);
  if (!set) return;
  long long removed = 0;
  for (const std::string_view name : call.words.subspan(2))
    removed += *set && (*set)->members.remove(name) ? 1 : 0;
  const bool is_empty = *set && (*set)->members.members().empty();
  if (is_empty && call.flaw != Flaw::empty_sets_stay) call.keys.erase(call.keys.find(call.words[1]));
  call.answer.integer(removed);
}

}  // namespace redlock::simulation::set_commands
