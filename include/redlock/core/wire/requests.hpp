// How others ask the holder of a lock to give it up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/wire/keys.hpp"

namespace redlock::inline v1::core {

/// Before the id of a holder: the key of a request to this holder.
[[nodiscard]] inline std::string request_prefix(std::string_view lock_key) {
  return companion_key("a", lock_key) + ':';
}
[[nodiscard]] inline std::string request_key(std::string_view lock_key, std::string_view owner) {
  return request_prefix(lock_key).append(holder_id(owner));
}

/// Of a reason, in bytes.
inline constexpr std::size_t longest_why = 200;

/// Leaves the reason ARGV[1] for the holder of the lock KEYS[1], under a key that consists of KEYS[2] and the holder's id, for
/// as long as the lock lives. Then touches the lock without changing it, which tells a holder who watches it. If readers hold
/// the lock, does that for each whose id is in the set ARGV[2], with the reader's own key. Returns the value of the lock and its
/// PTTL. Does nothing if nobody holds it.
///
/// A successor has another id, so it never reads the request. The set is not among the KEYS, so that users of other locks need
/// no right to it.
inline constexpr std::string_view ask_source =
    "local call=redis.call "
    "local function ask(key,id) "
    "local left=call('PTTL',key) "
    "if left>0 then "
    "call('SET',KEYS[2]..id,ARGV[1],'PX',left) "
    "call('PEXPIRE',key,left) end end "
    "local value,left=call('GETRANGE',KEYS[1],0,1023),call('PTTL',KEYS[1]) "
    "if value=='redlock:shared' then "
    "for _,id in ipairs(call('SMEMBERS',ARGV[2])) do ask(ARGV[2]..':'..id,id) end "
    "elseif string.sub(value,1,8)~='redlock:' then ask(KEYS[1],string.sub(value,1,16)) end "
    "return {value,left}";

}  // namespace redlock::inline v1::core
