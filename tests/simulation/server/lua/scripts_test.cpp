// The rules of Redis for Lua scripts.
#include "simulation/server/lua/scripts.hpp"

#include <string>
#include <utility>

#include "simulation/server/lua/sha1.hpp"
#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;

TEST_CASE("sha1_of_the_standards_examples_is_correct") {
  REQUIRE(sha1_hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  REQUIRE(sha1_hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  REQUIRE(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  REQUIRE(sha1_hex(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST_CASE("lua_values_are_converted_to_replies") {
  const auto [source, reply] = GENERATE(table<const char*, const char*>({
      {"return 3.99", "3"},
      {"return -3.99", "-3"},
      {"return 2^53", "9007199254740992"},
      {"return 'text'", R"("text")"},
      {"return true", "1"},
      {"return false", "(nil)"},
      {"return nil", "(nil)"},
      {"return", "(nil)"},
      {"return {1, 'two', {3}}", R"([1, "two", [3]])"},
      {"return {1, nil, 3}", "[1]"},
      {"return {1, false, 3}", "[1, (nil), 3]"},
      {"return {x = 1}", "[]"},
      {"return {ok = 'FINE'}", R"(+"FINE")"},
      {"return {err = 'MINE all'}", R"(-"MINE all")"},
      {"return redis.status_reply('FINE')", R"(+"FINE")"},
      {"return redis.error_reply('MINE all')", R"(-"MINE all")"},
      {"return redis.error_reply('short')", R"(-"ERR short")"},
      {"return redis.sha1hex('abc')", R"("a9993e364706816aba3e25717850c26c9cd0d89d")"},
  }));
  CAPTURE(source);
  REQUIRE(ServerFixture{}.eval(source) == reply);
}

TEST_CASE("replies_are_converted_to_lua_values") {
  ServerFixture fixture;
  REQUIRE(fixture.eval("return tostring(redis.call('GET', KEYS[1]))") == R"("false")");
  REQUIRE(fixture.eval("return redis.call('SET', KEYS[1], ARGV[1]).ok") == R"("OK")");
  REQUIRE(fixture.eval("return redis.call('GET', KEYS[1]) .. '!'") == R"("value!")");
  REQUIRE(fixture.eval("return redis.call('DEL', KEYS[1]) + 0.5") == "1");
  REQUIRE(fixture.eval("return redis.call('TIME')[1] + 1") == "2");
  REQUIRE(fixture.eval("return redis.pcall('GET').err") ==
          R"("ERR Wrong number of args calling Redis command from script")");
}

TEST_CASE("numbers_are_passed_as_arguments_with_17_digits") {
  const auto [number, text] = GENERATE(table<const char*, const char*>({
      {"0.1", R"("0.10000000000000001")"},
      {"1/3", R"("0.33333333333333331")"},
      {"2^53", R"("9007199254740992")"},
      {"1e16", R"("10000000000000000")"},
      {"1e17", R"("1e+17")"},
      {"-0", R"("-0")"},
      {"1e300", R"("1.0000000000000001e+300")"},
      {"1/0", R"("inf")"},
  }));
  CAPTURE(number);
  REQUIRE(ServerFixture{}.eval(std::string{"return redis.call('ECHO', "} + number + ")") == text);
}

TEST_CASE("an_error_from_call_ends_the_script_with_its_line_and_one_from_pcall_is_returned") {
  ServerFixture fixture;
  fixture.command({"RPUSH", "key", "element"});
  REQUIRE_THAT(fixture.eval("local x = 1\nreturn redis.call('GET', KEYS[1])"),
               contains("WRONGTYPE Operation against a key holding the wrong kind of value script: ") &&
                   contains(", on @user_script:2."));
  REQUIRE(fixture.eval("redis.pcall('GET', KEYS[1]) return 'went on'") == R"("went on")");
}

TEST_CASE("a_script_cannot_affect_later_scripts") {
  const auto* const source =
      GENERATE("x = 1", "_G.x = 1", "redis.x = 1", "string.x = 1", "rawset(_G, 'x', 1)", "setfenv(0, {})",
               "getmetatable('').__index = nil", "getmetatable(_G).__newindex = nil", "setmetatable(_G, {})",
               "KEYS = {}", "table.insert(_G, 1)", "table.insert(redis, 1)", "table.insert(string, 1)",
               "table.remove(KEYS, 1) table.insert(table, 1)");
  CAPTURE(source);
  ServerFixture fixture;
  REQUIRE(fixture.eval(source).starts_with("-\"ERR user_script:1: "));
  REQUIRE(fixture.eval("return {KEYS[1], ARGV[1], string.upper('a')}") == R"(["key", "value", "A"])");
  REQUIRE_THAT(fixture.eval("return x"),
               contains("Script attempted to access nonexistent global variable 'x'"));
}

TEST_CASE("changes_to_a_scripts_arguments_end_with_the_script") {
  ServerFixture fixture;
  REQUIRE(fixture.eval("KEYS[1] = 'changed' KEYS.more = 1 ARGV[2] = 1 return KEYS[1]") == R"("changed")");
  REQUIRE(fixture.eval("return {#KEYS, #ARGV, KEYS[1], tostring(KEYS.more)}") == R"([1, 1, "key", "nil"])");
}

TEST_CASE("scripts_can_see_neither_addresses_nor_random_numbers") {
  ServerFixture fixture;
  REQUIRE(fixture.eval("return tostring({}) .. tostring(type)") == R"("tablefunction")");
  REQUIRE(fixture.eval("error({}, 0)").find("0x") == std::string::npos);
  REQUIRE_THAT(fixture.eval("return math.random()"),
               contains("attempt to call field 'random' (a nil value)"));
}

TEST_CASE("a_script_that_does_not_compile_is_not_cached") {
  ServerFixture fixture;
  REQUIRE_THAT(fixture.eval("return ("),
               contains("ERR Error compiling script (new function): user_script:1: "));
  REQUIRE(fixture.command({"SCRIPT", "EXISTS", sha1_hex("return (")}) == "[0]");
}

TEST_CASE("scripts_cannot_run_scripts") {
  REQUIRE_THAT(ServerFixture{}.eval("return redis.call('EVAL', 'return 1', 0)"),
               contains("ERR This Redis command is not allowed from script script: "));
}

}  // namespace
