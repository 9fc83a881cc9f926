// One command of a simulated server.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/wire/reply.hpp"
#include "simulation/server/flaw.hpp"
#include "simulation/server/keyspace.hpp"

namespace redlock::simulation {

using core::Reply;
using Words = std::span<const std::string_view>;

/// Overwrites a reply and reuses its memory, as there are many scripts with several calls each.
class Answer {
 public:
  explicit Answer(Reply& reply) noexcept : reply_{&reply} {}

  void nil() const { become(Reply::Kind::nil, {}); }
  void status(std::string_view text) const { become(Reply::Kind::status, text); }
  void ok() const { status("OK"); }
  void string(std::string_view text) const { become(Reply::Kind::string, text); }
  void error(std::string_view text) const { become(Reply::Kind::error, text); }
  void integer(long long number) const {
    become(Reply::Kind::integer, {});
    reply_->integer = number;
  }
  void array(std::vector<Reply> elements) const {
    become(Reply::Kind::array, {});
    reply_->elements = std::move(elements);
  }

  void wrong_type() const { error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
  void syntax_error() const { error("ERR syntax error"); }
  void not_an_integer() const { error("ERR value is not an integer or out of range"); }

 private:
  void become(Reply::Kind kind, std::string_view text) const {
    reply_->kind = kind;
    reply_->integer = 0;
    reply_->text = text;
    reply_->elements.clear();
  }

  Reply* reply_;
};

/// A command during its execution, and the data that it works on.
struct Call {
  Words words;
  std::int64_t now_us;
  Keyspace& keys;
  Answer answer;
  Flaw flaw;
  bool is_replica;

  [[nodiscard]] std::int64_t now_ms() const noexcept { return now_us / 1000; }

  /// Returns null if the key is missing or expired. An expired key is deleted on access, but not by a replica, which waits
  /// for its master to delete it.
  [[nodiscard]] Entry* find(std::string_view key) const {
    const auto at = keys.find(key);
    if (at == keys.end()) return nullptr;
    if (!at->second.expired(now_ms()) || flaw == Flaw::no_expiry) return &at->second;
    if (!is_replica) keys.erase(at);
    return nullptr;
  }
};

/// What a command requires of the server's mode and of its caller.
struct Needs {
  bool writes = false;         // refused by a replica
  bool memory = false;         // refused when out of memory
  bool no_script = false;      // must not be called by a script
  bool subscribing = false;    // a connection that listens to channels may call it
  bool while_loading = false;  // answered while loading
};

struct Command {
  using Run = void (*)(const Call&);

  std::string_view name;  // lower case
  int arity;              // number of words including the name; negative: at least this many
  Needs needs;
  Run run;  // null: implemented by the server itself

  [[nodiscard]] bool takes(std::size_t words) const noexcept {
    const auto count = static_cast<int>(words);
    return arity < 0 ? count >= -arity : count == arity;
  }
};

/// Finds a command by its first word or its first two words, as in `script|load`, ignoring case. Returns null if there is none.
[[nodiscard]] const Command* find_command(Words words) noexcept;

/// Compares a word with one in lower case, ignoring the case of the first.
[[nodiscard]] bool is_word(std::string_view word, std::string_view lower_case) noexcept;

/// A word as error messages quote it: at most `most` bytes, cut at the first zero byte, in one line.
[[nodiscard]] std::string repeated(std::string_view word, std::size_t most = std::string_view::npos);

/// Parses an integer as Redis does: no plus, no spaces, no leading zeros.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

}  // namespace redlock::simulation
