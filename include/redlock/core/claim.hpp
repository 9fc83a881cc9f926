// One owner value on one key: what an attempt claims, and its holder holds.
#pragma once

#include <chrono>
#include <string>

#include "redlock/core/resp.hpp"
#include "redlock/core/scripts.hpp"
#include "redlock/core/time.hpp"

namespace redlock::inline v1::core {

struct Claim {
  std::string key;
  std::string owner;  // fresh for every attempt, else a delayed release of an earlier one frees a later one
  std::chrono::milliseconds ttl{};
  Span drift{};
  Span node_timeout{};

  [[nodiscard]] std::string ttl_text() const { return std::to_string(ttl.count()); }
  [[nodiscard]] std::string set_command() const {
    return command({"SET", key, owner, "NX", "PX", ttl_text()});
  }
  [[nodiscard]] std::string release_command() const { return release_script.call(key, {owner}); }
  /// After NOSCRIPT. Sets nothing, so it may follow any release of this owner value.
  [[nodiscard]] std::string release_with_source() const {
    return release_script.call_with_source(key, {owner});
  }
  [[nodiscard]] std::string extend_command() const { return extend_script.call(key, {owner, ttl_text()}); }
  /// After NOSCRIPT. Sets nothing, so it may follow any release of this owner value.
  [[nodiscard]] std::string extend_with_source() const {
    return extend_script.call_with_source(key, {owner, ttl_text()});
  }
};

}  // namespace redlock::inline v1::core
