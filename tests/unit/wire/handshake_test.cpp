#include "redlock/core/wire/handshake.hpp"

#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/handshake_replies.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using redlock::NodeStatus;

std::string after_login() {
  return "*1\r\n$4\r\nROLE\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n" +
         command({"SCRIPT", "LOAD", release_script.source}) +
         command({"SCRIPT", "LOAD", extend_script.source}) +
         command({"SCRIPT", "LOAD", grant_script.source}) + command({"SCRIPT", "LOAD", set_script.source}) +
         command({"SCRIPT", "LOAD", confirm_script.source}) +
         command({"SCRIPT", "LOAD", put_back_script.source}) +
         command({"SCRIPT", "LOAD", swap_script.source}) +
         command({"SCRIPT", "LOAD", shared_grant_script.source}) +
         command({"SCRIPT", "LOAD", shared_extend_script.source}) +
         command({"SCRIPT", "LOAD", shared_put_back_script.source}) +
         command({"SCRIPT", "LOAD", shared_release_script.source});
}

/// The trouble after the reply at `position` is replaced by `reply`; checks that no earlier reply causes
/// trouble.
std::optional<Trouble> trouble_with(const Login& login, std::size_t position, const Reply& reply) {
  std::vector<Reply> replies = handshake_replies("run", login);
  replies.at(position) = reply;
  Handshake handshake{login};
  for (std::size_t i = 0; i < position; ++i) REQUIRE_FALSE(handshake.answered(replies[i]));
  return handshake.answered(replies[position]);
}

const Login full_login{.user = "me", .password = "secret", .db = 3};
enum : std::size_t {
  at_auth,
  at_select,
  at_role,
  at_info,
  at_load_release,
  at_load_extend,
  at_load_grant,
  at_load_set,
  at_load_confirm,
  at_load_put_back,
  at_load_swap
};

}  // namespace

TEST_CASE("a_connection_gets_a_name_if_the_server_allows_it") {
  for (const Purpose purpose : {Purpose::commands, Purpose::listening}) {
    const Login unnamed{.password = "secret"};
    Login named = unnamed;
    named.connection_name = "redlock:web3:4711";
    const std::string auth = command({"AUTH", "secret"});
    CHECK(Handshake{named, purpose}.bytes() ==
          auth + command({"CLIENT", "SETNAME", "redlock:web3:4711"}) +
              std::string{Handshake{unnamed, purpose}.bytes()}.substr(auth.size()));
    for (const Reply& reply : {ok(), error_reply("NOPERM this user may not"), nil()}) {
      Handshake handshake{named, purpose};
      CHECK_FALSE(handshake.answered(ok()));
      CHECK_FALSE(handshake.answered(reply));
    }
  }
}

TEST_CASE("a_handshake_sends_only_the_commands_that_the_login_needs") {
  CHECK(Handshake{{}}.bytes() == after_login());
  CHECK(Handshake{{.user = "", .password = "secret", .db = 0}}.bytes() ==
        "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n" + after_login());
  CHECK(Handshake{{.user = "me", .password = "secret", .db = 0}}.bytes() ==
        "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n" + after_login());
  CHECK(Handshake{{.user = "me", .password = "", .db = 0}}.bytes() ==
        "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$0\r\n\r\n" + after_login());
  CHECK(Handshake{{.user = "", .password = "", .db = 12}}.bytes() ==
        "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n" + after_login());
  CHECK(Handshake{full_login}.bytes() ==
        "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n" + after_login());
}

TEST_CASE("a_handshake_is_complete_with_its_last_reply_and_knows_the_run_id") {
  for (const Login& login : {Login{}, full_login}) {
    Handshake handshake{login};
    for (const Reply& reply : handshake_replies("0123abcd", login)) {
      CHECK_FALSE(handshake.complete());
      CHECK_FALSE(handshake.answered(reply));
    }
    CHECK(handshake.complete());
    CHECK(handshake.greeting().run_id == "0123abcd");
  }
}

TEST_CASE("a_handshake_accepts_a_server_without_a_run_id") {
  Handshake handshake{{}};
  REQUIRE_FALSE(handshake.answered(role_reply("master")));
  REQUIRE_FALSE(handshake.answered(string_reply("# Server\r\nredis_version:7.0.15\r\n")));
  CHECK(handshake.greeting().run_id.empty());

  Handshake at_the_end{{}};
  REQUIRE_FALSE(at_the_end.answered(role_reply("master")));
  REQUIRE_FALSE(at_the_end.answered(string_reply("run_id:abc")));
  CHECK(at_the_end.greeting().run_id == "abc");
}

TEST_CASE("an_error_at_any_point_of_the_handshake_is_reported_with_its_cause") {
  struct Row {
    std::string words;
    NodeStatus status;
  };
  for (std::size_t position = at_auth; position <= at_load_swap; ++position)
    for (const Row& row : {Row{"NOAUTH Authentication required.", NodeStatus::auth_required},
                           {"LOADING Redis is loading the dataset in memory", NodeStatus::loading},
                           {"NOPERM this user has no permissions", NodeStatus::no_permission},
                           {"WRONGPASS invalid username-password pair", NodeStatus::wrong_password},
                           {"BUSY Redis is busy running a script.", NodeStatus::busy}}) {
      CAPTURE(position, row.words);
      const auto trouble = trouble_with(full_login, position, error_reply(row.words));
      REQUIRE(trouble);
      CHECK(trouble->status == row.status);
      if (position == at_auth)
        CHECK(trouble->message == "the server refuses AUTH: " + row.words.substr(0, row.words.find(' ')));
      else
        CHECK(trouble->message == row.words);
    }
}

TEST_CASE("a_server_that_says_the_password_in_its_answer_to_auth_is_not_repeated") {
  for (const char* const words :
       {"WRONGPASS secret", "NOPERM secret", "LOADING secret", "NOAUTH\tsecret", "secret",
        "ERR Error running script: @user_script: 1: WRONGPASS secret",
        "secret The user executing the script can't run AUTH", "ACL failure in script: secret"}) {
    CAPTURE(words);
    const auto trouble = trouble_with(full_login, at_auth, error_reply(words));
    REQUIRE(trouble);
    CHECK_THAT(trouble->message, !contains("secret"));
  }
}

TEST_CASE("a_generic_error_from_auth_means_a_wrong_password_and_its_text_is_not_repeated") {
  const auto trouble =
      trouble_with(full_login, at_auth, error_reply("ERR unknown command 'AUTH' 'me' 'secret'"));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::wrong_password);
  CHECK(trouble->message == "the server does not accept AUTH with these credentials");
  CHECK(trouble_with(full_login, at_select, error_reply("ERR DB index is out of range"))->status ==
        NodeStatus::server_error);
}

TEST_CASE("a_server_that_refuses_the_connection_says_so_in_its_first_reply_whatever_that_answers") {
  const Login named{.connection_name = "redlock:web3:4711"};
  for (const Login& login : {Login{}, full_login, named})
    for (const Purpose purpose : {Purpose::commands, Purpose::listening}) {
      Handshake crowded{login, purpose};
      const auto full = crowded.answered(error_reply("ERR max number of clients reached"));
      REQUIRE(full);
      CHECK(full->status == NodeStatus::unreachable);
      CHECK_THAT(full->message, contains("maxclients"));
      Handshake closed{login, purpose};
      const auto denied =
          closed.answered(error_reply("DENIED Redis is running in protected mode because ..."));
      REQUIRE(denied);
      CHECK(denied->status == NodeStatus::no_permission);
      CHECK_THAT(denied->message, contains("protected mode"));
    }
  CHECK(trouble_with(full_login, at_role, error_reply("ERR max number of clients reached"))->status ==
        NodeStatus::server_error);
}

TEST_CASE("only_masters_vote") {
  for (const std::string role_name : {"slave", "sentinel", "handshake"}) {
    const auto trouble = trouble_with({}, 0, role_reply(role_name));
    REQUIRE(trouble);
    CHECK(trouble->status == NodeStatus::replica);
    CHECK_THAT(trouble->message, contains(role_name));
  }
}

TEST_CASE("an_unexpected_reply_ends_the_handshake") {
  for (std::size_t position = at_auth; position <= at_load_swap; ++position)
    for (const Reply& reply : {number(1), nil(), array_reply({})}) {
      CAPTURE(position);
      const auto trouble = trouble_with(full_login, position, reply);
      REQUIRE(trouble);
      CHECK(trouble->status == NodeStatus::protocol_error);
    }
}

TEST_CASE("a_server_that_returns_another_script_digest_is_refused") {
  for (const std::size_t position : {at_load_release, at_load_extend, at_load_grant, at_load_set,
                                     at_load_confirm, at_load_put_back, at_load_swap}) {
    const auto trouble = trouble_with(full_login, position, string_reply(std::string(40, 'a')));
    REQUIRE(trouble);
    CHECK(trouble->status == NodeStatus::protocol_error);
  }
  CHECK(trouble_with(full_login, at_load_release, string_reply(std::string{extend_script.sha1})));
}
