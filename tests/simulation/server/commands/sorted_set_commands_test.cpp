// Sorted sets of a simulated server.
#include <string>
#include <string_view>

#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;

constexpr const char* wrong_type = R"(-"WRONGTYPE Operation against a key holding the wrong kind of value")";
constexpr const char* no_float = R"(-"ERR value is not a valid float")";

TEST_CASE("members_are_ordered_by_score_and_then_by_bytes") {
  ServerFixture fixture;
  REQUIRE(fixture.command({"ZADD", "key", "2", "b", "-inf", "last", "2", "B", "10", "a", "2", "\xff"}) ==
          "5");
  REQUIRE(fixture.command({"ZRANGE", "key", "0", "-1"}) == R"(["last", "B", "b", "\xff", "a"])");
  REQUIRE(fixture.command({"ZRANGE", "key", "-2", "100", "withscores"}) == R"(["\xff", "2", "a", "10"])");
  REQUIRE(fixture.command({"ZRANGE", "key", "3", "2"}) == "[]");
  REQUIRE(fixture.command({"ZRANK", "key", "b"}) == "2");
  REQUIRE(fixture.command({"ZRANK", "key", "nobody"}) == "(nil)");
}

TEST_CASE("a_second_score_moves_the_member") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "1", "a", "2", "b"});
  REQUIRE(fixture.command({"ZADD", "key", "3", "a"}) == "0");
  REQUIRE(fixture.command({"ZRANGE", "key", "0", "-1"}) == R"(["b", "a"])");
  REQUIRE(fixture.command({"ZCARD", "key"}) == "2");
}

TEST_CASE("the_key_goes_with_its_last_member") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "1", "a", "2", "b"});
  REQUIRE(fixture.command({"ZREM", "key", "a", "nobody"}) == "1");
  REQUIRE(fixture.command({"EXISTS", "key", "key", "other"}) == "2");
  REQUIRE(fixture.command({"ZREM", "key", "b"}) == "1");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
  REQUIRE(fixture.command({"ZCARD", "key"}) == "0");
  REQUIRE(fixture.command({"ZREM", "key", "b"}) == "0");
}

TEST_CASE("scores_are_written_with_17_digits") {
  const auto [score, text] = GENERATE(table<const char*, const char*>({
      {"1790000000000000", "1790000000000000"},
      {"0.1", "0.10000000000000001"},
      {"1e3", "1000"},
      {"12345678901234567", "12345678901234568"},
      {"1e17", "1e+17"},
      {"-Infinity", "-inf"},
      {"0x10", "16"},
      {"-0", "0"},
  }));
  CAPTURE(score);
  ServerFixture fixture;
  REQUIRE(fixture.command({"ZADD", "key", score, "member"}) == "1");
  REQUIRE(fixture.command({"ZSCORE", "key", "member"}) == "\"" + std::string{text} + "\"");
}

TEST_CASE("what_is_no_score_adds_nothing") {
  const auto* const score = GENERATE("", "nan", " 1", "1 ", "1e400", "1e-400", "one");
  CAPTURE(score);
  ServerFixture fixture;
  REQUIRE(fixture.command({"ZADD", "key", "1", "first", score, "second"}) == no_float);
  REQUIRE(fixture.command({"ZADD", "key", "1", "first", "2"}) == R"(-"ERR syntax error")");
  REQUIRE(fixture.command({"EXISTS", "key"}) == "0");
}

TEST_CASE("a_range_of_scores_may_exclude_its_ends_and_be_limited") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "-inf", "a", "1", "b", "2", "c", "3", "d", "inf", "e"});
  const auto range = [&](std::string_view min, std::string_view max) {
    return fixture.command({"ZRANGEBYSCORE", "key", min, max});
  };
  CHECK(range("-inf", "+inf") == R"(["a", "b", "c", "d", "e"])");
  CHECK(range("(-inf", "(inf") == R"(["b", "c", "d"])");
  CHECK(range("1", "(3") == R"(["b", "c"])");
  CHECK(range("(2", "(2") == "[]");
  CHECK(range("3", "1") == "[]");
  CHECK(range("1", "one") == R"(-"ERR min or max is not a float")");
  const auto limited = [&](std::string_view offset, std::string_view count) {
    return fixture.command({"ZRANGEBYSCORE", "key", "-inf", "3", "LIMIT", offset, count, "WITHSCORES"});
  };
  CHECK(limited("1", "2") == R"(["b", "1", "c", "2"])");
  CHECK(limited("3", "-1") == R"(["d", "3"])");
  CHECK(limited("4", "1") == "[]");
  CHECK(limited("-1", "1") == "[]");
}

TEST_CASE("a_sorted_set_and_a_string_have_the_wrong_type_for_each_others_commands") {
  ServerFixture fixture;
  fixture.command({"ZADD", "set", "1", "a"});
  fixture.command({"SET", "string", "value"});
  REQUIRE(fixture.command({"TYPE", "set"}) == R"(+"zset")");
  CHECK(fixture.command({"GET", "set"}) == wrong_type);
  CHECK(fixture.command({"INCR", "set"}) == wrong_type);
  CHECK(fixture.command({"RPUSH", "set", "a"}) == wrong_type);
  CHECK(fixture.command({"ZADD", "string", "1", "a"}) == wrong_type);
  CHECK(fixture.command({"ZREM", "string", "a"}) == wrong_type);
  CHECK(fixture.command({"ZSCORE", "string", "a"}) == wrong_type);
  CHECK(fixture.command({"ZCARD", "string"}) == wrong_type);
  CHECK(fixture.command({"ZRANK", "string", "a"}) == wrong_type);
  CHECK(fixture.command({"ZRANGE", "string", "0", "1"}) == wrong_type);
  CHECK(fixture.command({"ZRANGEBYSCORE", "string", "0", "1"}) == wrong_type);
}

TEST_CASE("a_sorted_set_expires_and_is_replaced_as_any_key") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "1", "a"});
  REQUIRE(fixture.command({"PEXPIRE", "key", "10"}) == "1");
  fixture.command({"ZADD", "key", "2", "b"});
  REQUIRE(fixture.command({"PTTL", "key"}) == "10");
  fixture.now_ms += 11;
  REQUIRE(fixture.command({"ZCARD", "key"}) == "0");
  fixture.command({"ZADD", "key", "1", "a"});
  REQUIRE(fixture.command({"SET", "key", "value"}) == R"(+"OK")");
  REQUIRE(fixture.command({"DEL", "key"}) == "1");
  REQUIRE(fixture.command({"ZADD", "key", "1", "b"}) == "1");
  REQUIRE(fixture.command({"ZRANGE", "key", "0", "-1"}) == R"(["b"])");
}

TEST_CASE("a_snapshot_keeps_sorted_sets_as_they_were") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "1", "a"});
  const Keyspace snapshot = fixture.server.keys();
  fixture.command({"ZADD", "key", "0", "b"});
  fixture.server.restart(snapshot, "another", 0);
  REQUIRE(fixture.command({"ZRANGE", "key", "0", "-1", "WITHSCORES"}) == R"(["a", "1"])");
}

TEST_CASE("scripts_pass_numbers_as_scores_and_get_texts") {
  ServerFixture fixture;
  REQUIRE(fixture.eval("return redis.call('ZADD', KEYS[1], 1790000000000001, 'a', 1/0, 'b')") == "2");
  REQUIRE(fixture.eval("return redis.call('ZSCORE', KEYS[1], 'a') - 1790000000000000") == "1");
  REQUIRE(fixture.eval("return tostring(redis.call('ZSCORE', KEYS[1], 'nobody'))") == R"("false")");
  REQUIRE(fixture.eval("return redis.call('ZRANGEBYSCORE', KEYS[1], 0, 1790000000000001)[1]") == R"("a")");
  REQUIRE_THAT(fixture.eval("return redis.call('ZADD', KEYS[1], 0/0, 'a')"),
               contains("ERR value is not a valid float script: "));
}

TEST_CASE("a_replica_and_a_server_out_of_memory_refuse_new_members") {
  ServerFixture fixture;
  fixture.command({"ZADD", "key", "1", "a"});
  fixture.server.set_mode(Server::Mode::read_only);
  REQUIRE_THAT(fixture.command({"ZREM", "key", "a"}), contains("READONLY"));
  REQUIRE(fixture.command({"ZCARD", "key"}) == "1");
  fixture.server.set_mode(Server::Mode::out_of_memory);
  REQUIRE_THAT(fixture.command({"ZADD", "key", "1", "b"}), contains("OOM"));
  REQUIRE(fixture.command({"ZREM", "key", "a"}) == "1");
}

}  // namespace
