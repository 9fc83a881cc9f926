// The first commands on every connection, and the check of their replies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/login/secret.hpp"

namespace redlock::inline v1::core {

/// How to log in at a node.
struct Login {
  std::string user = {};
  Secret password = {};
  unsigned db = 0;
  std::string connection_name = {};  // for people who look at the server; empty for none
  std::string turn_channel = {};     // the channel on which this client hears of its turn; empty for none
};

/// Appends the command that logs in; nothing without credentials. Returns whether there are any.
inline bool append_login(redlock::detail::WipedString& out, const Login& login) {
  if (!login.user.empty())
    append_command(out, {"AUTH", login.user, login.password.text()});
  else if (!login.password.empty())
    append_command(out, {"AUTH", login.password.text()});
  return !login.user.empty() || !login.password.empty();
}

/// Why the server refuses this connection, whatever it is asked: it says so before it reads anything, so the error looks like
/// the answer to the first command. None if it is another error.
[[nodiscard]] inline std::optional<Trouble> trouble_of_refused_connection(std::string_view error) {
  if (error.starts_with("ERR max number of clients"))
    return Trouble{NodeStatus::unreachable, "the server has as many clients as its maxclients allows"};
  if (error.starts_with("DENIED "))
    return Trouble{NodeStatus::no_permission,
                   "the server is in protected mode: without a password, it serves only its own host"};
  return std::nullopt;
}

/// Why the server refuses AUTH. Of its message, only a code is repeated: for a renamed AUTH the message quotes the arguments,
/// and a hostile server may say the password in any message.
[[nodiscard]] inline Trouble trouble_of_login(std::string_view error) {
  if (std::optional<Trouble> refused = trouble_of_refused_connection(error)) return *std::move(refused);
  const std::string_view code = error.substr(0, error.find(' '));
  const NodeStatus status = detail::status_of_code(code);
  if (status != NodeStatus::server_error)
    return {status, std::string{"the server refuses AUTH: "}.append(code)};
  // Servers without ACLs answer a wrong password with a plain ERR; all servers do so for a password that they do not need.
  return {NodeStatus::wrong_password, "the server does not accept AUTH with these credentials"};
}

/// What a server says in a handshake.
struct Greeting {
  std::string run_id;        // empty if the server does not report it; only for commands
  Reply marker;              // the reply of `mark_script`; only for commands, with a restart guard
  long long client_id = 0;   // of the connection; only for listening
  bool hears_turns = false;  // the listener hears when it is this client's turn
};

/// Where a listener receives invalidation messages.
inline constexpr std::string_view invalidation_channel = "__redis__:invalidate";

/// What a connection is for: sending commands, or receiving invalidation messages (the listener).
enum class Purpose : std::uint8_t { commands, listening };

/// The handshake of one connection. All commands are written at once and take one round trip; their replies are
/// checked one by one. Every handshake begins with AUTH, if there are credentials. Then follow:
/// - for commands: SELECT, ROLE, INFO, SCRIPT LOAD and, with a restart guard, a read of the node's marker;
/// - for listening: CLIENT ID and SUBSCRIBE. An ACL may forbid the channel on which the client hears of its turn.
/// The name of the connection is set, where the server lets us.
class Handshake {
 public:
  explicit Handshake(const Login& login, Purpose purpose = Purpose::commands, std::string_view look = {}) {
    if (append_login(bytes_, login)) topics_.push_back(Topic::auth);
    if (!login.connection_name.empty()) say(Topic::name, {"CLIENT", "SETNAME", login.connection_name});
    if (purpose == Purpose::listening) {
      say(Topic::identity, {"CLIENT", "ID"});
      say(Topic::subscription, {"SUBSCRIBE", invalidation_channel});
      if (!login.turn_channel.empty()) say(Topic::turn, {"SUBSCRIBE", login.turn_channel});
      return;
    }
    if (login.db != 0) say(Topic::select, {"SELECT", std::to_string(login.db)});
    say(Topic::role, {"ROLE"});
    say(Topic::info, {"INFO", "server"});
    for (const Script* const script : loaded_scripts) say(Topic::load, {"SCRIPT", "LOAD", script->source});
    if (look.empty()) return;
    topics_.push_back(Topic::look);
    bytes_ += look;
  }

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool complete() const noexcept { return next_ == topics_.size(); }
  /// Valid once complete.
  [[nodiscard]] const Greeting& greeting() const noexcept { return greeting_; }

  /// Checks the next reply. If it returns a trouble, the handshake has failed and the server cannot vote.
  [[nodiscard]] std::optional<Trouble> answered(const Reply& reply) {
    const Topic topic = topics_[next_++];
    if (next_ == 1 && reply.is(Reply::Kind::error))
      if (auto refused = trouble_of_refused_connection(reply.text)) return refused;
    if (topic == Topic::name) return std::nullopt;  // an ACL may forbid it
    if (topic == Topic::turn) return note_turn_subscription(reply);
    if (reply.is(Reply::Kind::error)) return refused(topic, reply.text);
    switch (topic) {
      case Topic::name:
      case Topic::turn:
      case Topic::auth:
      case Topic::select:
        return expect_ok(reply);
      case Topic::role:
        return expect_master(reply);
      case Topic::info:
        return note_run_id(reply);
      case Topic::load:
        return expect_sha(reply, *loaded_scripts[loaded_++]);
      case Topic::identity:
        return note_client_id(reply);
      case Topic::subscription:
        return expect_subscription(reply);
      case Topic::look:
        greeting_.marker = reply;
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  enum class Topic : std::uint8_t {
    auth,
    name,
    select,
    role,
    info,
    load,
    look,
    identity,
    subscription,
    turn
  };

  void say(Topic topic, std::initializer_list<std::string_view> arguments) {
    topics_.push_back(topic);
    append_command(bytes_, arguments);
  }

  static Trouble refused(Topic topic, std::string_view error) {
    return topic == Topic::auth ? trouble_of_login(error) : trouble_of_error(error);
  }
  static std::optional<Trouble> expect_ok(const Reply& reply) {
    if (reply.is(Reply::Kind::status)) return std::nullopt;
    return trouble_of(reply, "a valid answer to AUTH or SELECT");
  }
  static std::optional<Trouble> expect_master(const Reply& reply) {
    if (!reply.is(Reply::Kind::array) || reply.elements.empty())
      return trouble_of(reply, "a valid answer to ROLE");
    const std::string& role = reply.elements.front().text;
    if (role == "master") return std::nullopt;
    return Trouble{NodeStatus::replica, "the server's role is " + role + "; only masters vote"};
  }
  std::optional<Trouble> note_run_id(const Reply& reply) {
    if (!reply.is(Reply::Kind::string)) return trouble_of(reply, "a valid answer to INFO");
    constexpr std::string_view field = "run_id:";
    if (const auto at = reply.text.find(field); at != std::string::npos) {
      const auto begin = at + field.size();
      greeting_.run_id = reply.text.substr(begin, reply.text.find_first_of("\r\n", begin) - begin);
    }
    return std::nullopt;
  }
  std::optional<Trouble> note_client_id(const Reply& reply) {
    if (!reply.is(Reply::Kind::integer)) return trouble_of(reply, "a valid answer to CLIENT ID");
    greeting_.client_id = reply.integer;
    return std::nullopt;
  }
  static std::optional<Trouble> expect_subscription(const Reply& reply) {
    if (reply.is(Reply::Kind::array)) return std::nullopt;
    return trouble_of(reply, "a valid answer to SUBSCRIBE");
  }
  std::optional<Trouble> note_turn_subscription(const Reply& reply) noexcept {
    greeting_.hears_turns = reply.is(Reply::Kind::array);
    return std::nullopt;
  }
  static std::optional<Trouble> expect_sha(const Reply& reply, const Script& script) {
    if (reply.text == script.sha1) return std::nullopt;
    return trouble_of(reply, "the digest of the script");
  }

  redlock::detail::WipedString bytes_;
  std::vector<Topic> topics_;
  std::size_t next_ = 0;
  std::size_t loaded_ = 0;
  Greeting greeting_;
};

}  // namespace redlock::inline v1::core
