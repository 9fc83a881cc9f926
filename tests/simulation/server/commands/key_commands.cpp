#include "simulation/server/commands/key_commands.hpp"

#include <algorithm>
#include <limits>

namespace redlock::simulation::key_commands {
namespace {

/// Conditions under which a new expiry is set.
struct ExpiryOptions {
  bool if_none = false;
  bool if_any = false;
  bool if_later = false;
  bool if_earlier = false;

  /// A key that never expires counts as later than all others.
  [[nodiscard]] bool allow(std::int64_t from, std::int64_t to) const noexcept {
    const bool never = from < 0;
    return !(if_none && !never) && !(if_any && never) && !(if_later && (never || to <= from)) &&
           !(if_earlier && !never && to >= from);
  }
};

/// Returns nothing after writing an error to the answer.
std::optional<ExpiryOptions> parse_options(Words words, const Answer& answer) {
  ExpiryOptions options;
  for (const std::string_view word : words) {
    if (is_word(word, "nx"))
      options.if_none = true;
    else if (is_word(word, "xx"))
      options.if_any = true;
    else if (is_word(word, "gt"))
      options.if_later = true;
    else if (is_word(word, "lt"))
      options.if_earlier = true;
    else
      return answer.error("ERR Unsupported option " + repeated(word)), std::nullopt;
  }
  if (options.if_none && (options.if_any || options.if_later || options.if_earlier))
    return answer.error("ERR NX and XX, GT or LT options at the same time are not compatible"), std::nullopt;
  if (options.if_later && options.if_earlier)
    return answer.error("ERR GT and LT options at the same time are not compatible"), std::nullopt;
  return options;
}

void expire_at(const Call& call, std::int64_t unit, std::int64_t base_ms, std::string_view name) {
  const auto options = parse_options(call.words.subspan(3), call.answer);
  if (!options) return;
  const auto number = parse_integer(call.words[2]);
  if (!number) return call.answer.not_an_integer();
  using Limits = std::numeric_limits<std::int64_t>;
  if (*number > Limits::max() / unit || *number < Limits::min() / unit ||
      *number * unit > Limits::max() - base_ms)
    return call.answer.error(std::string{"ERR invalid expire time in '"}.append(name).append("' command"));
  const std::int64_t when = *number * unit + base_ms;
  Entry* const entry = call.find(call.words[1]);
  if (!entry || !options->allow(entry->expires_ms, when)) return call.answer.integer(0);
  if (when <= call.now_ms())
    call.keys.erase(call.keys.find(call.words[1]));
  else
    entry->expires_ms = when;
  call.answer.integer(1);
}

/// Returns nothing after writing the answer, if the key is missing or never expires.
std::optional<std::int64_t> expiry(const Call& call) {
  const Entry* const entry = call.find(call.words[1]);
  if (entry && entry->expires_ms >= 0) return entry->expires_ms;
  call.answer.integer(entry ? -1 : -2);
  return std::nullopt;
}

std::int64_t remaining(const Call& call, std::int64_t expires_ms) {
  return std::max<std::int64_t>(expires_ms - call.now_ms(), 0);
}

}  // namespace

void dbsize(const Call& call) { call.answer.integer(static_cast<long long>(call.keys.size())); }

void del(const Call& call) {
  long long deleted = 0;
  for (const std::string_view key : call.words.subspan(1))
    if (call.find(key)) call.keys.erase(call.keys.find(key)), ++deleted;
  call.answer.integer(deleted);
}

void exists(const Call& call) {
  const Words names = call.words.subspan(1);
  call.answer.integer(std::count_if(names.begin(), names.end(), [&](auto key) { return call.find(key); }));
}

void expire(const Call& call) { expire_at(call, 1000, call.now_ms(), "expire"); }
void pexpire(const Call& call) { expire_at(call, 1, call.now_ms(), "pexpire"); }
void pexpireat(const Call& call) { expire_at(call, 1, 0, "pexpireat"); }

void flushall(const Call& call) {
  if (call.words.size() > 2 ||
      (call.words.size() == 2 && !is_word(call.words[1], "sync") && !is_word(call.words[1], "async")))
    return call.answer.syntax_error();
  call.keys.clear();
  call.answer.ok();
}

void persist(const Call& call) {
  Entry* const entry = call.find(call.words[1]);
  call.answer.integer(entry && entry->expires_ms >= 0 ? 1 : 0);
  if (entry) entry->expires_ms = -1;
}

void pexpiretime(const Call& call) {
  if (const auto when = expiry(call)) call.answer.integer(*when);
}
void pttl(const Call& call) {
  if (const auto when = expiry(call)) call.answer.integer(remaining(call, *when));
}
void ttl(const Call& call) {
  if (const auto when = expiry(call)) call.answer.integer((remaining(call, *when) + 500) / 1000);
}

void type(const Call& call) {
  const Entry* const entry = call.find(call.words[1]);
  if (!entry) return call.answer.status("none");
  switch (entry->type) {
    case Entry::Type::string:
      return call.answer.status("string");
    case Entry::Type::list:
      return call.answer.status("list");
    case Entry::Type::set:
      return call.answer.status("set");
    case Entry::Type::sorted_set:
      return call.answer.status("zset");
  }
}

}  // namespace redlock::simulation::key_commands
