// The commands of a simulated server, and what its modes refuse.
#include "simulation/server/server.hpp"

#include <stdexcept>
#include <string>

#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
namespace core = redlock::core;
using redlock::testing::contains;

constexpr const char* out_of_memory = R"(-"OOM command not allowed when used memory > 'maxmemory'.")";
constexpr const char* read_only = R"(-"READONLY You can't write against a read only replica.")";
constexpr const char* noscript = R"(-"NOSCRIPT No matching script. Please use EVAL.")";

TEST_CASE("a_key_expires_after_its_last_millisecond") {
  ServerFixture fixture;
  REQUIRE(fixture.command({"SET", "key", "value", "PX", "10"}) == R"(+"OK")");
  fixture.now_ms += 10;
  REQUIRE(fixture.command({"PTTL", "key"}) == "0");
  REQUIRE(fixture.command({"GET", "key"}) == R"("value")");
  fixture.now_ms += 1;
  REQUIRE(fixture.command({"GET", "key"}) == "(nil)");
  REQUIRE(fixture.command({"PTTL", "key"}) == "-2");
}

TEST_CASE("an_expired_key_is_counted_until_it_is_accessed") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value", "PX", "10"});
  fixture.now_ms += 11;
  REQUIRE(fixture.server.find("key", fixture.now_ms * 1000) == nullptr);
  REQUIRE(fixture.command({"DBSIZE"}) == "1");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
  REQUIRE(fixture.command({"DBSIZE"}) == "0");
}

TEST_CASE("a_replica_leaves_the_deletion_of_expired_keys_to_its_master") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value", "PX", "10"});
  fixture.server.set_mode(Server::Mode::read_only);
  fixture.now_ms += 11;
  REQUIRE(fixture.command({"GET", "key"}) == "(nil)");
  REQUIRE(fixture.command({"DBSIZE"}) == "1");
}

TEST_CASE("a_clock_jump_forward_expires_keys_and_a_jump_back_prolongs_them") {
  ServerFixture fixture;
  fixture.command({"SET", "short", "value", "PX", "10"});
  fixture.command({"SET", "long", "value", "PX", "100000"});
  fixture.now_ms += 1'000;
  REQUIRE(fixture.command({"EXISTS", "short", "long"}) == "1");
  fixture.now_ms -= 1'500;
  REQUIRE(fixture.command({"PTTL", "long"}) == "100500");
}

TEST_CASE("a_second_SET_NX_is_denied_and_changes_nothing") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "first", "NX", "PX", "10"});
  REQUIRE(fixture.command({"SET", "key", "second", "NX", "PX", "99"}) == "(nil)");
  REQUIRE(fixture.command({"GET", "key"}) == R"("first")");
  REQUIRE(fixture.command({"PTTL", "key"}) == "10");
}

TEST_CASE("a_list_has_the_wrong_type_for_string_commands_but_SET_replaces_it") {
  ServerFixture fixture;
  REQUIRE(fixture.command({"RPUSH", "key", "a", "b"}) == "2");
  REQUIRE_THAT(fixture.command({"GET", "key"}), contains("WRONGTYPE "));
  REQUIRE_THAT(fixture.command({"INCR", "key"}), contains("WRONGTYPE "));
  REQUIRE(fixture.command({"SET", "key", "value"}) == R"(+"OK")");
  REQUIRE(fixture.command({"TYPE", "key"}) == R"(+"string")");
}

TEST_CASE("a_server_out_of_memory_refuses_new_data_and_allows_deletions") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value"});
  fixture.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE(fixture.command({"SET", "other", "value"}) == out_of_memory);
  REQUIRE(fixture.command({"INCR", "other"}) == out_of_memory);
  REQUIRE(fixture.command({"GET", "key"}) == R"("value")");
  REQUIRE(fixture.command({"PEXPIRE", "key", "10"}) == "1");
  REQUIRE(fixture.command({"DEL", "key"}) == "1");
  REQUIRE(fixture.command({"DBSIZE"}) == "0");
}

TEST_CASE("out_of_memory_stops_a_script_at_its_first_write_and_never_after_it") {
  ServerFixture fixture;
  fixture.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE_THAT(fixture.eval("redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], 1)"),
               contains("OOM command not allowed when used memory > 'maxmemory'. script: "));
  REQUIRE(fixture.eval("redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], 1)") == R"(+"OK")");
}

TEST_CASE("a_replica_serves_reads_and_refuses_writes_including_those_of_scripts") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value"});
  fixture.server.set_mode(Server::Mode::read_only);
  REQUIRE_THAT(fixture.command({"ROLE"}), contains(R"(["slave", )"));
  REQUIRE(fixture.command({"DEL", "key"}) == read_only);
  REQUIRE(fixture.eval("return redis.pcall('DEL', KEYS[1])") == read_only);
  REQUIRE(fixture.eval("return redis.call('GET', KEYS[1])") == R"("value")");
}

TEST_CASE("a_loading_server_reports_its_identity_and_no_data") {
  ServerFixture fixture;
  fixture.server.set_mode(Server::Mode::loading);
  constexpr const char* loading = R"(-"LOADING Redis is loading the dataset in memory")";
  REQUIRE(fixture.command({"GET", "key"}) == loading);
  REQUIRE(fixture.command({"PING"}) == loading);
  REQUIRE(fixture.eval("return 1") == loading);
  REQUIRE(fixture.command({"ROLE"}) == R"(["master", 0, []])");
  REQUIRE_THAT(fixture.command({"INFO", "server"}), contains("run_id:the-run-id"));
  REQUIRE_THAT(fixture.command({"INFO", "server"}), contains("uptime_in_seconds:"));
  REQUIRE(fixture.command({"TIME"}) == R"(["1", "0"])");
}

TEST_CASE("a_restart_keeps_the_given_keys_and_drops_scripts_and_mode") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value"});
  const Keyspace snapshot = fixture.server.keys();
  fixture.command({"SET", "key", "newer"});
  fixture.command({"SCRIPT", "LOAD", core::release_script.source});
  fixture.server.set_mode(Server::Mode::loading);
  fixture.server.restart(snapshot, "another", 0);
  REQUIRE(fixture.command({"GET", "key"}) == R"("value")");
  REQUIRE_THAT(fixture.command({"INFO", "server"}), contains("run_id:another"));
  REQUIRE(fixture.command({"EVALSHA", core::release_script.sha1, "1", "key", "value"}) == noscript);
}

TEST_CASE("a_server_that_was_a_replica_says_so_until_it_restarts") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value"});
  CHECK_THAT(fixture.command({"INFO", "replication"}), contains("second_repl_offset:-1"));
  fixture.server.replace_keys({});
  fixture.server.promote();
  CHECK(fixture.command({"GET", "key"}) == "(nil)");
  CHECK_THAT(fixture.command({"INFO", "replication"}), contains("second_repl_offset:1"));
  CHECK_THAT(fixture.command({"INFO"}), contains("run_id:the-run-id") && contains("second_repl_offset:1"));
  fixture.server.restart({}, "another", 0);
  CHECK_THAT(fixture.command({"INFO", "replication"}), contains("second_repl_offset:-1"));
}

TEST_CASE("a_copy_of_a_server_is_independent") {
  ServerFixture fixture;
  fixture.command({"SET", "key", "value"});
  const Server before = fixture.server;
  fixture.command({"FLUSHALL"});
  fixture.server = before;
  REQUIRE(fixture.command({"GET", "key"}) == R"("value")");
}

TEST_CASE("scripts_are_known_from_the_first_EVAL_to_the_next_flush") {
  ServerFixture fixture;
  const auto call = [&] {
    return fixture.command({"EVALSHA", core::release_script.sha1, "1", "key", "owner"});
  };
  REQUIRE(call() == noscript);
  fixture.eval(core::release_script.source);
  REQUIRE(call() == "0");
  REQUIRE(fixture.command({"SCRIPT", "EXISTS", core::release_script.sha1, "nothing"}) == "[1, 0]");
  REQUIRE(fixture.command({"SCRIPT", "FLUSH"}) == R"(+"OK")");
  REQUIRE(call() == noscript);
}

TEST_CASE("every_library_script_is_loaded_under_its_digest") {
  ServerFixture fixture;
  for (const core::Script* const script : core::all_scripts)
    REQUIRE(fixture.command({"SCRIPT", "LOAD", script->source}) == "\"" + std::string{script->sha1} + "\"");
}

TEST_CASE("a_patch_replaces_a_script_that_is_loaded_and_survives_a_restart") {
  ServerFixture fixture;
  const core::Script& original = core::release_script;
  const auto call = [&] { return fixture.command({"EVALSHA", original.sha1, "1", "key", "owner"}); };
  fixture.command({"SCRIPT", "LOAD", original.source});
  fixture.server.patch(original, "return 'patched'");
  REQUIRE(call() == R"("patched")");
  fixture.server.restart({}, "another", 0);
  REQUIRE(fixture.command({"SCRIPT", "LOAD", original.source}) == "\"" + std::string{original.sha1} + "\"");
  REQUIRE(call() == R"("patched")");
  REQUIRE_THROWS_AS(fixture.server.patch(original, "return ("), std::invalid_argument);
}

TEST_CASE("two_servers_share_an_interpreter_and_no_data") {
  ServerFixture fixture;
  Server other{fixture.interpreter, "other"};
  fixture.eval("return redis.call('SET', KEYS[1], 1)");
  REQUIRE(other.find("key", 0) == nullptr);
  REQUIRE(fixture.server.find("key", 0) != nullptr);
}

}  // namespace
