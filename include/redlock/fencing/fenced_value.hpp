// Checks fencing tokens in the application's own Redis.
#pragma once

#include <string>
#include <string_view>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// A Lua script that reads or writes a string value, unless a greater fencing token has been used on it
/// before. Run it with the Redis client that the application uses for its data. It involves neither the
/// lock's nodes nor the rest of this library.
///
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456            reads
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456 70         writes
///     EVAL <script> 2 stock redlock:v:{stock} 1763722950123456 70 60000   writes for a minute
///
/// | input   | meaning                                                                                       |
/// |---------|-----------------------------------------------------------------------------------------------|
/// | KEYS[1] | the value: a plain string, for others to `GET`                                                |
/// | KEYS[2] | the greatest token so far: `fenced_value_token_key(KEYS[1])`, or another key of the same slot |
/// | ARGV[1] | the token, in decimal                                                                         |
/// | ARGV[2] | the new value; without it the current value is returned                                       |
/// | ARGV[3] | the new value's ttl in ms; without it the value gets none, even if it had one before          |
///
/// | reply             | when                                                                 |
/// |-------------------|----------------------------------------------------------------------|
/// | `OK`              | the value was written                                                |
/// | the value, or nil | the value was read                                                   |
/// | `-FENCED …`       | a greater token was used before; the error names both                |
/// | `-BADTOKEN …`     | ARGV[1] or the content of KEYS[2] is not a number from 1 to 2^53-1   |
/// | `-BADTTL …`       | ARGV[3] is not a number from 1 to 2^53-1                             |
/// | `-WRONGTYPE …`    | one of the keys is not a string                                      |
/// | `-ERR …`          | wrong number of keys or arguments, or the same key twice             |
///
/// All checks come before the first write, so after an error nothing has changed. On success KEYS[2] contains
/// the token, after a read as well: an earlier holder can then no longer change what was read. Equal tokens
/// are admitted because they belong to the same holder.
///
/// There is one mark for reads and writes, so readers of a shared lock (`LockOptions::shared`) whose tokens differ
/// may be refused although they hold the lock. `HighWaterMark` has two.
///
/// KEYS[2] never gets a ttl, even if the value has one: the script cannot know how long a holder may be
/// paused, and once the token is gone any holder is admitted. Do not let `maxmemory-policy` evict that key.
/// To remove the value, let its ttl expire: `DEL` would not check a token.
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

/// Returns the key that stores the token of the value at `key`. It is different for every `key` and, in a
/// Redis Cluster, in the same slot. Exception: no such name exists for a key that contains a `}` but no hash
/// tag; a Cluster refuses to run the script on it.
[[nodiscard]] REDLOCK_EXPORT std::string fenced_value_token_key(std::string_view key);

}  // namespace v1
}  // namespace redlock
