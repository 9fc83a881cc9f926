// The first words on every connection.
#include "redlock/core/greeting.hpp"

#include "support/catch.hpp"
#include "unit/recorder.hpp"

namespace {

using namespace redlock;
using namespace redlock::core;

using redlock::testing::contains;
using redlock::testing::error_reply;
using redlock::testing::ok;

Reply text(std::string_view value) { return redlock::testing::string_reply(std::string{value}); }
Reply role(const std::string& name) {
  Reply reply;
  reply.kind = Reply::Kind::array;
  reply.elements = {text(name)};
  return reply;
}
Reply info() { return text("# Server\r\nredis_version:7.0.15\r\nrun_id:0123abc\r\ntcp_port:6379\r\n"); }

/// What the rest of a greeting is answered by a server of use.
void finish(Greeting& greeting) {
  CHECK_FALSE(greeting.answered(role("master")));
  CHECK_FALSE(greeting.answered(info()));
  CHECK_FALSE(greeting.answered(text(release_script.sha1)));
  CHECK_FALSE(greeting.complete());
  CHECK_FALSE(greeting.answered(text(extend_script.sha1)));
  CHECK(greeting.complete());
}

}  // namespace

TEST_CASE("a_master_without_password_is_greeted_in_one_round", "[greeting]") {
  Greeting greeting{{}};
  CHECK_THAT(greeting.bytes(),
             contains("*1\r\n$4\r\nROLE\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n*3\r\n$6\r\nSCRIPT\r\n"));
  CHECK_THAT(greeting.bytes(), !contains("AUTH"));
  CHECK_THAT(greeting.bytes(), !contains("SELECT"));
  finish(greeting);
  CHECK(greeting.run_id() == "0123abc");
}

TEST_CASE("a_password_comes_first_and_the_database_second", "[greeting]") {
  Greeting greeting{{.user = "", .password = "secret", .db = 3}};
  CHECK(greeting.bytes().starts_with(
      "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*1\r\n$4\r\nROLE\r\n"));
  CHECK_FALSE(greeting.answered(ok()));
  CHECK_FALSE(greeting.answered(ok()));
  finish(greeting);
}

TEST_CASE("a_user_logs_in_by_name_also_without_a_password", "[greeting]") {
  CHECK(Greeting{{.user = "bob", .password = "pw"}}.bytes().starts_with(
      "*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$2\r\npw\r\n"));
  CHECK(Greeting{{.user = "bob", .password = ""}}.bytes().starts_with(
      "*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$0\r\n\r\n"));
}

TEST_CASE("the_servers_words_about_a_password_are_not_repeated", "[greeting]") {
  Greeting greeting{{.user = "", .password = "hunter2"}};
  const auto trouble =
      greeting.answered(error_reply("ERR unknown command 'AUTH', with args beginning with: 'hunter2'"));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::wrong_password);
  CHECK_THAT(trouble->message, !contains("hunter2"));
}

TEST_CASE("each_refusal_in_the_greeting_has_its_status", "[greeting]") {
  const auto first_answer = [](const Reply& reply) {
    Greeting greeting{{.user = "", .password = "pw"}};
    return greeting.answered(reply).value_or(Trouble{NodeStatus::granted, {}}).status;
  };
  CHECK(first_answer(error_reply("WRONGPASS invalid username-password pair")) == NodeStatus::wrong_password);
  CHECK(first_answer(error_reply("ERR Client sent AUTH, but no password is set")) ==
        NodeStatus::wrong_password);
  CHECK(first_answer(error_reply("LOADING Redis is loading the dataset in memory")) == NodeStatus::loading);
  CHECK(first_answer(text("OK")) == NodeStatus::protocol_error);

  Greeting unauthorized{{}};
  CHECK(unauthorized.answered(error_reply("NOAUTH Authentication required."))->status ==
        NodeStatus::auth_required);
  Greeting forbidden{{}};
  CHECK(forbidden.answered(error_reply("NOPERM no permissions to run the 'role' command"))->status ==
        NodeStatus::no_permission);
}

TEST_CASE("only_masters_vote", "[greeting]") {
  for (const std::string name : {"slave", "sentinel"}) {
    Greeting greeting{{}};
    const auto trouble = greeting.answered(role(name));
    REQUIRE(trouble);
    CHECK(trouble->status == NodeStatus::replica);
    CHECK_THAT(trouble->message, contains(name));
  }
  Greeting strange{{}};
  CHECK(strange.answered(ok())->status == NodeStatus::protocol_error);
}

TEST_CASE("a_server_with_other_ideas_of_a_script_does_not_vote", "[greeting]") {
  Greeting greeting{{}};
  CHECK_FALSE(greeting.answered(role("master")));
  CHECK_FALSE(greeting.answered(info()));
  CHECK(greeting.answered(text(extend_script.sha1))->status == NodeStatus::protocol_error);
}
