#include "simulation/server/command.hpp"

#include <algorithm>
#include <array>

#include "simulation/server/commands/key_commands.hpp"
#include "simulation/server/commands/set_commands.hpp"
#include "simulation/server/commands/sorted_set_commands.hpp"
#include "simulation/server/commands/string_commands.hpp"

namespace redlock::simulation {
namespace {

void ping(const Call& call) {
  if (call.words.size() > 2) return call.answer.error("ERR wrong number of arguments for 'ping' command");
  if (call.words.size() == 2) return call.answer.string(call.words[1]);
  call.answer.status("PONG");
}

void echo(const Call& call) { call.answer.string(call.words[1]); }

void time(const Call& call) {
  std::vector<Reply> parts(2);
  Answer{parts[0]}.string(std::to_string(call.now_us / 1'000'000));
  Answer{parts[1]}.string(std::to_string(call.now_us % 1'000'000));
  call.answer.array(std::move(parts));
}

/// There is no password.
void auth(const Call& call) {
  if (call.words.size() > 3) return call.answer.syntax_error();
  if (call.words.size() == 2)
    return call.answer.error(
        "ERR AUTH <password> called without any password configured for the default user. "
        "Are you sure your configuration is correct?");
  if (call.words[1] == "default") return call.answer.ok();
  call.answer.error("WRONGPASS invalid username-password pair or user is disabled.");
}

/// There is one database.
void select(const Call& call) {
  const auto index = parse_integer(call.words[1]);
  if (!index) return call.answer.not_an_integer();
  if (*index != static_cast<std::int32_t>(*index))
    return call.answer.error("ERR value is out of range, value must between -2147483648 and 2147483647");
  if (*index != 0) return call.answer.error("ERR DB index is out of range");
  call.answer.ok();
}

// The commands that locks use most come first.
constexpr Command commands[] = {
    {"set", -3, {.writes = true, .memory = true}, string_commands::set},
    {"evalsha", -3, {.no_script = true}, nullptr},
    {"get", 2, {}, string_commands::get},
    {"getrange", 4, {}, string_commands::getrange},
    {"pttl", 2, {}, key_commands::pttl},
    {"pexpire", -3, {.writes = true}, key_commands::pexpire},
    {"del", -2, {.writes = true}, key_commands::del},
    {"exists", -2, {}, key_commands::exists},
    {"time", 1, {.while_loading = true}, time},
    {"eval", -3, {.no_script = true}, nullptr},
    {"script|load", 3, {.no_script = true}, nullptr},
    {"script|exists", -3, {.no_script = true}, nullptr},
    {"script|flush", -2, {.no_script = true}, nullptr},
    {"script", -2, {.no_script = true}, nullptr},  // without a subcommand
    {"info", -1, {.while_loading = true}, nullptr},
    {"role", 1, {.no_script = true, .while_loading = true}, nullptr},
    {"ping", -1, {.subscribing = true}, ping},
    {"echo", 2, {.while_loading = true}, echo},
    {"auth", -2, {.no_script = true, .while_loading = true}, auth},
    {"select", 2, {.while_loading = true}, select},
    {"setnx", 3, {.writes = true, .memory = true}, string_commands::setnx},
    {"incr", 2, {.writes = true, .memory = true}, string_commands::incr},
    {"rpush", -3, {.writes = true, .memory = true}, string_commands::rpush},
    {"type", 2, {}, key_commands::type},
    {"ttl", 2, {}, key_commands::ttl},
    {"pexpiretime", 2, {}, key_commands::pexpiretime},
    {"expire", -3, {.writes = true}, key_commands::expire},
    {"pexpireat", -3, {.writes = true}, key_commands::pexpireat},
    {"persist", 2, {.writes = true}, key_commands::persist},
    {"dbsize", 1, {}, key_commands::dbsize},
    {"sadd", -3, {.writes = true, .memory = true}, set_commands::sadd},
    {"sismember", 3, {}, set_commands::sismember},
    {"smembers", 2, {}, set_commands::smembers},
    {"srem", -3, {.writes = true}, set_commands::srem},
    {"zadd", -4, {.writes = true, .memory = true}, sorted_set_commands::zadd},
    {"zcard", 2, {}, sorted_set_commands::zcard},
    {"zrange", -4, {}, sorted_set_commands::zrange},
    {"zrangebyscore", -4, {}, sorted_set_commands::zrangebyscore},
    {"zrank", 3, {}, sorted_set_commands::zrank},
    {"zrem", -3, {.writes = true}, sorted_set_commands::zrem},
    {"zscore", 3, {}, sorted_set_commands::zscore},
    {"publish", 3, {.while_loading = true}, nullptr},
    {"subscribe", -2, {.no_script = true, .subscribing = true, .while_loading = true}, nullptr},
    {"unsubscribe", -1, {.no_script = true, .subscribing = true, .while_loading = true}, nullptr},
    {"flushall", -1, {.writes = true}, key_commands::flushall},
};

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const Command* find_command(Words words) noexcept {
  std::array<char, 16> name{};
  std::size_t size = 0;
  const auto add = [&](std::string_view text) {
    if (size + text.size() > name.size()) return false;
    std::transform(text.begin(), text.end(), name.begin() + size, lower);
    size += text.size();
    return true;
  };
  if (!add(words[0])) return nullptr;
  if (words.size() > 1 && is_word(words[0], "script") && !(add("|") && add(words[1]))) return nullptr;
  const std::string_view wanted{name.data(), size};
  for (const Command& command : commands)
    if (command.name == wanted) return &command;
  return nullptr;
}

bool is_word(std::string_view word, std::string_view lower_case) noexcept {
  return word.size() == lower_case.size() && std::equal(word.begin(), word.end(), lower_case.begin(),
                                                        [](char a, char b) { return lower(a) == b; });
}

std::string repeated(std::string_view word, std::size_t most) {
  std::string text{word.substr(0, word.find('\0')).substr(0, most)};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || (digits.front() == '0' && text != "0")) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace redlock::simulation
