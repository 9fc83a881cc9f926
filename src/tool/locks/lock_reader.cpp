#include "tool/locks/lock_reader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/resp.hpp"
#include "tool/locks/patience.hpp"

namespace redlock::tool {
namespace {

using core::Reply;

constexpr std::size_t keys_at_once = 250;
constexpr std::size_t longest_resource = 4096;
constexpr int most_steps_without_keys = 1'000'000;  // one in 250 million keys of other programs
/// Copies without a majority are left over from single locks. A node that names so many of them makes them up.
constexpr std::size_t most_found_alone = 10'000;
/// For the nodes that are left, when the others have shown all locks that a majority has. At least as long as those took.
constexpr Clock::duration shortest_rest = std::chrono::seconds{10};

bool is_owner_value(std::string_view value) {
  constexpr std::size_t digits = 40;
  return value.size() >= digits && value.substr(0, digits).find_first_not_of(core::lower_hex) == value.npos &&
         (value.size() == digits || value[digits] == ' ');
}

bool is_lock(const Reply& value) {
  if (!value.is(Reply::Kind::string)) return false;
  const Holder holder{value.text};
  return is_owner_value(value.text) || holder.is_kept() || holder.is_shared();
}

/// Keys of other types, and keys that this user may not read, are no locks of this user: these errors concern one key only.
bool is_failure(const Reply& reply) {
  if (!reply.is(Reply::Kind::error) || reply.text.starts_with("WRONGTYPE")) return false;
  return !reply.text.starts_with("NOPERM") || reply.text.find(" access ") == std::string::npos;
}

/// A pattern of SCAN for everything that begins with this text.
std::string pattern_for(std::string_view prefix) {
  std::string pattern;
  for (const char character : prefix) {
    if (std::string_view{"*?[]\\"}.find(character) != std::string_view::npos) pattern += '\\';
    pattern += character;
  }
  return pattern + '*';
}

/// Not GET: a data key may have a huge value.
std::string read_value(const std::string& key) { return core::command({"GETRANGE", key, "0", "1023"}); }

std::optional<FencingToken> counter_in(const Reply& reply) {
  std::uint64_t counter = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto parsed = std::from_chars(reply.text.data(), end, counter);
  if (!reply.is(Reply::Kind::string) || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return FencingToken{counter};
}

/// A value that is no owner value belongs to another program: for the list, this node has no copy.
NodeReport report_of(const std::string& node, const Reply& value, const Reply& ttl, const Reply& counter) {
  NodeReport report{.node = node, .status = NodeStatus::free, .message = {}, .owner = {}, .ttl = {}};
  if (!is_lock(value)) return report;
  report.status = NodeStatus::held;
  report.owner = value.text;
  if (ttl.is(Reply::Kind::integer) && ttl.integer >= 0)
    report.ttl = core::span_of(std::chrono::milliseconds{ttl.integer});
  report.counter = counter_in(counter);
  return report;
}

/// One node has a copy, and a majority says that it has none.
bool is_alone(const FoundLock& lock) {
  const auto with_copy =
      std::ranges::count_if(lock.nodes, [](const NodeReport& node) { return !!node.owner; });
  const auto without = std::ranges::count(lock.nodes, NodeStatus::free, &NodeReport::status);
  return with_copy == 1 && static_cast<std::size_t>(without) >= core::quorum(lock.nodes.size());
}

/// Also waits for a first answer: the system accepts connections for a server that hangs. Whether that answer is an error
/// does not matter yet.
std::unique_ptr<Dialogue> begin_dialogue(const Endpoint& node) {
  auto dialogue = std::make_unique<Dialogue>(node, patience);
  if (!dialogue->connect() || !dialogue->log_in()) return dialogue;
  dialogue->send(core::command({"SCAN", "0", "COUNT", "1"}));
  static_cast<void>(dialogue->receive(1));
  return dialogue;
}

}  // namespace

LockReader::LockReader(const Nodes& nodes) : key_prefix_{nodes.options.key_prefix} {
  const std::vector<Endpoint> endpoints = with_login(nodes);
  std::vector<std::future<std::unique_ptr<Dialogue>>> dialogues;
  for (const Endpoint& endpoint : endpoints)
    dialogues.push_back(std::async(std::launch::async, begin_dialogue, std::cref(endpoint)));
  for (std::size_t at = 0; at < dialogues.size(); ++at) {
    Node& node = nodes_.emplace_back();
    node.name = endpoints[at].to_string();
    node.dialogue = dialogues[at].get();
    if (node.dialogue->has_failed()) give_up(node, node.dialogue->trouble());
  }
}

/// One step of each node in turn, so that a node whose keys never end does not hide those of the others.
void LockReader::find(const std::string& resource_prefix, const Found& found) {
  const std::string pattern = pattern_for(key_prefix_ + resource_prefix);
  const Clock::time_point begun = Clock::now();
  std::optional<Clock::time_point> end;
  const auto is_scanning = [](const Node& node) { return node.dialogue && !node.is_scanned; };
  while (std::ranges::any_of(nodes_, is_scanning)) {
    for (Node& node : nodes_)
      if (is_scanning(node) && !scan(node, pattern, found)) return;
    const auto scanned = static_cast<std::size_t>(std::ranges::count_if(nodes_, &Node::is_scanned));
    if (!end && scanned > core::tolerated(nodes_.size()))
      end = Clock::now() + std::max(shortest_rest, Clock::now() - begun);
    if (!end || Clock::now() < *end) continue;
    for (Node& node : nodes_)
      if (is_scanning(node))
        give_up(node, {NodeStatus::protocol_error, "SCAN takes much longer than on the other nodes"});
  }
}

/// One step. Returns false if nobody wants more.
bool LockReader::scan(Node& node, const std::string& pattern, const Found& found) {
  send(node, core::command({"SCAN", node.cursor, "MATCH", pattern, "COUNT", std::to_string(keys_at_once)}));
  const std::vector<Reply> replies = receive(node, 1);
  if (replies.empty()) return true;
  const Reply& page = replies.front();
  if (page.elements.size() != 2) {
    give_up(node, {NodeStatus::protocol_error, "unexpected reply to SCAN"});
    return true;
  }
  node.cursor = page.elements[0].text;
  node.is_scanned = node.cursor == "0";
  node.steps_without_keys = page.elements[1].elements.empty() ? node.steps_without_keys + 1 : 0;
  if (node.steps_without_keys > most_steps_without_keys) {
    give_up(node, {NodeStatus::protocol_error, "SCAN does not end"});
    return true;
  }
  std::vector<std::string> keys;
  for (const Reply& key : page.elements[1].elements) keys.push_back(key.text);
  return pass_on(std::move(keys), node, found);
}

bool LockReader::pass_on(std::vector<std::string> keys, Node& from, const Found& found) {
  std::erase_if(keys, [this](const std::string& key) {
    if (!key.starts_with(key_prefix_) || key.starts_with("redlock:")) return true;
    const std::string_view resource = std::string_view{key}.substr(key_prefix_.size());
    return resource.empty() || resource.size() > longest_resource || resource.starts_with("redlock:") ||
           passed_on_.contains(std::string{resource});
  });
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (auto begin = keys.begin(); begin != keys.end();) {
    const auto size = std::min<std::ptrdiff_t>(keys_at_once, keys.end() - begin);
    std::vector<FoundLock> locks = read({begin, begin + size});
    begin += size;
    for (const FoundLock& lock : locks) {
      passed_on_.insert(lock.resource);
      from.found_alone += is_alone(lock) ? 1 : 0;
    }
    if (!locks.empty() && !found(std::move(locks))) return false;
    if (from.found_alone <= most_found_alone) continue;
    give_up(from, {NodeStatus::protocol_error, "it names more than " + std::to_string(most_found_alone) +
                                                   " locks that no other node has"});
    return true;
  }
  return true;
}

std::vector<FoundLock> LockReader::read(const std::vector<std::string>& keys) {
  std::string commands;
  for (const std::string& key : keys) {
    commands += read_value(key);
    commands += core::command({"PTTL", key});
    commands += core::command({"GETRANGE", core::counter_key(key), "0", "31"});
  }
  if (commands.empty()) return {};
  std::vector<FoundLock> locks;
  for (const std::string& key : keys)
    locks.push_back({.resource = key.substr(key_prefix_.size()), .nodes = {}});
  for (Node& node : nodes_) send(node, commands);
  for (Node& node : nodes_) {
    const std::vector<Reply> replies = receive(node, 3 * keys.size());
    for (std::size_t at = 0; at < keys.size(); ++at)
      locks[at].nodes.push_back(
          replies.empty() ? NodeReport{.node = node.name,
                                       .status = node.failure.status,
                                       .message = node.failure.message,
                                       .owner = {},
                                       .ttl = {}}
                          : report_of(node.name, replies[3 * at], replies[3 * at + 1], replies[3 * at + 2]));
  }
  std::erase_if(locks, [](const FoundLock& lock) {
    return std::ranges::none_of(lock.nodes, [](const NodeReport& node) { return node.owner.has_value(); });
  });
  look_for_lines(locks);
  return locks;
}

/// A seat's line is also that of its semaphore. A node that refuses to tell has no line as far as the list goes.
void LockReader::look_for_lines(std::vector<FoundLock>& locks) {
  std::string commands;
  std::vector<FoundLock*> asked;
  for (FoundLock& lock : locks) {
    const std::string key = key_prefix_ + lock.resource;
    commands += core::command({"ZCARD", core::companion_key("qo", key)});
    asked.push_back(&lock);
    const auto seat = core::seat_of(key);
    if (!seat) continue;
    commands += core::command({"ZCARD", core::companion_key("qo", seat->line_key)});
    asked.push_back(&lock);
  }
  if (commands.empty()) return;
  for (Node& node : nodes_) send(node, commands);
  for (Node& node : nodes_) {
    if (!node.dialogue) continue;
    const std::vector<Reply> lengths = node.dialogue->receive(asked.size());
    for (std::size_t at = 0; at < lengths.size(); ++at)
      asked[at]->has_line |= lengths[at].is(Reply::Kind::integer) && lengths[at].integer > 0;
    if (node.dialogue->has_failed()) give_up(node, node.dialogue->trouble());
  }
}

void LockReader::give_up(Node& node, core::Trouble why) {
  node.failure = std::move(why);
  node.dialogue.reset();
}

void LockReader::send(Node& node, const std::string& commands) {
  if (node.dialogue) node.dialogue->send(commands);
}

/// Returns the replies, or nothing if the node has failed.
std::vector<Reply> LockReader::receive(Node& node, std::size_t number) {
  if (!node.dialogue) return {};
  std::vector<Reply> replies = node.dialogue->receive(number);
  const auto failure = std::ranges::find_if(replies, is_failure);
  if (failure != replies.end())
    give_up(node, core::trouble_of_error(failure->text));
  else if (node.dialogue->has_failed())
    give_up(node, node.dialogue->trouble());
  return node.dialogue ? std::move(replies) : std::vector<Reply>{};
}

std::vector<std::string> LockReader::failures() const {
  std::vector<std::string> all;
  for (const Node& node : nodes_)
    if (!node.dialogue) all.push_back(node.name + ": " + core::printable(node.failure.message));
  return all;
}

std::size_t LockReader::misconfigured() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      nodes_, [](const Node& node) { return !node.dialogue && is_misconfiguration(node.failure.status); }));
}

std::size_t LockReader::answering() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes_, [](const Node& node) { return node.dialogue != nullptr; }));
}

}  // namespace redlock::tool
