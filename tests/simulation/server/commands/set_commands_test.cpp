// Sets of a simulated server.
#include <string>
#include <string_view>

#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;

constexpr const char* wrong_type = R"(-"WRONGTYPE Operation against a key holding the wrong kind of value")";

TEST_CASE("a_set_has_each_member_once") {
  ServerFixture fixture;
  REQUIRE(fixture.command({"SADD", "key", "b", "a", "b", "\xff"}) == "3");
  REQUIRE(fixture.command({"SADD", "key", "a", "c"}) == "1");
  REQUIRE(fixture.command({"SMEMBERS", "key"}) == R"(["a", "b", "c", "\xff"])");
  REQUIRE(fixture.command({"SISMEMBER", "key", "a"}) == "1");
  REQUIRE(fixture.command({"SISMEMBER", "key", "A"}) == "0");
  REQUIRE(fixture.command({"TYPE", "key"}) == R"(+"set")");
}

TEST_CASE("a_missing_set_is_empty") {
  ServerFixture fixture;
  REQUIRE(fixture.command({"SMEMBERS", "key"}) == "[]");
  REQUIRE(fixture.command({"SISMEMBER", "key", "a"}) == "0");
  REQUIRE(fixture.command({"SREM", "key", "a"}) == "0");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
}

TEST_CASE("a_set_goes_with_its_last_member") {
  ServerFixture fixture;
  fixture.command({"SADD", "key", "a", "b"});
  REQUIRE(fixture.command({"SREM", "key", "a", "nobody"}) == "1");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "1");
  REQUIRE(fixture.command({"SREM", "key", "b"}) == "1");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
}

TEST_CASE("a_set_and_other_keys_have_the_wrong_type_for_each_others_commands") {
  ServerFixture fixture;
  fixture.command({"SADD", "set", "a"});
  CHECK(fixture.command({"GET", "set"}) == wrong_type);
  CHECK(fixture.command({"GETRANGE", "set", "0", "1"}) == wrong_type);
  CHECK(fixture.command({"INCR", "set"}) == wrong_type);
  CHECK(fixture.command({"RPUSH", "set", "a"}) == wrong_type);
  CHECK(fixture.command({"ZADD", "set", "1", "a"}) == wrong_type);
  CHECK(fixture.command({"ZCARD", "set"}) == wrong_type);
  fixture.command({"SET", "string", "value"});
  fixture.command({"ZADD", "sorted set", "1", "a"});
  const auto* const key = GENERATE("string", "sorted set");
  CHECK(fixture.command({"SADD", key, "a"}) == wrong_type);
  CHECK(fixture.command({"SISMEMBER", key, "a"}) == wrong_type);
  CHECK(fixture.command({"SMEMBERS", key}) == wrong_type);
  CHECK(fixture.command({"SREM", key, "a"}) == wrong_type);
}

TEST_CASE("a_set_expires_and_is_replaced_as_any_key") {
  ServerFixture fixture;
  fixture.command({"SADD", "key", "a"});
  REQUIRE(fixture.command({"PEXPIRE", "key", "10"}) == "1");
  fixture.command({"SADD", "key", "b"});
  REQUIRE(fixture.command({"PTTL", "key"}) == "10");
  fixture.now_ms += 11;
  REQUIRE(fixture.command({"SMEMBERS", "key"}) == "[]");
  fixture.command({"SADD", "key", "a"});
  REQUIRE(fixture.command({"SET", "key", "value"}) == R"(+"OK")");
  REQUIRE(fixture.command({"DEL", "key"}) == "1");
  REQUIRE(fixture.command({"ZADD", "key", "1", "b"}) == "1");
  REQUIRE(fixture.command({"ZRANGE", "key", "0", "-1"}) == R"(["b"])");
}

TEST_CASE("a_snapshot_keeps_sets_as_they_were_and_FLUSHALL_deletes_them") {
  ServerFixture fixture;
  fixture.command({"SADD", "key", "a"});
  const Keyspace snapshot = fixture.server.keys();
  fixture.command({"SADD", "key", "b"});
  fixture.server.restart(snapshot, "another", 0);
  REQUIRE(fixture.command({"SMEMBERS", "key"}) == R"(["a"])");
  fixture.command({"FLUSHALL"});
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
}

TEST_CASE("scripts_get_the_members_as_a_table") {
  ServerFixture fixture;
  REQUIRE(fixture.eval("return redis.call('SADD', KEYS[1], 1, 'a')") == "2");
  REQUIRE(fixture.eval("return #redis.call('SMEMBERS', KEYS[1])") == "2");
  REQUIRE(fixture.eval("return redis.call('SMEMBERS', KEYS[1])[2]") == R"("a")");
}

TEST_CASE("a_replica_and_a_server_out_of_memory_refuse_new_members_of_sets") {
  ServerFixture fixture;
  fixture.command({"SADD", "key", "a"});
  fixture.server.set_mode(Server::Mode::read_only);
  REQUIRE_THAT(fixture.command({"SREM", "key", "a"}), contains("READONLY"));
  REQUIRE(fixture.command({"SISMEMBER", "key", "a"}) == "1");
  fixture.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE_THAT(fixture.command({"SADD", "key", "b"}), contains("OOM"));
  REQUIRE(fixture.command({"SREM", "key", "a"}) == "1");
}

}  // namespace
