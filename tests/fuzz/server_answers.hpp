// What servers answer to a client: what they should, and what they should not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "unit/support/guarded_nodes.hpp"
#include "unit/support/handshake_replies.hpp"

namespace redlock::testing {

/// A server that answers as Redis does. If it agrees, every key is free for whoever asks, and whoever stands in a line is the
/// first one there. If it does not, everything is held by somebody else.
class FuzzedServer {
 public:
  explicit FuzzedServer(int number) {
    marked_.run_id = std::string(39, 'a').append(1, static_cast<char>('0' + number));
  }

  [[nodiscard]] core::Reply answer(const std::vector<std::string>& words, bool agrees, core::Time now) {
    const std::string& name = words.front();
    if (name == "ROLE") return role_reply("master");
    if (name == "INFO") return string_reply("run_id:" + marked_.run_id + "\r\nuptime_in_seconds:9\r\n");
    if (name == "PING") return text_reply(core::Reply::Kind::status, "PONG");
    if (name == "PTTL") return number(agrees ? -2 : 90);
    if (name == "SET" && words.size() > 5) return agrees ? ok() : nil();  // with NX
    if (name == "GETRANGE") return string_reply(agrees ? owner_ : "");
    if (name == "SUBSCRIBE")
      return array_reply({string_reply("subscribe"), string_reply(words.at(1)), number(1)});
    if (name == "CLIENT" && words.at(1) == "ID") return number(7);
    if (name == "SCRIPT") return loaded(words.at(2));
    if (name == "EVAL" || name == "EVALSHA") return run(words, agrees, now);
    return ok();
  }

 private:
  [[nodiscard]] static core::Reply loaded(std::string_view source) {
    for (const core::Script* const script : core::loaded_scripts)
      if (script->source == source) return string_reply(std::string{script->sha1});
    return ok();
  }
  [[nodiscard]] core::Reply run(const std::vector<std::string>& words, bool agrees, core::Time now) {
    const auto calls = [&](const core::Script& script) {
      return words[1] == script.sha1 || words[1] == script.source;
    };
    if (words[1] == core::mark_script) return marked_.execute(words, now);
    if (calls(core::set_script)) return agrees ? ok() : nil();
    if (calls(core::grant_script) && !agrees)
      return array_reply({string_reply("0123456789abcdef somebody @1790000000"), number(90)});
    if (calls(core::grant_script)) {
      owner_ = words.at(3 + std::stoul(words.at(2)));
      return number(static_cast<long long>(++counter_));
    }
    if (!calls(core::line_script)) return number(1);
    const bool leaves = words.at(7).empty();
    return array_reply(
        {number(leaves ? -1 : 0), number(leaves ? 0 : 1), number(-1), number(1), string_reply("line 1")});
  }

  MarkedServer marked_;
  std::string owner_;
  std::uint64_t counter_ = 1'790'000'000'000'000;
};

/// A reply that no command expects, or not now.
[[nodiscard]] inline core::Reply odd_reply(std::size_t choice) {
  using Kind = core::Reply::Kind;
  static const std::vector<core::Reply> replies = [] {
    std::vector<core::Reply> all{nil(), ok(), array_reply({}), array_reply({array_reply({array_reply({})})})};
    constexpr long long largest = std::numeric_limits<long long>::max();
    for (const long long value : {0LL, 1LL, -1LL, -2LL, 9'007'199'254'740'990LL, largest, -largest - 1})
      all.push_back(number(value));
    for (const char* const text :
         {"", "NOSCRIPT No matching script", "LOADING Redis is loading", "READONLY You can't write",
          "NOAUTH Authentication required.", "NOPERM this user has no permissions", "OOM command not allowed",
          "MOVED 1 127.0.0.1:7", "BUSY a script runs", "UNMARKED -2 ms of quarantine are left",
          "UNMARKED 99999999999999999999 ms of quarantine are left", "BADCOUNTER fence is not a whole number",
          "WRONGTYPE Operation against a key", "ERR unknown command", "\x1b[2J\r\n\xc2\x9b"}) {
      all.push_back(text_reply(Kind::error, text));
      all.push_back(string_reply(text));
    }
    for (const long long value : {-1LL, 0LL, 1LL, largest}) {
      all.push_back(
          array_reply({number(value), number(value), number(value), number(1), string_reply("line 2")}));
      all.push_back(
          array_reply({number(0), number(value), number(value), number(0), string_reply("line 1")}));
      all.push_back(array_reply({string_reply("0123456789abcdef somebody"), number(value)}));
      all.push_back(
          array_reply({string_reply("x"), number(value), number(value), number(value), string_reply("y")}));
    }
    all.push_back(string_reply(std::string(60'000, 'x')));
    return all;
  }();
  return replies[choice % replies.size()];
}

/// What a server sends to a listener: of a changed key, of all keys, of a turn, or of something else.
[[nodiscard]] inline core::Reply server_message(std::size_t choice, const std::string& key,
                                                const std::string& member) {
  const auto message = [](std::string channel, core::Reply what) {
    return array_reply({string_reply("message"), string_reply(std::move(channel)), std::move(what)});
  };
  const std::string changes{core::invalidation_channel};
  switch (choice % 7) {
    case 0:
    case 1:
      return message(changes, array_reply({string_reply(key)}));
    case 2:
      return message(changes, nil());
    case 3:
      return message(core::turn_channel(member), string_reply(core::LineKeys{key}.order));
    case 4:
      return message(core::turn_channel(member), string_reply(""));
    case 5:
      return message("another", array_reply({number(1), nil()}));
    default:
      return array_reply({string_reply("pong"), string_reply("")});
  }
}

}  // namespace redlock::testing
