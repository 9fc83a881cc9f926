// What the commands of a simulated server do, and what its modes refuse.
#include "simulation/server/server.hpp"

#include <stdexcept>
#include <string>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/server/talk.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
namespace core = redlock::core;
using redlock::testing::contains;

constexpr const char* out_of_memory = R"(-"OOM command not allowed when used memory > 'maxmemory'.")";
constexpr const char* read_only = R"(-"READONLY You can't write against a read only replica.")";
constexpr const char* noscript = R"(-"NOSCRIPT No matching script. Please use EVAL.")";

TEST_CASE("a_key_expires_after_its_last_millisecond") {
  Talk talk;
  REQUIRE(talk.say({"SET", "key", "value", "PX", "10"}) == R"(+"OK")");
  talk.now_ms += 10;
  REQUIRE(talk.say({"PTTL", "key"}) == "0");
  REQUIRE(talk.say({"GET", "key"}) == R"("value")");
  talk.now_ms += 1;
  REQUIRE(talk.say({"GET", "key"}) == "(nil)");
  REQUIRE(talk.say({"PTTL", "key"}) == "-2");
}

TEST_CASE("an_expired_key_is_counted_until_it_is_accessed") {
  Talk talk;
  talk.say({"SET", "key", "value", "PX", "10"});
  talk.now_ms += 11;
  REQUIRE(talk.server.find("key", talk.now_ms * 1000) == nullptr);
  REQUIRE(talk.say({"DBSIZE"}) == "1");
  REQUIRE(talk.say({"EXISTS", "key"}) == "0");
  REQUIRE(talk.say({"DBSIZE"}) == "0");
}

TEST_CASE("a_replica_leaves_the_deletion_of_expired_keys_to_its_master") {
  Talk talk;
  talk.say({"SET", "key", "value", "PX", "10"});
  talk.server.set_mode(Server::Mode::read_only);
  talk.now_ms += 11;
  REQUIRE(talk.say({"GET", "key"}) == "(nil)");
  REQUIRE(talk.say({"DBSIZE"}) == "1");
}

TEST_CASE("a_clock_jump_forward_expires_keys_and_a_jump_back_prolongs_them") {
  Talk talk;
  talk.say({"SET", "short", "value", "PX", "10"});
  talk.say({"SET", "long", "value", "PX", "100000"});
  talk.now_ms += 1'000;
  REQUIRE(talk.say({"EXISTS", "short", "long"}) == "1");
  talk.now_ms -= 1'500;
  REQUIRE(talk.say({"PTTL", "long"}) == "100500");
}

TEST_CASE("a_second_SET_NX_is_denied_and_changes_nothing") {
  Talk talk;
  talk.say({"SET", "key", "first", "NX", "PX", "10"});
  REQUIRE(talk.say({"SET", "key", "second", "NX", "PX", "99"}) == "(nil)");
  REQUIRE(talk.say({"GET", "key"}) == R"("first")");
  REQUIRE(talk.say({"PTTL", "key"}) == "10");
}

TEST_CASE("a_list_has_the_wrong_type_for_string_commands_but_SET_replaces_it") {
  Talk talk;
  REQUIRE(talk.say({"RPUSH", "key", "a", "b"}) == "2");
  REQUIRE_THAT(talk.say({"GET", "key"}), contains("WRONGTYPE "));
  REQUIRE_THAT(talk.say({"INCR", "key"}), contains("WRONGTYPE "));
  REQUIRE(talk.say({"SET", "key", "value"}) == R"(+"OK")");
  REQUIRE(talk.say({"TYPE", "key"}) == R"(+"string")");
}

TEST_CASE("a_server_out_of_memory_refuses_new_data_and_allows_deletions") {
  Talk talk;
  talk.say({"SET", "key", "value"});
  talk.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE(talk.say({"SET", "other", "value"}) == out_of_memory);
  REQUIRE(talk.say({"INCR", "other"}) == out_of_memory);
  REQUIRE(talk.say({"GET", "key"}) == R"("value")");
  REQUIRE(talk.say({"PEXPIRE", "key", "10"}) == "1");
  REQUIRE(talk.say({"DEL", "key"}) == "1");
  REQUIRE(talk.say({"DBSIZE"}) == "0");
}

TEST_CASE("out_of_memory_stops_a_script_at_its_first_write_and_never_after_it") {
  Talk talk;
  talk.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE_THAT(talk.run("redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], 1)"),
               contains("OOM command not allowed when used memory > 'maxmemory'. script: "));
  REQUIRE(talk.run("redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], 1)") == R"(+"OK")");
}

TEST_CASE("a_replica_serves_reads_and_refuses_writes_including_those_of_scripts") {
  Talk talk;
  talk.say({"SET", "key", "value"});
  talk.server.set_mode(Server::Mode::read_only);
  REQUIRE_THAT(talk.say({"ROLE"}), contains(R"(["slave", )"));
  REQUIRE(talk.say({"DEL", "key"}) == read_only);
  REQUIRE(talk.run("return redis.pcall('DEL', KEYS[1])") == read_only);
  REQUIRE(talk.run("return redis.call('GET', KEYS[1])") == R"("value")");
}

TEST_CASE("a_loading_server_reports_its_identity_and_no_data") {
  Talk talk;
  talk.server.set_mode(Server::Mode::loading);
  constexpr const char* loading = R"(-"LOADING Redis is loading the dataset in memory")";
  REQUIRE(talk.say({"GET", "key"}) == loading);
  REQUIRE(talk.say({"PING"}) == loading);
  REQUIRE(talk.run("return 1") == loading);
  REQUIRE(talk.say({"ROLE"}) == R"(["master", 0, []])");
  REQUIRE_THAT(talk.say({"INFO", "server"}), contains("run_id:the-run-id"));
  REQUIRE(talk.say({"TIME"}) == R"(["1", "0"])");
}

TEST_CASE("a_restart_keeps_the_given_keys_and_drops_scripts_and_mode") {
  Talk talk;
  talk.say({"SET", "key", "value"});
  const Keyspace snapshot = talk.server.keys();
  talk.say({"SET", "key", "newer"});
  talk.say({"SCRIPT", "LOAD", core::release_script.source});
  talk.server.set_mode(Server::Mode::loading);
  talk.server.restart(snapshot, "another");
  REQUIRE(talk.say({"GET", "key"}) == R"("value")");
  REQUIRE_THAT(talk.say({"INFO", "server"}), contains("run_id:another"));
  REQUIRE(talk.say({"EVALSHA", core::release_script.sha1, "1", "key", "value"}) == noscript);
}

TEST_CASE("a_copy_of_a_server_is_independent") {
  Talk talk;
  talk.say({"SET", "key", "value"});
  const Server before = talk.server;
  talk.say({"FLUSHALL"});
  talk.server = before;
  REQUIRE(talk.say({"GET", "key"}) == R"("value")");
}

TEST_CASE("scripts_are_known_from_the_first_EVAL_to_the_next_flush") {
  Talk talk;
  const auto call = [&] { return talk.say({"EVALSHA", core::release_script.sha1, "1", "key", "owner"}); };
  REQUIRE(call() == noscript);
  talk.run(core::release_script.source);
  REQUIRE(call() == "0");
  REQUIRE(talk.say({"SCRIPT", "EXISTS", core::release_script.sha1, "nothing"}) == "[1, 0]");
  REQUIRE(talk.say({"SCRIPT", "FLUSH"}) == R"(+"OK")");
  REQUIRE(call() == noscript);
}

TEST_CASE("every_library_script_is_loaded_under_its_digest") {
  Talk talk;
  for (const core::Script* const script : core::all_scripts)
    REQUIRE(talk.say({"SCRIPT", "LOAD", script->source}) == "\"" + std::string{script->sha1} + "\"");
}

TEST_CASE("a_patch_replaces_a_script_that_is_loaded_and_survives_a_restart") {
  Talk talk;
  const core::Script& original = core::release_script;
  const auto call = [&] { return talk.say({"EVALSHA", original.sha1, "1", "key", "owner"}); };
  talk.say({"SCRIPT", "LOAD", original.source});
  talk.server.patch(original, "return 'patched'");
  REQUIRE(call() == R"("patched")");
  talk.server.restart({}, "another");
  REQUIRE(talk.say({"SCRIPT", "LOAD", original.source}) == "\"" + std::string{original.sha1} + "\"");
  REQUIRE(call() == R"("patched")");
  REQUIRE_THROWS_AS(talk.server.patch(original, "return ("), std::invalid_argument);
}

TEST_CASE("two_servers_share_an_interpreter_and_no_data") {
  Talk talk;
  Server other{talk.interpreter, "other"};
  talk.run("return redis.call('SET', KEYS[1], 1)");
  REQUIRE(other.find("key", 0) == nullptr);
  REQUIRE(talk.server.find("key", 0) != nullptr);
}

}  // namespace
