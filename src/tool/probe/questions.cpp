#include "tool/probe/questions.hpp"

#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "tool/probe/dialogue.hpp"

namespace redlock::tool {
namespace {

using core::Reply;
using std::string_view;

enum class Refusal : std::uint8_t { none, command, key, channel };

/// Whether the server refuses the command itself, or what it is about. Other errors mean that the user may use it.
/// Servers differ in their sentences: `no permissions to access one of the keys used as arguments`, `to access a key`.
Refusal refusal_of(const Reply& reply) {
  if (!reply.is(Reply::Kind::error)) return Refusal::none;
  const string_view text{reply.text};
  if (text.starts_with("ERR unknown command")) return Refusal::command;  // renamed or too new
  if (!text.starts_with("NOPERM")) return Refusal::none;
  if (text.find("to run") != text.npos) return Refusal::command;
  if (text.find("channel") != text.npos) return Refusal::channel;
  return text.find(" key") != text.npos ? Refusal::key : Refusal::command;
}

template <class Number>
std::optional<Number> number(const std::optional<std::string>& text) {
  Number value{};
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

/// A field of INFO.
std::optional<std::string> field(const Reply& reply, const std::string& name) {
  if (!reply.is(Reply::Kind::string)) return std::nullopt;
  const string_view text{reply.text};
  const std::string start = name + ':';
  std::size_t at = text.starts_with(start) ? 0 : text.find('\n' + start);
  if (at == text.npos) return std::nullopt;
  at += start.size() + (text[at] == '\n' ? 1 : 0);
  return std::string{text.substr(at, text.find_first_of("\r\n", at) - at)};
}

std::optional<std::string> setting(const Reply& reply) {
  if (!reply.is(Reply::Kind::array) || reply.elements.size() != 2) return std::nullopt;
  return reply.elements[1].text;
}

void note_login(const Reply& reply, NodeFacts& facts) {
  if (reply.is(Reply::Kind::error)) facts.trouble = core::trouble_of_login(reply.text).message;
}

void note_role(const Reply& reply, NodeFacts& facts) {
  if (reply.is(Reply::Kind::error) && reply.text.starts_with("NOAUTH"))
    facts.trouble = "the server requires a password";
  const auto refused =
      reply.is(Reply::Kind::error) ? core::trouble_of_refused_connection(reply.text) : std::nullopt;
  if (refused) facts.trouble = refused->message;
  if (reply.is(Reply::Kind::array) && !reply.elements.empty()) facts.role = reply.elements.front().text;
}

void note_server(const Reply& reply, NodeFacts& facts) {
  facts.version = field(reply, "redis_version");
  if (const auto valkey = field(reply, "valkey_version")) facts.version = "valkey " + *valkey;
  facts.run_id = field(reply, "run_id");
  facts.mode = field(reply, "redis_mode");
  constexpr std::int64_t longest = std::int64_t{1} << 32U;  // seconds
  const auto seconds = number<std::int64_t>(field(reply, "uptime_in_seconds"));
  if (seconds && *seconds >= 0 && *seconds < longest) facts.uptime = std::chrono::seconds{*seconds};
}

void note_memory(const Reply& reply, NodeFacts& facts) {
  facts.memory_used = number<std::uint64_t>(field(reply, "used_memory"));
  facts.memory_limit = number<std::uint64_t>(field(reply, "maxmemory"));
  facts.eviction_policy = field(reply, "maxmemory_policy");
}

void note_persistence(const Reply& reply, NodeFacts& facts) {
  if (const auto text = field(reply, "aof_enabled")) facts.appends = *text == "1";
}

void note_marker(const Reply& reply, NodeFacts& facts) {
  if (!reply.is(Reply::Kind::array) || reply.elements.empty()) return;
  if (!reply.elements.front().is(Reply::Kind::string)) return;
  facts.marker_text = reply.elements.front().text;
  facts.marker = core::Marker::parse(*facts.marker_text);
}

void add(NodeFacts& facts, Use use, std::string rule) {
  if (!facts.missing) facts.missing.emplace();
  facts.missing->push_back({use, std::move(rule)});
}

/// A server that is full, cannot save its data, or misses its replicas refuses also writes without an effect.
void note_write(const Reply& reply, NodeFacts& facts) {
  if (refusal_of(reply) == Refusal::command) add(facts, Use::locking, "+set");
  if (reply.is(Reply::Kind::error) && refusal_of(reply) == Refusal::none)
    facts.refusal = core::trouble_of_error(reply.text);
}

/// Sends a command that has no effect, to see whether the user may use it.
Question right(std::string rule, std::initializer_list<string_view> words, Use use = Use::locking) {
  return {core::command(words), [rule = std::move(rule), use](const Reply& reply, NodeFacts& facts) {
            if (refusal_of(reply) == Refusal::command) add(facts, use, '+' + rule);
          }};
}

const std::string no_script(40, '0');

/// A call of a script that does not exist needs the right to read and to write its key. `pattern`: what a rule has to allow.
Question key_right(const std::string& key, const std::string& pattern, Use use = Use::locking) {
  return {core::command({"EVALSHA", no_script, "1", key}),
          [rule = '~' + pattern, use](const Reply& reply, NodeFacts& facts) {
            if (refusal_of(reply) == Refusal::key) add(facts, use, rule);
          }};
}

Question resource_right(const std::string& key) {
  return {core::command({"EVALSHA", no_script, "1", key}), [key](const Reply& reply, NodeFacts& facts) {
            facts.refuses_resource = refusal_of(reply) == Refusal::key;
            if (facts.refuses_resource) add(facts, Use::locking, '~' + key);
          }};
}

/// SADD has no form without an effect. This script takes its effect back, and does not begin if it may not do that.
constexpr string_view add_and_remove =
    "local removed = redis.pcall('SREM', KEYS[1], 'nobody')"
    " if type(removed) == 'table' then return 0 end"
    " local added = redis.pcall('SADD', KEYS[1], 'nobody')"
    " redis.call('SREM', KEYS[1], 'nobody')"
    " return added";

/// Servers say it in one of two ways: `can't run this command or subcommand`, `no permissions to run the 'sadd' command`.
void note_addition(const Reply& reply, NodeFacts& facts) {
  if (!reply.is(Reply::Kind::error)) return;
  const string_view text{reply.text};
  if (text.find("can't run this command") != text.npos || text.find("'sadd'") != text.npos)
    add(facts, Use::sharing, "+sadd");
}

std::vector<Question> rights_to_share(const std::string& unused, const std::string& lock_key) {
  constexpr auto sharing = Use::sharing;
  const std::string readers = core::readers_key(lock_key);
  return {right("srem", {"SREM", unused, "nobody"}, sharing),
          right("sismember", {"SISMEMBER", unused, "nobody"}, sharing),
          right("smembers", {"SMEMBERS", unused}, sharing),
          {core::command({"EVAL", add_and_remove, "1", unused}), note_addition},
          key_right(core::reader_key(lock_key, "0"), readers + '*', sharing)};
}

Question right_to_ask(const std::string& lock_key) {
  const std::string requests = core::request_prefix(lock_key);
  return key_right(requests + '0', requests + '*', Use::asking);
}

std::vector<Question> rights_in_line(const std::string& unused, const std::string& lock_key) {
  constexpr auto lining = Use::lining;
  const auto key = [&lock_key](std::string_view kind) { return core::companion_key(kind, lock_key); };
  return {right("zadd", {"ZADD", unused, "XX", "0", "nobody"}, lining),
          right("zrem", {"ZREM", unused, "nobody"}, lining),
          right("zscore", {"ZSCORE", unused, "nobody"}, lining),
          right("zrange", {"ZRANGE", unused, "0", "0"}, lining),
          right("zrank", {"ZRANK", unused, "nobody"}, lining),
          right("zrangebyscore", {"ZRANGEBYSCORE", unused, "0", "0"}, lining),
          right("zcard", {"ZCARD", unused}, lining),
          {core::command({"EVALSHA", no_script, "4", key("qo"), key("qa"), key("qb"), key("qw")}),
           [all = '~' + key("q?")](const Reply& reply, NodeFacts& facts) {
             if (refusal_of(reply) == Refusal::key) add(facts, lining, all);
           }},
          {core::command({"PUBLISH", "redlock:turn:0000000000000000", ""}),
           [](const Reply& reply, NodeFacts& facts) {
             const Refusal refusal = refusal_of(reply);
             if (refusal == Refusal::command) add(facts, lining, "+publish");
             if (refusal == Refusal::channel) add(facts, lining, "&redlock:turn:*");
           }}};
}

std::vector<Question> login(const Endpoint& node) {
  std::vector<Question> questions;
  if (Secret command = login_command(node); !command.empty())
    questions.push_back({std::move(command), note_login});
  if (node.db() != 0) questions.push_back(right("select", {"SELECT", std::to_string(node.db())}));
  return questions;
}

std::vector<Question> about_server() {
  return {{core::command({"ROLE"}), note_role},
          {core::command({"INFO", "server"}), note_server},
          {core::command({"INFO", "memory"}), note_memory},
          {core::command({"INFO", "persistence"}), note_persistence},
          {core::command({"CONFIG", "GET", "appendfsync"}),
           [](const Reply& reply, NodeFacts& facts) { facts.appendfsync = setting(reply); }},
          {core::command({"CONFIG", "GET", "save"}),
           [](const Reply& reply, NodeFacts& facts) { facts.save = setting(reply); }}};
}

/// `unused`: a key that does not exist, so nothing happens to it.
std::vector<Question> rights(const std::string& unused) {
  constexpr auto noticing = Use::noticing;
  return {
      // Answered by every server, if only by a refusal: from here on the rights are known.
      {core::command({"ROLE"}),
       [](const Reply& reply, NodeFacts& facts) {
         facts.missing.emplace();
         if (refusal_of(reply) == Refusal::command) add(facts, Use::locking, "+role");
       }},
      right("info", {"INFO", "server"}),
      {core::command({"SET", unused, "", "XX", "PX", "1"}), note_write},
      right("get", {"GET", unused}),
      right("getrange", {"GETRANGE", unused, "0", "0"}),
      right("del", {"DEL", unused}),
      right("exists", {"EXISTS", unused}),
      right("pttl", {"PTTL", unused}),
      right("pexpire", {"PEXPIRE", unused, "1"}),
      right("time", {"TIME"}),
      right("eval", {"EVAL", "return 0", "0"}),
      right("evalsha", {"EVALSHA", no_script, "0"}),
      right("script|load", {"SCRIPT", "LOAD", core::release_script.source}),
      right("ping", {"PING"}, noticing),
      right("client|id", {"CLIENT", "ID"}, noticing),
      {core::command({"CLIENT", "TRACKING", "OFF"}),
       [](const Reply& reply, NodeFacts& facts) {
         facts.tracks = !reply.is(Reply::Kind::error) || !reply.text.starts_with("ERR");
         if (*facts.tracks && refusal_of(reply) == Refusal::command)
           add(facts, Use::noticing, "+client|tracking");
       }},
      right("client|caching", {"CLIENT", "CACHING", "YES"}, noticing),
      right("client|setname", {"CLIENT", "SETNAME", "redlock:nodes"}, Use::naming),
  };
}

void append(std::vector<Question>& to, std::vector<Question> more) {
  for (Question& question : more) to.push_back(std::move(question));
}

}  // namespace

std::vector<Question> all_questions(const Endpoint& node, const ProbeOptions& options) {
  std::vector<Question> questions = login(node);
  append(questions, about_server());
  append(questions, rights(options.unused_key));
  questions.push_back(resource_right(options.lock_key));
  const std::string counter = core::counter_key(options.lock_key);
  questions.push_back(key_right(counter, counter));
  append(questions, rights_in_line(options.unused_key, options.lock_key));
  append(questions, rights_to_share(options.unused_key, options.lock_key));
  questions.push_back(right_to_ask(options.lock_key));
  if (!options.is_guarded) return questions;
  const core::MarkerKeys keys{options.key_prefix};
  questions.push_back(key_right(keys.marker, keys.marker));
  questions.push_back(key_right(keys.quarantine, keys.quarantine));
  questions.push_back({core::look_command(keys), note_marker});
  return questions;
}

Question listening_question() {
  return {core::command({"SUBSCRIBE", "__redis__:invalidate"}), [](const Reply& reply, NodeFacts& facts) {
            const Refusal refusal = refusal_of(reply);
            if (refusal == Refusal::command) add(facts, Use::noticing, "+subscribe");
            if (refusal == Refusal::channel) add(facts, Use::noticing, "&__redis__:invalidate");
          }};
}

}  // namespace redlock::tool
