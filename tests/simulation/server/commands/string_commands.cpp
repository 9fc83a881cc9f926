#include "simulation/server/commands/string_commands.hpp"

#include <limits>

namespace redlock::simulation::string_commands {
namespace {

/// The options of SET.
struct SetOptions {
  bool if_missing = false;
  bool if_there = false;
  bool keep_ttl = false;
  bool answer_old = false;
  std::optional<std::string_view> seconds;
  std::optional<std::string_view> milliseconds;
};

/// Returns nothing if an option is unknown or contradicts another one.
std::optional<SetOptions> parse_options(Words words) {
  SetOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (is_word(words[i], "nx") && !options.if_there)
      options.if_missing = true;
    else if (is_word(words[i], "px") && more && !options.keep_ttl && !options.seconds)
      options.milliseconds = words[++i];
    else if (is_word(words[i], "xx") && !options.if_missing)
      options.if_there = true;
    else if (is_word(words[i], "ex") && more && !options.keep_ttl && !options.milliseconds)
      options.seconds = words[++i];
    else if (is_word(words[i], "keepttl") && !options.seconds && !options.milliseconds)
      options.keep_ttl = true;
    else if (is_word(words[i], "get"))
      options.answer_old = true;
    else
      return std::nullopt;
  }
  return options;
}

/// When the key will expire; -1 for never. Returns nothing after writing an error to the answer.
std::optional<std::int64_t> expiry_of(const SetOptions& options, const Call& call) {
  if (!options.seconds && !options.milliseconds) return -1;
  const auto number = parse_integer(options.seconds ? *options.seconds : *options.milliseconds);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t unit = options.seconds ? 1000 : 1;
  if (!number)
    call.answer.not_an_integer();
  else if (*number <= 0 || *number > most / unit || *number * unit > most - call.now_ms())
    call.answer.error("ERR invalid expire time in 'set' command");
  else
    return *number * unit + call.now_ms();
  return std::nullopt;
}

void store(const Call& call, Entry* found, std::string_view value, std::int64_t expires_ms) {
  Entry& entry = found ? *found : call.keys.emplace(call.words[1], Entry{}).first->second;
  entry.value = value;
  entry.expires_ms = expires_ms;
  entry.type = Entry::Type::string;
  entry.members = {};
}

}  // namespace

void get(const Call& call) {
  const Entry* const entry = call.find(call.words[1]);
  if (!entry) return call.answer.nil();
  if (!entry->is(Entry::Type::string)) return call.answer.wrong_type();
  call.answer.string(entry->value);
}

void getrange(const Call& call) {
  const auto first = parse_integer(call.words[2]);
  const auto last = parse_integer(call.words[3]);
  if (!first || !last) return call.answer.not_an_integer();
  const Entry* const entry = call.find(call.words[1]);
  if (!entry) return call.answer.string({});
  if (!entry->is(Entry::Type::string)) return call.answer.wrong_type();
  const auto size = static_cast<std::int64_t>(entry->value.size());
  const auto from_start = [size](std::int64_t index) {
    return index >= 0 ? index : std::max<std::int64_t>(index + size, 0);
  };
  const std::int64_t begin = from_start(*first);
  const std::int64_t end = std::min(from_start(*last), size - 1) + 1;
  // The second condition: indexes before the beginning would both be clamped to the first byte.
  if (begin >= end || (*first < 0 && *last < 0 && *first > *last)) return call.answer.string({});
  call.answer.string(std::string_view{entry->value}.substr(static_cast<std::size_t>(begin),
                                                           static_cast<std::size_t>(end - begin)));
}

void incr(const Call& call) {
  Entry* const entry = call.find(call.words[1]);
  if (entry && !entry->is(Entry::Type::string)) return call.answer.wrong_type();
  const auto number = entry ? parse_integer(entry->value) : 0;
  if (!number) return call.answer.not_an_integer();
  if (*number == std::numeric_limits<std::int64_t>::max())
    return call.answer.error("ERR increment or decrement would overflow");
  store(call, entry, std::to_string(*number + 1), entry ? entry->expires_ms : -1);
  call.answer.integer(*number + 1);
}

void rpush(const Call& call) {
  Entry* entry = call.find(call.words[1]);
  if (entry && !entry->is(Entry::Type::list)) return call.answer.wrong_type();
  if (!entry) entry = &call.keys.emplace(call.words[1], Entry{}).first->second;
  entry->type = Entry::Type::list;
  entry->value.append(call.words.size() - 2, '.');
  call.answer.integer(static_cast<long long>(entry->value.size()));
}

void set(const Call& call) {
  const auto options = parse_options(call.words.subspan(3));
  if (!options) return call.answer.syntax_error();
  auto expires_ms = expiry_of(*options, call);
  if (!expires_ms) return;
  Entry* const found = call.find(call.words[1]);
  if (options->answer_old && found && !found->is(Entry::Type::string)) return call.answer.wrong_type();
  if (options->answer_old && found)
    call.answer.string(found->value);
  else
    call.answer.nil();
  if (found ? options->if_missing : options->if_there) return;
  if (options->keep_ttl && found) expires_ms = found->expires_ms;
  store(call, found, call.words[2], *expires_ms);
  if (!options->answer_old) call.answer.ok();
}

void setnx(const Call& call) {
  Entry* const found = call.find(call.words[1]);
  if (!found) store(call, nullptr, call.words[2], -1);
  call.answer.integer(found ? 0 : 1);
}

}  // namespace redlock::simulation::string_commands
