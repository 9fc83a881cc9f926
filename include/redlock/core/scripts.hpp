// What runs on the servers.
#pragma once

#include <string>
#include <string_view>

#include "redlock/core/resp.hpp"

namespace redlock::inline v1::core {

struct Script {
  std::string_view source;
  std::string_view sha1;  // of the source, as EVALSHA names it; the greeting checks it against the server's

  /// EVALSHA for one key: 40 bytes instead of the source.
  [[nodiscard]] std::string call(std::string_view key, std::initializer_list<std::string_view> values) const {
    return encode("EVALSHA", sha1, key, values);
  }
  /// EVAL for one key: after NOSCRIPT. The server keeps the script, so this is needed once.
  [[nodiscard]] std::string call_with_source(std::string_view key,
                                             std::initializer_list<std::string_view> values) const {
    return encode("EVAL", source, key, values);
  }

 private:
  static std::string encode(std::string_view verb, std::string_view script, std::string_view key,
                            std::initializer_list<std::string_view> values) {
    const std::string_view* value = values.begin();
    if (values.size() == 1) return command({verb, script, "1", key, value[0]});
    return command({verb, script, "1", key, value[0], value[1]});
  }
};

/// Deletes the key if it still holds our value: 1, else 0. Without the comparison a late release would delete
/// the successor's lock.
inline constexpr Script release_script{
    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0",
    "5c714dd8ed5b943a1f472132e06290c53ab22693"};

/// Prolongs the key to ARGV[2] ms if it still holds our value: 1, else 0. Never shortens: a longer life may
/// come from an extension that overtook this one.
inline constexpr Script extend_script{
    "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end "
    "if redis.call('PTTL',KEYS[1])<tonumber(ARGV[2]) then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return 1",
    "c1230f830fe0653f1187d6f298581b35d996fb43"};

}  // namespace redlock::inline v1::core
