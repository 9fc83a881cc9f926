#include "simulation/server/server.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace redlock::simulation {
namespace {

constexpr std::string_view loading_error = "LOADING Redis is loading the dataset in memory";
constexpr std::string_view read_only_error = "READONLY You can't write against a read only replica.";
constexpr std::string_view memory_error = "OOM command not allowed when used memory > 'maxmemory'.";

void unknown_command(Words words, const Answer& answer) {
  constexpr std::size_t most = 128;
  if (is_word(words[0], "script"))
    return answer.error("ERR unknown subcommand '" + repeated(words[1], most) + "'. Try SCRIPT HELP.");
  std::string rest;
  for (const std::string_view word : words.subspan(1))
    if (rest.size() < most) rest += "'" + repeated(word, most - rest.size()) + "' ";
  answer.error("ERR unknown command '" + repeated(words[0], most) + "', with args beginning with: " + rest);
}

void wrong_arity(std::string_view name, const Answer& answer) {
  answer.error(std::string{"ERR wrong number of arguments for '"}.append(name).append("' command"));
}

void answer_subscription(std::string_view command, std::optional<std::string_view> channel,
                         std::size_t listened_to, std::vector<Reply>& replies) {
  std::vector<Reply> parts(3);
  Answer{parts[0]}.string(command);
  if (channel) Answer{parts[1]}.string(*channel);
  Answer{parts[2]}.integer(static_cast<long long>(listened_to));
  Answer{replies.emplace_back()}.array(std::move(parts));
}

/// The reply to PING of a connection that listens to channels.
void become_pong(Words words, const Answer& answer) {
  std::vector<Reply> parts(2);
  Answer{parts[0]}.string("pong");
  Answer{parts[1]}.string(words.size() > 1 ? words[1] : std::string_view{});
  answer.array(std::move(parts));
}

}  // namespace

Server::Server(Interpreter& interpreter, std::string run_id)
    : interpreter_{&interpreter}, run_id_{std::move(run_id)} {}

Reply Server::execute(Words words, std::int64_t now_us) {
  constexpr int nobody = -1;
  std::vector<Reply> replies;
  execute(nobody, words, now_us, replies);
  return std::move(replies.front());
}

void Server::execute(int connection, Words words, std::int64_t now_us, std::vector<Reply>& replies) {
  now_us_ = now_us;
  const bool listens = channels_.listens(connection);
  Reply reply;
  const Command* const command = accept(words, listens, Answer{reply});
  if (command && command->name == "subscribe") return subscribe(connection, words.subspan(1), replies);
  if (command && command->name == "unsubscribe") return unsubscribe(connection, words.subspan(1), replies);
  if (command) run(*command, words, reply);
  if (command && listens && !reply.is(Reply::Kind::error)) become_pong(words, Answer{reply});
  replies.push_back(std::move(reply));
}

/// Returns null after answering why the command is refused.
const Command* Server::accept(Words words, bool listens, const Answer& answer) const {
  const Command* const command = find_command(words);
  if (!command)
    unknown_command(words, answer);
  else if (!command->takes(words.size()))
    wrong_arity(command->name, answer);
  else if (acl_.forbids(*command))
    answer.error("NOPERM this user has no permissions to run the '" + std::string{command->name} +
                 "' command");
  else if (acl_.forbids_channel(*command, words))
    answer.error("NOPERM this user has no permissions to access one of the channels used as arguments");
  else if (const auto why = refusal(*command); !why.empty())
    answer.error(why);
  else if (listens && !command->needs.subscribing)
    answer.error(
        "ERR Can't execute '" + std::string{command->name} +
        "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context");
  else
    return command;
  return nullptr;
}

std::string_view Server::refusal(const Command& command) const noexcept {
  if (mode_ == Mode::out_of_memory && command.needs.memory) return memory_error;
  if (mode_ == Mode::read_only && command.needs.writes) return read_only_error;
  if (mode_ == Mode::loading && !command.needs.while_loading) return loading_error;
  return {};
}

void Server::call(Words words, Reply& reply) {
  const Answer answer{reply};
  const Command* const command = find_command(words);
  if (!command) return answer.error("ERR Unknown Redis command called from script");
  if (!command->takes(words.size()))
    return answer.error("ERR Wrong number of args calling Redis command from script");
  if (command->needs.no_script) return answer.error("ERR This Redis command is not allowed from script");
  if (acl_.forbids(*command))
    return answer.error("ERR The user executing the script can't run this command or subcommand");
  if (acl_.forbids_channel(*command, words))
    return answer.error(
        "ERR The user executing the script can't publish to the channel mentioned in the command");
  // A script that has written is not stopped.
  if (!wrote_)
    if (const auto why = refusal(*command); !why.empty()) return answer.error(why);
  wrote_ |= command->needs.writes;
  run(*command, words, reply);
}

void Server::run(const Command& command, Words words, Reply& reply) {
  const Answer answer{reply};
  if (command.needs.writes) ++writes_;
  if (command.run)
    return command.run({words, now_us_, keys_, answer, interpreter_->flaw(), mode_ == Mode::read_only});
  if (command.name.starts_with("eval")) return evaluate(command, words, reply);
  if (command.name.starts_with("script|")) return script(command, words, reply);
  if (command.name == "publish") return publish(words, answer);
  if (command.name == "role") return role(answer);
  info(words, answer);
}

void Server::publish(Words words, const Answer& answer) {
  const std::size_t receivers = channels_.publish(words[1], words[2]);
  if (interpreter_->flaw() == Flaw::lost_messages) static_cast<void>(channels_.take_messages());
  answer.integer(static_cast<long long>(receivers));
}

void Server::subscribe(int connection, Words channels, std::vector<Reply>& replies) {
  for (const std::string_view channel : channels)
    answer_subscription("subscribe", channel, channels_.subscribe(connection, channel), replies);
}

void Server::unsubscribe(int connection, Words channels, std::vector<Reply>& replies) {
  const std::vector<std::string> all = channels_.of(connection);
  const std::vector<std::string_view> names{all.begin(), all.end()};
  if (channels.empty() && names.empty()) return answer_subscription("unsubscribe", std::nullopt, 0, replies);
  for (const std::string_view channel : channels.empty() ? Words{names} : channels)
    answer_subscription("unsubscribe", channel, channels_.unsubscribe(connection, channel), replies);
}

void Server::evaluate(const Command& command, Words words, Reply& reply) {
  constexpr std::string_view unknown = "NOSCRIPT No matching script. Please use EVAL.";
  const Answer answer{reply};
  const bool by_digest = command.name == "evalsha";
  if (by_digest && words[1].size() != 40) return answer.error(unknown);
  const auto number = parse_integer(words[2]);
  const Words rest = words.subspan(3);
  if (!number) return answer.not_an_integer();
  if (*number > static_cast<std::int64_t>(rest.size()))
    return answer.error("ERR Number of keys can't be greater than number of args");
  if (*number < 0) return answer.error("ERR Number of keys can't be negative");
  const Program* const program = by_digest ? known(words[1]) : learn(words[1], reply);
  if (!program) {
    if (by_digest) answer.error(unknown);
    return;
  }
  wrote_ = false;
  const auto keys = static_cast<std::size_t>(*number);
  interpreter_->run(*program, rest.first(keys), rest.subspan(keys), *this, reply);
}

const Server::Program* Server::known(std::string_view digest) const noexcept {
  for (const Program& program : programs_)
    if (is_word(digest, program.digest)) return &program;
  return nullptr;
}

const Server::Program* Server::learn(std::string_view source, Reply& error) {
  if (const Program* const program = known(interpreter_->digest(source))) return program;
  const auto program = interpreter_->compile(source, error);
  if (!program) return nullptr;
  const auto patch = std::find_if(patches_.begin(), patches_.end(),
                                  [&](const Program& other) { return other.digest == program->digest; });
  return &programs_.emplace_back(patch == patches_.end() ? *program : *patch);
}

void Server::script(const Command& command, Words words, Reply& reply) {
  const Answer answer{reply};
  if (command.name == "script|flush") {
    if (words.size() > 3 || (words.size() == 3 && !is_word(words[2], "sync") && !is_word(words[2], "async")))
      return answer.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    programs_.clear();
    answer.ok();
  } else if (command.name == "script|load") {
    if (const Program* const program = learn(words[2], reply)) answer.string(program->digest);
  } else {
    std::vector<Reply> found(words.size() - 2);
    for (std::size_t i = 0; i < found.size(); ++i) Answer{found[i]}.integer(known(words[i + 2]) ? 1 : 0);
    answer.array(std::move(found));
  }
}

void Server::role(const Answer& answer) const {
  std::vector<Reply> parts(mode_ == Mode::read_only ? 5 : 3);
  Answer{parts[0]}.string(mode_ == Mode::read_only ? "slave" : "master");
  if (mode_ == Mode::read_only) {
    Answer{parts[1]}.string("127.0.0.1");
    Answer{parts[2]}.integer(6379);
    Answer{parts[3]}.string("connect");
    Answer{parts[4]}.integer(-1);
  } else {
    Answer{parts[1]}.integer(0);
    Answer{parts[2]}.array({});
  }
  answer.array(std::move(parts));
}

void Server::info(Words words, const Answer& answer) const {
  const auto is_wanted = [words](std::string_view section) {
    return words.size() == 1 || std::any_of(words.begin() + 1, words.end(), [section](auto word) {
             return is_word(word, section) || is_word(word, "all") || is_word(word, "default") ||
                    is_word(word, "everything");
           });
  };
  std::string text;
  if (is_wanted("server"))
    text += "# Server\r\nredis_version:7.0.15\r\nrun_id:" + (posed_as_ ? posed_as_->run_id_ : run_id_) +
            "\r\nuptime_in_seconds:" + std::to_string((now_us_ - started_us_) / 1'000'000) + "\r\n";
  if (is_wanted("replication"))
    text += std::string{"# Replication\r\nrole:"} + (mode_ == Mode::read_only ? "slave" : "master") +
            "\r\nsecond_repl_offset:" + (was_replica_ ? "1" : "-1") + "\r\n";
  answer.string(text);
}

const Entry* Server::find(std::string_view key, std::int64_t now_us) const {
  const auto at = keys_.find(key);
  return at == keys_.end() || at->second.expired(now_us / 1000) ? nullptr : &at->second;
}

void Server::restart(Keyspace kept, std::string run_id, std::int64_t now_us) {
  started_us_ = now_us;
  keys_ = std::move(kept);
  run_id_ = std::move(run_id);
  programs_.clear();
  channels_ = {};
  mode_ = Mode::serving;
  was_replica_ = false;
}

void Server::patch(const core::Script& original, std::string_view patched) {
  Reply error;
  const auto compiled = interpreter_->compile(patched, error);
  if (!compiled) throw std::invalid_argument{error.text};
  const Program& patch =
      patches_.emplace_back(Program{interpreter_->digest(original.source), compiled->function});
  for (Program& program : programs_)
    if (program.digest == patch.digest) program = patch;
}

}  // namespace redlock::simulation
