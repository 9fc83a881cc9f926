// Small scripts for the operations.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/conformance/operation.hpp"
#include "simulation/conformance/words.hpp"

namespace redlock::simulation {
namespace {

/// Values, conversions and errors of Lua.
constexpr std::string_view sources[] = {
    "return KEYS",
    "return ARGV",
    "return #KEYS .. ',' .. #ARGV",
    "return {KEYS[1], ARGV[1], KEYS[9], ARGV[2]}",
    "return tonumber(ARGV[1])",
    "return tostring(tonumber(ARGV[1]))",
    "return tostring(ARGV[1] == 'true')",
    "return {math.floor(tonumber(ARGV[1]) or 1.5), math.max(1, 2.5), 7 % 3, -7 % 3}",
    "return string.format('%d %s %5.2f %q', 7, ARGV[1], 1.239, 'a\\nb')",
    "return table.concat(ARGV, ',')",
    "return {string.find(ARGV[1], 'e'), string.sub(ARGV[1], 2, -2), string.upper(ARGV[1])}",
    "return select('#', unpack(ARGV))",
    "return redis.sha1hex(ARGV[1])",
    "return redis.sha1hex()",
    "return redis.error_reply(ARGV[1])",
    "return redis.error_reply('MINE ' .. ARGV[1])",
    "return redis.error_reply('-MINE with a dash')",
    "return redis.error_reply(5)",
    "return redis.status_reply(ARGV[1])",
    "return redis.status_reply({})",
    "return {ok = ARGV[1]}",
    "return {err = ARGV[1]}",
    "return {err = 'MINE two\\r\\nlines\\r\\n'}",
    "return {1, {ok = 'FINE'}, {err = 'MINE inside'}, 2}",
    "return {1, nil, 3}",
    "return {1, 2, x = 3}",
    "return",
    "return type",
    "return 1, 2",
    "local t = {} for i = 1, 100 do t[i] = i * i end return t",
    "x = 1",
    "_G.x = 1",
    "return nowhere",
    "redis.call = nil",
    "string.format = nil",
    "return redis.nothing",
    "local t = nil\nreturn t.x",
    "local s = ARGV[1]\n\nreturn s + 1",
    "return #5",
    "return {} < {}",
    "error('raised')",
    "error('raised', 0)",
    "error({err = 'MINE raised'})",
    "error({err = 'MINE raised', line = 'nowhere'})",
    "error(5)",
    "error()",
    "error(nil)",
    "local function f() error('deep') end\nf()",
    "local function f() return redis.call('INCR', KEYS[1]) end\n\nreturn f()",
    "assert(false)",
    "assert(false, 'asserted')",
    "return string.rep()",
    "return tonumber()",
    "return (",
    "return 'open",
    "if",
    "syntax error here",
    "return redis.call()",
    "return redis.pcall()",
    "return redis.call(nil)",
    "return redis.pcall({})",
    "return redis.call('SET', KEYS[1], true)",
    "return redis.call('NOTHING', 1)",
    "return redis.call('SUBSCRIBE', KEYS[1])",
    "return redis.pcall('UNSUBSCRIBE')",
    "return {redis.call('PUBLISH', 'news', ARGV[1]), redis.pcall('PUBLISH', 'redlock:turn:a', ARGV[1])}",
    "redis.call('DEL', KEYS[1]) redis.call('ZADD', KEYS[1], 2^53, 'a', 1/3, 'b', -1/0, 'c') "
    "return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
    "return redis.call('GET')",
    "return {redis.call('TIME')[3]}",
    "redis.call('SET', KEYS[1], ARGV[1]) redis.call('INCR', KEYS[1]) return 1",
    "redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], 1, 2) return redis.call('TYPE', KEYS[1])",
    "redis.call('PEXPIRE', KEYS[1], 1000000000) return redis.call('SET', KEYS[1], 'kept', 'KEEPTTL')",
};

/// Scripts that depend on the version: the form of numbers in arguments, and error texts as values.
constexpr std::string_view sources_of_a_version[] = {
    "return redis.call('SET', KEYS[1], (tonumber(ARGV[1]) or 7) / 3)",
    "return redis.call('ECHO', tonumber(ARGV[1]) or 0.1)",
    "return {pcall(redis.call, 'INCR', KEYS[1])}",
    "return {pcall(error, 'raised')}",
    "return {pcall(error, {1})}",
    "return {pcall(error, {err = 'MINE'})}",
    "local r = redis.pcall('INCR', KEYS[1]) return type(r) == 'table' and r.err or r",
    "return select(2, pcall(function() return nowhere end))",
    "return select(2, pcall(function() nowhere = 1 end))",
    "return {xpcall(function() error('raised') end, function(e) return 'seen ' .. tostring(e) end)}",
    "return {loadstring('return (')}",
    "return {loadstring('return 5')()}",
};

constexpr std::string_view numbers[] = {"0",     "-0",   "1",      "-1",     "1.5",   "-1.5", "0.1",
                                        "1/3",   "2^31", "2^53",   "2^53+1", "-2^53", "1e15", "1e16",
                                        "1e17",  "1e18", "123e15", "2^62*3", "-2^63", "1e-5", "1e21",
                                        "1e300", "1/0",  "-1/0",   "3.99",   "-3.99"};

/// Numbers that have the same form as arguments in every version.
constexpr std::string_view plain_numbers[] = {"0",    "1",    "-1",    "1.5",  "-1.5",
                                              "2^31", "2^53", "-2^53", "1e15", "3.75"};

}  // namespace

/// A random Lua literal.
std::string Operations::literal(int depth) {
  switch (random_.below(depth > 0 ? 8 : 5)) {
    case 0:
    case 1:
      return random_.pick(numbers);
    case 2:
      return random_.pick({"''", "'text'", "'two\\r\\nlines'", "'\\0'", "'7'"});
    case 3:
      return random_.pick({"nil", "true", "false", "false"});
    case 4:
      return random_.pick({"print", "type"}) == "type" ? "type" : "{}";
    case 5:
      return "{ok=" + literal(0) + "}";
    case 6:
      return "{err='MINE'}";
    default: {
      std::string table = "{";
      for (std::size_t i = 1 + random_.below(3); i > 0; --i) table += literal(depth - 1) + ",";
      return table + "}";
    }
  }
}

/// A script that calls the command in its arguments.
std::string Operations::calling_source() {
  if (same_version_ && random_.one_in(6))
    return "local r = redis.pcall(unpack(ARGV)) return {type(r), type(r) == 'table' and r.err or r}";
  return random_.pick(
      {"return redis.call(unpack(ARGV))", "return redis.pcall(unpack(ARGV))",
       "local r = redis.pcall(unpack(ARGV)) return {type(r), type(r) == 'table' and r.ok or #ARGV}",
       "local r = redis.call(unpack(ARGV))\nreturn {r, 1}",
       "local r = redis.pcall(unpack(ARGV)) return {1, r, 2}",
       "local r = redis.pcall(unpack(ARGV)) return tostring(type(r) == 'number' and r)"});
}

std::string Operations::any_source() {
  const std::span<const std::string_view> arguments =
      same_version_ ? std::span<const std::string_view>{numbers} : plain_numbers;
  switch (random_.below(6)) {
    case 0: {
      // Few different scripts, as a server keeps every one of them.
      RandomSource few{random_.below(400)};
      std::swap(few, random_);
      const std::string value = literal(3);
      std::swap(few, random_);
      return "return " + value;
    }
    case 1:
      return "return redis.call('ECHO', " + random_.pick(arguments) + ")";
    case 2:
      return "redis.call('SET', KEYS[1], " + random_.pick(arguments) + ")\nreturn redis.call('GET', KEYS[1])";
    case 3:
      if (same_version_) return random_.pick(sources_of_a_version);
      [[fallthrough]];
    default:
      return random_.pick(sources);
  }
}

std::vector<std::string> Operations::small_script() {
  if (random_.one_in(2)) {
    std::vector<std::string> words{"EVAL", calling_source(), "0"};
    for (std::string& word : plain()) words.push_back(std::move(word));
    return words;
  }
  return {"EVAL", any_source(), "1", any_key(random_), any_value(random_)};
}

}  // namespace redlock::simulation
