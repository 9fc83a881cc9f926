#include "simulation/conformance/operation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "simulation/conformance/words.hpp"
#include "simulation/server/command.hpp"

namespace redlock::simulation {
namespace {

using Texts = std::vector<std::string>;

std::string text(std::string_view view) { return std::string{view}; }

bool has(const Texts& words, std::string_view wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

/// Where other versions have answers of their own.
bool is_answered_otherwise(const Texts& words) {
  // Redis 8.0 and Valkey 8.1 leave AUTH unanswered, when it fails behind a reply that is not sent yet.
  if (is_word(words[0], "auth") && words.size() == 3) return true;
  // From 7.2 on a script's numbers become arguments in the shortest form: another one for -0, and from 10^17 on.
  if (has(words, "-0")) return true;
  const auto is_call_of = [&](const core::Script& script) {
    return has(words, script.source) || has(words, script.sha1);
  };
  // The time that a key has left, which this one computes with, may be as much.
  if (is_call_of(core::swap_script)) return true;
  const auto is_huge = [](const std::string& word) {
    return std::abs(std::strtod(word.c_str(), nullptr)) >= 1e17;
  };
  return is_call_of(core::put_back_script) && std::any_of(words.begin(), words.end(), is_huge);
}

}  // namespace

Operation Operations::next() {
  Operation operation{.words = any()};
  while (!same_version_ && is_answered_otherwise(operation.words)) operation.words = any();
  for (std::size_t i = 0; i < key_count; ++i)
    if (has(operation.words, key_name(i))) operation.expiring.push_back(key_name(i));
  return operation;
}

Texts Operations::any() {
  const std::size_t kind = dice_.below(10);
  Texts words = kind < 4 ? plain() : kind < 7 ? shipped() : small_script();
  if (dice_.one_in(12)) spoil(words);
  return words;
}

std::vector<Operation> Operations::fleeting() {
  std::vector<Operation> all;
  const std::size_t start = dice_.below(key_count);
  const auto key = [&](std::size_t i) { return key_name((start + i) % key_count); };
  const auto life = [&] { return std::to_string(dice_.between(1, 3)); };
  all.push_back({.words = {"SET", key(0), any_value(dice_), "PX", life()}});
  all.push_back({.words = {"PEXPIRE", key(1), life()}});
  all.push_back({.words = {"EVAL", text(core::extend_script.source), "1", key(2), any_owner(dice_), life()}});
  all.push_back({.words = {"EVAL", text(core::grant_script.source), "2", key(3), key(4), any_owner(dice_),
                           life(), any_proposal(dice_, now_us_), "0"}});
  return all;
}

/// Takes a word away, adds one, or puts another in its place.
void Operations::spoil(Texts& words) {
  const auto at = static_cast<std::ptrdiff_t>(dice_.below(words.size()));
  const std::string other = any_value(dice_);
  switch (dice_.below(3)) {
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
  switch (dice_.below(8)) {
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
    default:
      words = value_command();
  }
  words[0] = any_case(dice_, std::move(words[0]));
  return words;
}

Texts Operations::key_command() {
  Texts words{dice_.pick({"DEL", "EXISTS", "TYPE"})};
  const std::size_t keys = words[0] == "TYPE" ? 1 : 1 + dice_.below(3);
  for (std::size_t i = 0; i < keys; ++i) words.push_back(any_key(dice_));
  return words;
}

Texts Operations::time_command() {
  Texts words{dice_.pick({"PTTL", "TTL", "PERSIST", "PEXPIRETIME", "PEXPIRE", "EXPIRE", "PEXPIREAT"}),
              any_key(dice_)};
  if (words[0] == "PEXPIRE" || words[0] == "EXPIRE") words.push_back(any_life(dice_));
  if (words[0] == "PEXPIREAT") {
    const std::string life = any_life(dice_);
    words.push_back(life.size() == 10 ? std::to_string(now_us_ / 1000 + std::stoll(life)) : life);
  }
  while (words.size() > 2 && dice_.one_in(4))
    words.push_back(any_case(dice_, dice_.pick({"NX", "XX", "GT", "LT", "YY"})));
  return words;
}

Texts Operations::set_command() {
  Texts words{"SET", any_key(dice_), any_value(dice_)};
  while (dice_.one_in(2)) {
    words.push_back(any_case(dice_, dice_.pick({"NX", "XX", "GET", "KEEPTTL", "PX", "PX", "EX"})));
    if (words.back() == "PX" || words.back() == "EX") words.push_back(any_life(dice_));
  }
  return words;
}

Texts Operations::value_command() {
  Texts words{dice_.pick({"GET", "GET", "GETRANGE", "SETNX", "INCR", "INCR", "RPUSH"}), any_key(dice_)};
  if (words[0] == "SETNX" || words[0] == "RPUSH") words.push_back(any_value(dice_));
  if (words[0] == "RPUSH" && dice_.one_in(2)) words.push_back(any_value(dice_));
  if (words[0] == "GETRANGE") {
    words.push_back(any_index(dice_));
    words.push_back(any_index(dice_));
  }
  return words;
}

Texts Operations::server_command() {
  switch (dice_.below(12)) {
    case 0:
      return {"TIME"};
    case 1:
      return {"ROLE"};
    case 2:
      return {"INFO", "server"};
    case 3:
      return {"ECHO", any_value(dice_)};
    case 4:
      return dice_.one_in(2) ? Texts{"PING"} : Texts{"PING", any_value(dice_)};
    case 5:
      return {"SELECT", dice_.one_in(2) ? "0" : any_value(dice_)};
    case 6:
      return dice_.one_in(2) ? Texts{"AUTH", any_value(dice_)}
                             : Texts{"AUTH", any_value(dice_), any_value(dice_)};
    case 7:
      return dice_.one_in(2) ? Texts{"FLUSHALL"} : Texts{"FLUSHALL", dice_.pick({"Async", "never"})};
    case 8:
    case 9:
      return {"DBSIZE"};
    default:
      return script_command();
  }
}

Texts Operations::script_command() {
  const core::Script& script = *core::all_scripts[dice_.below(std::size(core::all_scripts))];
  switch (dice_.below(5)) {
    case 0:
      return {"SCRIPT", "LOAD", text(script.source)};
    case 1:
      return {"SCRIPT", any_case(dice_, "EXISTS"), text(script.sha1), any_value(dice_)};
    case 2:
      return dice_.one_in(2) ? Texts{"SCRIPT", "FLUSH"}
                             : Texts{"SCRIPT", "FLUSH", dice_.pick({"SYNC", "ASYNC", "never"})};
    case 3:
      return {"SCRIPT", "LOAD", any_source()};
    default:
      return {"SCRIPT", dice_.pick({"LOAD", "EXISTS", "LOUD"})};
  }
}

/// One of the library's own, by digest or as a whole.
Texts Operations::shipped() {
  const core::Script& script = *core::all_scripts[dice_.below(std::size(core::all_scripts))];
  const bool has_counter =
      &script != &core::release_script && (&script != &core::extend_script || dice_.one_in(2));
  Texts words = dice_.one_in(4) ? Texts{"EVAL", text(script.source)} : Texts{"EVALSHA", text(script.sha1)};
  words.push_back(has_counter ? "2" : "1");
  const bool apart = dice_.one_in(8);
  const std::size_t pair = dice_.below(key_count / 2) * 2;
  words.push_back(apart ? any_key(dice_) : key_name(pair));
  if (has_counter) words.push_back(apart ? any_key(dice_) : key_name(pair + 1));
  words.push_back(dice_.one_in(8) ? any_value(dice_) : any_owner(dice_));
  if (&script == &core::release_script) return words;
  words.push_back(&script == &core::confirm_script ? any_proposal(dice_, now_us_) : any_life(dice_));
  if (&script == &core::extend_script) {
    words.push_back(dice_.one_in(2) ? "0" : any_life(dice_));
    return words;
  }
  words.push_back(any_proposal(dice_, now_us_));
  words.push_back(dice_.one_in(2) ? "0" : any_life(dice_));
  return words;
}

}  // namespace redlock::simulation
