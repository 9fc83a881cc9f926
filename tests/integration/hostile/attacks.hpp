// What a hostile node may do to the replies of a Redis server.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "support/network/proxy.hpp"

namespace redlock::testing {

/// Makes the proxy, which is between a client and its server, hostile.
struct Attack {
  std::string name;
  std::function<void(Proxy&)> begin;
};

/// Whether an attack took effect: the proxy has changed replies, sent a flood, or made pauses between bytes.
inline bool was_hostile(const Proxy& proxy) {
  const ProxyCounters counters = proxy.counters();
  return counters.changed_replies + counters.flood_bytes + counters.trickled_bytes > 0;
}

/// What terminals obey, and what makes a text look like another one: CSI and OSC of C0, C1 as a byte, in UTF-8 and in
/// UTF-8 that is longer than necessary, DEL, separators of lines, overrides of the direction, a half of a surrogate pair,
/// and characters that are not shown: of no width, a soft hyphen, a filler, a tag, a variation selector, a noncharacter.
inline const std::string escapes =
    "\x1b[2J\x1b]0;x\x07\x9b\x33\xc2\x9b\x33\xe0\x82\x9b\x33\x7f\b\xc2\x85\xe2\x80\xa8\xe2\x80\xa9"
    "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xed\xa0\x80\xf5\x80\x80\x80"
    "\xe2\x80\x8b\xef\xbb\xbf\xc2\xad\xe3\x85\xa4\xf3\xa0\x81\x81\xef\xb8\x8f\xef\xbf\xbf";

namespace attack {

using Command = std::vector<std::string>;

inline std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
inline std::string integer(std::int64_t number) { return ":" + std::to_string(number) + "\r\n"; }
inline std::string array(const std::vector<std::string>& elements) {
  std::string all = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& element : elements) all += element;
  return all;
}

inline bool names(const Command& command, std::string_view word) {
  return !command.empty() && command[0] == word;
}
inline bool calls(const Command& command, std::string_view source, std::string_view sha1 = "none") {
  return (names(command, "EVAL") || names(command, "EVALSHA")) &&
         (command.at(1) == source || command.at(1) == sha1);
}
inline bool calls(const Command& command, const core::Script& script) {
  return calls(command, script.source, script.sha1);
}
inline bool calls_one(const Command& command, std::initializer_list<core::Script> scripts) {
  return std::ranges::any_of(scripts, [&](const core::Script& script) { return calls(command, script); });
}
inline bool calls_any(const Command& command) { return names(command, "EVAL") || names(command, "EVALSHA"); }
inline bool is_grant(const Command& command) {
  return calls_one(command, {core::grant_script, core::shared_grant_script});
}

inline std::function<void(Proxy&)> replies(ReplyRewriting rewriting) {
  return [rewriting = std::move(rewriting)](Proxy& proxy) { proxy.rewrite(rewriting); };
}
/// Each reply for which `is_meant(command)` becomes one of `falsehoods`, in turn.
template <class IsMeant>
std::function<void(Proxy&)> in_turn(IsMeant is_meant, std::vector<std::string> falsehoods) {
  return replies([=, next = std::make_shared<std::size_t>(0)](const Command& command, std::string reply) {
    return is_meant(command) ? falsehoods[(*next)++ % falsehoods.size()] : std::move(reply);
  });
}
inline bool is_any(const Command&) { return true; }

/// Two replies change places, also those on different connections.
inline std::string swapped(std::string& kept, std::string reply) {
  if (kept.empty()) {
    kept = std::move(reply);
    return {};
  }
  return std::move(reply) + std::exchange(kept, {});
}

/// Replaces the text after `field` up to a byte of `ends`, in a bulk string or in an array of them, by one of the same size.
inline std::string with_field(std::string reply, std::string_view field, std::string_view ends,
                              std::string text) {
  const std::size_t at = reply.find(field);
  if (at == reply.npos) return reply;
  const std::size_t begin = at + field.size();
  const std::size_t size = reply.find_first_of(ends, begin) - begin;
  text.resize(size, '0');
  return reply.replace(begin, size, text);
}

inline std::function<void(Proxy&)> false_run_id(std::string run_id) {
  return replies([run_id = std::move(run_id)](const Command& command, std::string reply) {
    if (names(command, "INFO")) return with_field(std::move(reply), "run_id:", "\r", run_id);
    if (!calls(command, core::mark_script)) return reply;
    return reply.replace(reply.rfind("$40\r\n") + 5, 40, run_id);
  });
}
inline std::function<void(Proxy&)> changing_run_ids() {
  return replies([next = std::make_shared<unsigned>(0)](const Command& command, std::string reply) {
    if (names(command, "INFO")) return with_field(std::move(reply), "run_id:", "\r", std::to_string(++*next));
    return reply;
  });
}
inline std::function<void(Proxy&)> false_markers() {
  const auto reply = [](const std::string& text) {
    return array({bulk(text), integer(-2), integer(1), integer(1), bulk(std::string(40, '0'))});
  };
  const std::string begin = "redlock 1 deployment=0123456789abcdef nodes=";
  const std::string end = " node=0123456789abcdef run_id=";
  return in_turn([](const Command& command) { return calls(command, core::mark_script); },
                 {reply(""), reply(begin + "5 max_ttl=1" + end), reply(begin + "7 max_ttl=60000" + end),
                  reply(begin + "5 max_ttl=99999999999999999999" + end),
                  reply(begin + "5 max_ttl=60000 ceiling=31536000000" + end + std::string(500, 'x')),
                  reply(std::string(60'000, 'x')), reply("redlock 2 ")});
}
inline std::function<void(Proxy&)> false_clock() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return replies([turn = std::make_shared<unsigned>(0)](const Command& command, std::string reply) {
    const std::int64_t number = std::array{most, -most - 1, std::int64_t{0}}[++*turn % 3];
    const std::string word = std::array{"nan", "inf", "-1e308", "99999999999999999999"}[*turn % 4];
    if (names(command, "TIME")) return array({bulk(word), bulk(word)});
    if (names(command, "PTTL")) return integer(number);
    if (!calls(command, core::mark_script)) return reply;
    // The marker stays as it is; quarantine, time and uptime change.
    const std::size_t begin = reply.find("\r\n:") + 2;
    const std::size_t end = reply.find('$', begin);
    return reply.replace(begin, end - begin, integer(number) + integer(number) + integer(number));
  });
}
/// What the scripts may reply, and other things.
inline std::vector<std::string> script_answers() {
  const std::string text = bulk("text");
  return {integer(-1),
          integer(2),
          integer(std::numeric_limits<std::int64_t>::min()),
          integer(std::int64_t{1} << 53U),
          "$-1\r\n",
          "*-1\r\n",
          "*0\r\n",
          "+OK\r\n",
          text,
          array({text}),
          array({text, text}),
          array({integer(1), integer(1)}),
          array({text, integer(1), text}),
          array({text, integer(std::numeric_limits<std::int64_t>::max())}),
          array({integer(-7), integer(-7), integer(-7), integer(-7), text}),
          array({integer(0), integer(-1), integer(-1), integer(1), bulk(std::string(60'000, 'x'))})};
}
inline std::vector<std::string> error_answers() {
  std::vector<std::string> all;
  for (const char* const code :
       {"LOADING", "BUSY", "OOM", "MISCONF", "NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "WRONGTYPE",
        "MASTERDOWN", "BADCOUNTER", "NOSCRIPT", "UNMARKED", "UNMARKED -1", "UNMARKED 99999999999999999999",
        "MOVED 1 10.0.0.1:1", "", " ", "ERR"})
    all.push_back(std::string{"-"} + code + " x\r\n");
  return all;
}
/// What the script of the line replies: this member's rank, and for how many ms one before it counts as alive.
inline std::string place_in_line(std::int64_t rank, std::int64_t left) {
  return array({integer(rank), integer(rank + 1), integer(left), integer(1), bulk("a line")});
}
inline std::string yes_to(const Command& command, std::string reply) {
  if (is_grant(command) ||
      calls_one(command, {core::confirm_script, core::release_script, core::extend_script,
                          core::put_back_script, core::swap_script, core::shared_release_script,
                          core::shared_extend_script, core::shared_put_back_script}))
    return integer(1);
  if (calls(command, core::set_script) || names(command, "SET")) return "+OK\r\n";
  return calls(command, core::line_script) ? place_in_line(0, -1) : std::move(reply);
}
/// As if somebody else had every lock, and stood first in every line. `holder`: in the form of an owner value, or any text.
inline std::string no_to(const Command& command, std::string reply, const std::string& holder) {
  if (is_grant(command) || calls(command, core::swap_script)) return array({bulk(holder), integer(60'000)});
  if (calls(command, core::set_script) || names(command, "SET")) return "$-1\r\n";
  if (calls_one(command, {core::extend_script, core::shared_extend_script})) return integer(-1);
  if (calls_one(command, {core::confirm_script, core::release_script, core::put_back_script,
                          core::shared_release_script, core::shared_put_back_script}))
    return integer(0);
  if (calls(command, core::line_script)) return place_in_line(1, 60'000);
  if (names(command, "GETRANGE")) return bulk(holder);
  return names(command, "PTTL") ? integer(60'000) : std::move(reply);
}
inline std::function<void(Proxy&)> held_by(const std::string& holder) {
  return replies([holder](const Command& command, std::string reply) {
    return no_to(command, std::move(reply), holder);
  });
}
/// Each string in a reply becomes `text`.
inline std::function<void(Proxy&)> strings_are(const std::string& text) {
  return replies([text](const Command&, const std::string& reply) {
    std::string all;
    for (std::size_t at = 0; at < reply.size();) {
      const std::size_t end = reply.find("\r\n", at) + 2;
      const bool is_string = reply[at] == '$' && reply[at + 1] != '-';
      all += is_string ? bulk(text) : reply.substr(at, end - at);
      at = is_string ? end + std::stoul(reply.substr(at + 1)) + 2 : end;
    }
    return all;
  });
}

}  // namespace attack

/// `other_run_id`: that of another node.
inline std::vector<Attack> all_attacks(const std::string& other_run_id) {
  using namespace attack;
  using namespace std::chrono_literals;
  const std::string message = "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n";
  const std::string digits(40, '0');
  std::string nested;
  for (int level = 0; level < 2000; ++level) nested += "*1\r\n";
  const auto is_digest = [](const Command& command) { return names(command, "SCRIPT"); };
  return {
      {"garbage",
       in_turn(is_any, {std::string(100, '\0'), "\xff\xfe", "HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "+",
                        ":12x\r\n", "$-2\r\n", "%1\r\n+a\r\n+b\r\n", "\x15\x03\x01"})},
      {"deep nesting", in_turn(is_any, {nested, "*2\r\n*2\r\n*2\r\n*2\r\n:1\r\n"})},
      {"huge lengths", in_turn(is_any, {"$2147483647\r\nx", "*1000000000\r\n", "$9223372036854775807\r\n",
                                        "*9223372036854775807\r\n", "*4097\r\n", "$65537\r\n"})},
      {"one byte a second", [](Proxy& proxy) { proxy.trickle(1s, Direction::to_client); }},
      {"swapped replies",
       replies([kept = std::make_shared<std::string>()](const Command&, std::string reply) {
         return swapped(*kept, std::move(reply));
       })},
      {"missing replies", replies([count = std::make_shared<int>(0)](const Command&, std::string reply) {
         return ++*count % 3 == 0 ? std::string{} : std::move(reply);
       })},
      {"no replies", replies([](const Command&, const std::string&) { return std::string{}; })},
      {"extra replies", replies([](const Command&, const std::string& reply) { return reply + reply; })},
      {"replies without end", [](Proxy& proxy) { proxy.flood("+OK\r\n", "ROLE"); }},
      {"a reply without end", in_turn(is_any, {"+" + std::string(1U << 17U, 'x')})},
      {"the run_id of another node", false_run_id(other_run_id)},
      {"another run_id each time", changing_run_ids()},
      {"counters near 2^53", in_turn(is_grant, {integer((std::int64_t{1} << 53U) - 2)})},
      {"counters of 1", in_turn(is_grant, {integer(1)})},
      {"false markers", false_markers()},
      {"false digests", in_turn(is_digest, {bulk(digits), bulk(""), integer(1), "*0\r\n"})},
      {"unknown scripts", in_turn(calls_any, {"-NOSCRIPT No matching script.\r\n"})},
      {"false clock", false_clock()},
      {"false script answers", in_turn(calls_any, script_answers())},
      {"errors", in_turn(calls_any, error_answers())},
      {"errors to everything", in_turn(is_any, error_answers())},
      {"yes to everything", replies(yes_to)},
      {"held by somebody else", held_by(digits + " nobody @0")},
      {"a flood of invalidations",
       [=](Proxy& proxy) { proxy.flood(message + "*1\r\n$1\r\nr\r\n", "SUBSCRIBE"); }},
      {"a flood of flushes", [=](Proxy& proxy) { proxy.flood(message + "*-1\r\n", "SUBSCRIBE"); }},
      {"escapes in errors", in_turn(is_any, {"-ERR " + escapes + "\r\n", "-NOAUTH " + escapes + "\r\n"})},
      {"escapes in errors of scripts",
       in_turn(calls_any, {"-" + escapes + "\r\n", "-OOM " + escapes + "\r\n"})},
      {"escapes in strings", strings_are(escapes + "\n\r\n")},
      {"escapes in statuses", in_turn(is_any, {"+" + escapes + "\r\n"})},
      {"escapes in holders", held_by(digits + " " + escapes + "\n @0")},
  };
}

}  // namespace redlock::testing
