#include "redlock/core/wire/reply.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/core/wire/vote.hpp"
#include "redlock/node_report.hpp"
#include "support/catch.hpp"

namespace {

using redlock::NodeStatus;
using redlock::core::Reply;
using redlock::core::Vote;
using Kind = Reply::Kind;
using namespace std::string_literals;

Reply reply(Kind kind, std::string text = {}) {
  Reply made;
  made.kind = kind;
  made.text = std::move(text);
  return made;
}

Reply integer(long long value) {
  Reply made = reply(Kind::integer);
  made.integer = value;
  return made;
}

}  // namespace

TEST_CASE("a_command_is_an_array_of_strings_that_may_hold_any_bytes") {
  using redlock::core::command;
  CHECK(command({"PING"}) == "*1\r\n$4\r\nPING\r\n");
  CHECK(command({"SET", "", std::string_view{"a\r\n\0b", 5}}) ==
        "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\na\r\n\0b\r\n"s);
  CHECK(command({std::string(4096, 'x')}) == "*1\r\n$4096\r\n" + std::string(4096, 'x') + "\r\n");
}

TEST_CASE("commands_are_appended_one_after_the_other") {
  std::string out = redlock::core::command({"A"});
  redlock::core::append_command(out, {"B"});
  CHECK(out == "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n");
  out.assign(redlock::core::framing, ' ');
  const char* const end =
      redlock::core::write_length(out.data(), '$', std::numeric_limits<std::size_t>::max());
  CHECK(out.substr(0, static_cast<std::size_t>(end - out.data())) == "$18446744073709551615\r\n");
}

TEST_CASE("only_ok_grants_and_only_nil_denies") {
  CHECK(vote_of_set(reply(Kind::status, "OK")).kind == Vote::Kind::yes);
  CHECK(vote_of_set(reply(Kind::nil)).kind == Vote::Kind::no);
  for (const Reply& other : {reply(Kind::status, "QUEUED"), reply(Kind::status, "ok"),
                             reply(Kind::string, "OK"), reply(Kind::array), integer(1), integer(0)}) {
    const Vote vote = vote_of_set(other);
    CHECK(vote.kind == Vote::Kind::unknown);
    CHECK(vote.trouble.status == NodeStatus::protocol_error);
  }
}

TEST_CASE("a_script_reply_of_1_is_a_yes_0_and_minus_1_are_a_no_and_others_are_unknown") {
  CHECK(vote_of_script(integer(1)).kind == Vote::Kind::yes);
  CHECK(vote_of_script(integer(0)).kind == Vote::Kind::no);
  CHECK(vote_of_script(integer(-1)).kind == Vote::Kind::no);
  for (const Reply& other : {integer(2), integer(-2), reply(Kind::nil), reply(Kind::status, "OK"),
                             reply(Kind::string, "1"), reply(Kind::array)}) {
    const Vote vote = vote_of_script(other);
    CHECK(vote.kind == Vote::Kind::unknown);
    CHECK(vote.trouble.status == NodeStatus::protocol_error);
  }
}

TEST_CASE("an_error_reply_is_never_a_vote_and_keeps_the_servers_message") {
  const std::string words = "LOADING Redis is loading the dataset in memory";
  for (const Vote& vote :
       {vote_of_set(reply(Kind::error, words)), vote_of_script(reply(Kind::error, words))}) {
    CHECK(vote.kind == Vote::Kind::unknown);
    CHECK(vote.trouble.status == NodeStatus::loading);
    CHECK(vote.trouble.message == words);
  }
}

TEST_CASE("error_replies_are_classified_by_the_servers_wording") {
  struct Row {
    std::string words;
    NodeStatus status;
  };
  const std::vector<Row> rows{
      {"LOADING Redis is loading the dataset in memory", NodeStatus::loading},
      {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
       NodeStatus::busy},
      {"OOM command not allowed when used memory > 'maxmemory'.", NodeStatus::out_of_memory},
      {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist on disk.",
       NodeStatus::not_persisting},
      {"NOAUTH Authentication required.", NodeStatus::auth_required},
      {"WRONGPASS invalid username-password pair or user is disabled.", NodeStatus::wrong_password},
      {"NOPERM this user has no permissions to run the 'set' command", NodeStatus::no_permission},
      {"READONLY You can't write against a read only replica.", NodeStatus::read_only},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", NodeStatus::wrong_type},
      {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
       NodeStatus::replica},
      // Servers before 7.0 wrap the error of a command in a script.
      {"ERR Error running script (call to f_5c71): @user_script:1: WRONGTYPE Operation against a key",
       NodeStatus::wrong_type},
      {"ERR ACL failure in script: User app has no permissions to run the 'set' command script: 5c71, on "
       "@user_script:1.",
       NodeStatus::no_permission},
      {"ERR The user executing the script can't run this command or subcommand script: 5c71, on "
       "@user_script:1.",
       NodeStatus::no_permission},
      {"ERR Error running script (call to f_5c71): @user_script:1: @user_script: 1: The user executing the "
       "script "
       "can't access at least one of the keys mentioned in the command arguments",
       NodeStatus::no_permission},
      {"ERR Error running script (call to f_5c71): @user_script: 1: -READONLY You can't write",
       NodeStatus::read_only},
      {"ERR Error running script (call to f_5c71): @user_script:1: user_script:1: out of luck",
       NodeStatus::server_error},
      // An error code is the whole first word.
      {"ERR unknown command 'SET'", NodeStatus::server_error},
      {"ERR something: OOM is mentioned", NodeStatus::server_error},
      {"OOMPH", NodeStatus::server_error},
      {"BUSYKEY Target key name already exists.", NodeStatus::server_error},
      {"CLUSTERDOWN The cluster is down", NodeStatus::server_error},
      {"OOM", NodeStatus::out_of_memory},
      {"", NodeStatus::server_error},
  };
  for (const auto& row : rows) {
    CAPTURE(row.words);
    const auto trouble = redlock::core::trouble_of_error(row.words);
    CHECK(to_string(trouble.status) == to_string(row.status));
    CHECK(trouble.message == row.words);
  }
}

TEST_CASE("a_node_that_refuses_a_grant_because_it_waits_says_until_when") {
  using redlock::core::trouble_of;
  using namespace std::chrono_literals;
  const auto trouble = [](const std::string& text) { return trouble_of(reply(Kind::error, text), ""); };
  CHECK(trouble("UNMARKED 57321 ms of quarantine are left").message ==
        "restarted or lost its data, votes again in 58 s");
  CHECK(trouble("UNMARKED 57321 ms of quarantine are left").votes_in == 57321ms);
  CHECK(trouble("UNMARKED 0 ms of quarantine are left").votes_in == 0ms);
  CHECK(trouble("UNMARKED 9223372036854775807 ms").votes_in == 24h * 3650);
  CHECK(trouble("UNMARKED -1 ms of quarantine are left").message == "its quarantine has no ttl");
  CHECK(trouble("UNMARKED -1 ms of quarantine are left").votes_in == std::nullopt);
  for (const std::string text :
       {"UNMARKED -2 ms of quarantine are left", "UNMARKED", "UNMARKED 92233720368547758070"}) {
    CHECK(trouble(text).message == "its marker is missing or another one, and is to be read again");
    CHECK(trouble(text).status == NodeStatus::quarantined);
    CHECK(trouble(text).votes_in == 0ms);
  }
  CHECK(trouble("ERR other").votes_in == std::nullopt);
}

TEST_CASE("only_an_error_reply_can_report_an_unknown_script") {
  const std::string words = "NOSCRIPT No matching script. Please use EVAL.";
  CHECK(is_noscript(reply(Kind::error, words)));
  CHECK_FALSE(is_noscript(reply(Kind::string, words)));
  CHECK_FALSE(is_noscript(reply(Kind::error, "ERR " + words)));
}
