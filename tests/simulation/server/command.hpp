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

/// Overwrites a reply. Its memory is used again: a script calls a handful of commands, and there are many scripts.
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

/// A command that is being run, with what it works on.
struct Call {
  Words words;
  std::int64_t now_us;
  Keyspace& keys;
  Answer answer;
  Flaw flaw;
  bool is_replica;

  [[nodiscard]] std::int64_t now_ms() const noexcept { return now_us / 1000; }

  /// The key if it is there, and has not expired. Then it is deleted, as servers do when somebody asks for it; but
  /// not by a replica, which waits for its master to say so.
  [[nodiscard]] Entry* find(std::string_view key) const {
    const auto at = keys.find(key);
    if (at == keys.end()) return nullptr;
    if (!at->second.expired(now_ms()) || flaw == Flaw::no_expiry) return &at->second;
    if (!is_replica) keys.erase(at);
    return nullptr;
  }
};

/// What a command asks of the server's mode and of its caller.
struct Needs {
  bool writes = false;         // refused by a replica
  bool memory = false;         // refused when there is none
  bool no_script = false;      // not to be called by a script
  bool while_loading = false;  // answered all the same
};

struct Command {
  using Run = void (*)(const Call&);

  std::string_view name;  // lower case
  int arity;              // words, with the name; negative: at least as many
  Needs needs;
  Run run;  // null: the server does it

  [[nodiscard]] bool takes(std::size_t words) const noexcept {
    const auto count = static_cast<int>(words);
    return arity < 0 ? count >= -arity : count == arity;
  }
};

/// By its first word, or the first two of them: `script|load`. Null: there is none of that name, in whatever case.
[[nodiscard]] const Command* find_command(Words words) noexcept;

/// Whether a word is this one, which is given in lower case.
[[nodiscard]] bool is_word(std::string_view word, std::string_view lower_case) noexcept;

/// A word as errors repeat it: so many bytes at most, none behind a zero, and all in one line.
[[nodiscard]] std::string repeated(std::string_view word, std::size_t most = std::string_view::npos);

/// An integer as Redis takes it: no plus, no spaces, no leading zeros.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

}  // namespace redlock::simulation
