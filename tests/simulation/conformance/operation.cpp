#include "simulation/conformance/operation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "redlock/core/wire/shared_scripts.hpp"
#include "simulation/conformance/words.hpp"
#include "simulation/server/command.hpp"

namespace redlock::simulation {
namespace {

using Texts = std::vector<std::string>;

constexpr const core::Script* exclusive_scripts[] = {
    &core::release_script, &core::extend_script,   &core::grant_script, &core::set_script,
    &core::confirm_script, &core::put_back_script, &core::swap_script};

std::string text(std::string_view view) { return std::string{view}; }

bool has(const Texts& words, std::string_view wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

bool has_command(const Texts& words, std::string_view name) {
  return std::any_of(words.begin(), words.end(),
                     [name](const std::string& word) { return is_word(word, name); });
}

/// Whether this is the end of a range of scores for Redis 7.0, but not for all later versions.
bool is_odd_bound(std::string_view word) {
  const std::string_view number = word.substr(word.starts_with('(') ? 1 : 0);
  return number.empty() || number.front() == ' ' || number.front() == '\0' || number.starts_with("0x");
}

/// Whether other versions answer this differently.
bool is_answered_otherwise(const Texts& words) {
  // Redis 8.0 and Valkey 8.1 do not answer a failing AUTH behind a reply that is not yet sent.
  if (is_word(words[0], "auth") && words.size() == 3) return true;
  // Since 7.2 numbers of a script become arguments in their shortest form, which differs for -0 and from 10^17 on.
  if (has(words, "-0")) return true;
  const auto is_call_of = [&](const core::Script& script) {
    return has(words, script.source) || has(words, script.sha1);
  };
  if (has_command(words, "zrangebyscore") && std::any_of(words.begin(), words.end(), is_odd_bound))
    return true;
  // These scripts compute with the remaining time of a key, which may be as large.
  if (is_call_of(core::swap_script) || is_call_of(core::shared_grant_script) ||
      is_call_of(core::shared_put_back_script))
    return true;
  const auto is_huge = [](const std::string& word) {
    return std::abs(std::strtod(word.c_str(), nullptr)) >= 1e17;
  };
  return is_call_of(core::put_back_script) && std::any_of(words.begin(), words.end(), is_huge);
}

}  // namespace

Operation Operations::next() {
  Operation operation = drawn();
  while (!same_version_ && is_answered_otherwise(operation.words)) operation = drawn();
  for (std::size_t i = 0; i < key_count; ++i)
    if (has(operation.words, key_name(i))) operation.expiring.push_back(key_name(i));
  return operation;
}

Operation Operations::drawn() {
  if (random_.one_in(10)) return call_of_line();
  if (random_.one_in(8)) return call_of_reader();
  return {.words = any()};
}

Texts Operations::any() {
  const std::size_t kind = random_.below(10);
  Texts words = kind < 4 ? plain() : kind < 7 ? shipped() : small_script();
  if (random_.one_in(12)) spoil(words);
  return words;
}

std::vector<Operation> Operations::fleeting() {
  std::vector<Operation> all;
  const std::size_t start = random_.below(key_count);
  const auto key = [&](std::size_t i) { return key_name((start + i) % key_count); };
  const auto life = [&] { return std::to_string(random_.between(1, 3)); };
  all.push_back({.words = {"SET", key(0), any_value(random_), "PX", life()}});
  all.push_back({.words = {"PEXPIRE", key(1), life()}});
  all.push_back(
      {.words = {"EVAL", text(core::extend_script.source), "1", key(2), any_owner(random_), life()}});
  all.push_back({.words = {"EVAL", text(core::grant_script.source), "2", key(3), key(4), any_owner(random_),
                           life(), any_proposal(random_, now_us_), "0"}});
  return all;
}

/// Removes, adds or replaces a word.
void Operations::spoil(Texts& words) {
  const auto at = static_cast<std::ptrdiff_t>(random_.below(words.size()));
  const std::string other = any_value(random_);
  switch (random_.below(3)) {
    case 0:
      if (at > 0) words.erase(words.begin() + at);
      break;
    case 1:
      words.insert(words.begin() + at, other);
      break;
    default:
      words[static_cast<std::size_t>(at)] = other;
  }
}

Texts Operations::plain() {
  Texts words;
  switch (random_.below(13)) {
    case 0:
      words = server_command();
      break;
    case 1:
      words = key_command();
      break;
    case 2:
    case 3:
      words = time_command();
      break;
    case 4:
    case 5:
      words = set_command();
      break;
    case 6:
    case 7:
    case 8:
      words = sorted_set_command();
      break;
    case 9:
    case 10:
      words = set_of_names_command();
      break;
    default:
      words = value_command();
  }
  words[0] = any_case(random_, std::move(words[0]));
  return words;
}

Texts Operations::key_command() {
  Texts words{random_.pick({"DEL", "EXISTS", "TYPE"})};
  const std::size_t keys = words[0] == "TYPE" ? 1 : 1 + random_.below(3);
  for (std::size_t i = 0; i < keys; ++i) words.push_back(any_key(random_));
  return words;
}

Texts Operations::time_command() {
  Texts words{random_.pick({"PTTL", "TTL", "PERSIST", "PEXPIRETIME", "PEXPIRE", "EXPIRE", "PEXPIREAT"}),
              any_key(random_)};
  if (words[0] == "PEXPIRE" || words[0] == "EXPIRE") words.push_back(any_life(random_));
  if (words[0] == "PEXPIREAT") {
    const std::string life = any_life(random_);
    words.push_back(life.size() == 10 ? std::to_string(now_us_ / 1000 + std::stoll(life)) : life);
  }
  while (words.size() > 2 && random_.one_in(4))
    words.push_back(any_case(random_, random_.pick({"NX", "XX", "GT", "LT", "YY"})));
  return words;
}

Texts Operations::set_command() {
  Texts words{"SET", any_key(random_), any_value(random_)};
  while (random_.one_in(2)) {
    words.push_back(any_case(random_, random_.pick({"NX", "XX", "GET", "KEEPTTL", "PX", "PX", "EX"})));
    if (words.back() == "PX" || words.back() == "EX") words.push_back(any_life(random_));
  }
  return words;
}

Texts Operations::value_command() {
  Texts words{random_.pick({"GET", "GET", "GETRANGE", "SETNX", "INCR", "INCR", "RPUSH"}), any_key(random_)};
  if (words[0] == "SETNX" || words[0] == "RPUSH") words.push_back(any_value(random_));
  if (words[0] == "RPUSH" && random_.one_in(2)) words.push_back(any_value(random_));
  if (words[0] == "GETRANGE") {
    words.push_back(any_index(random_));
    words.push_back(any_index(random_));
  }
  return words;
}

Texts Operations::server_command() {
  switch (random_.below(14)) {
    case 0:
      return {"TIME"};
    case 1:
      return {"ROLE"};
    case 2:
      return {"INFO", "server"};
    case 3:
      return {"ECHO", any_value(random_)};
    case 4:
      return random_.one_in(2) ? Texts{"PING"} : Texts{"PING", any_value(random_)};
    case 5:
      return {"SELECT", random_.one_in(2) ? "0" : any_value(random_)};
    case 6:
      return random_.one_in(2) ? Texts{"AUTH", any_value(random_)}
                               : Texts{"AUTH", any_value(random_), any_value(random_)};
    case 7:
      return random_.one_in(2) ? Texts{"FLUSHALL"} : Texts{"FLUSHALL", random_.pick({"Async", "never"})};
    case 8:
    case 9:
      return {"DBSIZE"};
    case 10:
    case 11: {
      Texts words{"PUBLISH", any_channel(random_)};
      words.push_back(any_value(random_));
      return words;
    }
    default:
      return script_command();
  }
}

Texts Operations::script_command() {
  const core::Script& script = *core::all_scripts[random_.below(std::size(core::all_scripts))];
  switch (random_.below(5)) {
    case 0:
      return {"SCRIPT", "LOAD", text(script.source)};
    case 1:
      return {"SCRIPT", any_case(random_, "EXISTS"), text(script.sha1), any_value(random_)};
    case 2:
      return random_.one_in(2) ? Texts{"SCRIPT", "FLUSH"}
                               : Texts{"SCRIPT", "FLUSH", random_.pick({"SYNC", "ASYNC", "never"})};
    case 3:
      return {"SCRIPT", "LOAD", any_source()};
    default:
      return {"SCRIPT", random_.pick({"LOAD", "EXISTS", "LOUD"})};
  }
}

/// One of the scripts of exclusive locks, by digest or by source.
Texts Operations::shipped() {
  const core::Script& script = *exclusive_scripts[random_.below(std::size(exclusive_scripts))];
  const bool has_counter =
      &script != &core::release_script && (&script != &core::extend_script || random_.one_in(2));
  Texts words = random_.one_in(4) ? Texts{"EVAL", text(script.source)} : Texts{"EVALSHA", text(script.sha1)};
  words.push_back(has_counter ? "2" : "1");
  const bool apart = random_.one_in(8);
  const std::size_t pair = random_.below(key_count / 2) * 2;
  words.push_back(apart ? any_key(random_) : key_name(pair));
  if (has_counter) words.push_back(apart ? any_key(random_) : key_name(pair + 1));
  words.push_back(random_.one_in(8) ? any_value(random_) : any_owner(random_));
  if (&script == &core::release_script) {
    if (random_.one_in(2)) words.push_back(any_life(random_));
    return words;
  }
  words.push_back(&script == &core::confirm_script ? any_proposal(random_, now_us_) : any_life(random_));
  if (&script == &core::extend_script) {
    words.push_back(random_.one_in(2) ? "0" : any_life(random_));
    return words;
  }
  words.push_back(any_proposal(random_, now_us_));
  words.push_back(random_.one_in(2) ? "0" : any_life(random_));
  return words;
}

}  // namespace redlock::simulation
