// How others ask the holder of a lock to give it up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/wire/keys.hpp"

namespace redlock::inline v1::core {

/// An owner value begins with the holder's id, of so many bytes.
inline constexpr std::size_t id_size = 16;
/// Before the id of a holder: the key of a request to this holder.
[[nodiscard]] inline std::string request_prefix(std::string_view lock_key) {
  return companion_key("a", lock_key) + ':';
}
[[nodiscard]] inline std::string request_key(std::string_view lock_key, std::string_view owner) {
  return request_prefix(lock_key).append(owner.substr(0, id_size));
}

/// Of a reason, in bytes.
inline constexpr std::size_t longest_why = 200;

/// Leaves the reason ARGV[1] for the holder of the lock KEYS[1], under a key that consists of KEYS[2] and the holder's id, for
/// as long as the lock lives. Then touches the lock without changing it, which tells a holder who watches it. Returns the
/// value of the lock and its PTTL. Does nothing if nobody holds it.
///
/// A successor has another id, so it never reads the request.
inline constexpr std::string_view ask_source =
    "local call=redis.call "
    "local value,left=call('GETRANGE',KEYS[1],0,1023),call('PTTL',KEYS[1]) "
    "if left>0 and string.sub(value,1,8)~='redlock:' then "
    "call('SET',KEYS[2]..string.sub(value,1,16),ARGV[1],'PX',left) "
    "call('PEXPIRE',KEYS[1],left) end "
    "return {value,left}";

}  // namespace redlock::inline v1::core
