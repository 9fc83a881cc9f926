// A string in the application's own Redis that remembers who may still change it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock {
inline namespace v1 {

/// A Lua script that reads or writes a string unless somebody with a greater fencing token was there before. Run it by
/// the Redis client that the application has for its data: the lock's nodes and this library have no part in it.
///
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456            reads
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456 70         writes
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456 70 60000   writes for a minute
///
/// | given   | is                                                                                            |
/// |---------|-----------------------------------------------------------------------------------------------|
/// | KEYS[1] | the value: a plain string, for others to `GET`                                                |
/// | KEYS[2] | the greatest token so far: `fenced_value_token_key(KEYS[1])`, or another key of the same slot |
/// | ARGV[1] | the token, in decimal                                                                         |
/// | ARGV[2] | the new value; without it the present one is returned                                         |
/// | ARGV[3] | the new value's ttl in ms; without it the value has none, even if it had one before           |
///
/// | reply             | when                                                                 |
/// |-------------------|----------------------------------------------------------------------|
/// | `OK`              | written                                                              |
/// | the value, or nil | read                                                                 |
/// | `-FENCED …`       | the token is smaller than one that was here before; both are named   |
/// | `-BADTOKEN …`     | ARGV[1], or what stands at KEYS[2], is not a number from 1 to 2^53-1 |
/// | `-BADTTL …`       | ARGV[3] is not a number from 1 to 2^53-1                             |
/// | `-WRONGTYPE …`    | one of the keys is something else than a string                      |
/// | `-ERR …`          | other counts of keys and arguments, or one key twice                 |
///
/// Everything is checked before anything is written, so an error has changed nothing. Otherwise the token now stands at
/// KEYS[2], after a read as well: the earlier holder can no longer change what was read. Equal tokens pass, as they are
/// one holder's.
///
/// KEYS[2] has no ttl, also where the value has one: the script cannot know for how long a holder may be asleep, and
/// whoever comes after the token is gone is admitted. Do not let `maxmemory-policy` evict it. The value goes by its
/// ttl; a `DEL` would ask for nobody's token.
inline constexpr std::string_view fenced_value_script = R"(
local function is_number(text) return string.match(text, '^[1-9]%d*$') and tonumber(text) < 2^53 end
if #KEYS ~= 2 or KEYS[1] == KEYS[2] or #ARGV < 1 or #ARGV > 3 then
  return redis.error_reply('ERR wanted: 2 keys, of the value and of its token; token, value or none, ttl or none')
end
local token, value, ttl = ARGV[1], ARGV[2], ARGV[3]
if not is_number(token) then return redis.error_reply('BADTOKEN the token is not a number from 1 to 2^53-1') end
if ttl and not is_number(ttl) then return redis.error_reply('BADTTL the ttl is not a number from 1 to 2^53-1') end
local old = redis.pcall(value and 'STRLEN' or 'GET', KEYS[1])
if type(old) == 'table' then return old end
local greatest = redis.pcall('GET', KEYS[2]) or token
if type(greatest) == 'table' then return greatest end
if not is_number(greatest) then
  return redis.error_reply('BADTOKEN what stands at ' .. KEYS[2] .. ' is not a number from 1 to 2^53-1')
end
if tonumber(token) < tonumber(greatest) then
  return redis.error_reply('FENCED token ' .. token .. ' is smaller than ' .. greatest .. ', which was here before')
end
redis.call('SET', KEYS[2], token)
if not value then return old end
if ttl then return redis.call('SET', KEYS[1], value, 'PX', ttl) end
return redis.call('SET', KEYS[1], value)
)";

/// Where the token of the value at `key` is kept: for no two keys the same, and in the key's slot of a Redis Cluster.
/// (Except for a key that has a `}` but no hash tag, for which there is none; a Cluster refuses the script there.)
[[nodiscard]] inline std::string fenced_value_token_key(std::string_view key) {
  const std::size_t open = key.find('{');
  const std::size_t close = open == key.npos ? key.npos : key.find('}', open);
  const bool has_hash_tag = close != key.npos && close > open + 1;
  if (has_hash_tag) return std::string{"redlock:vt:"}.append(key);
  return std::string{"redlock:v:{"}.append(key).append("}");
}

}  // namespace v1
}  // namespace redlock
