// The rights on a server that locks need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::tool {

/// What a user may do. All but the first need what the first one needs as well, and `shared` what `fenced` needs.
enum class Feature : std::uint8_t {
  plain,      ///< Take and release locks with neither a fencing token nor an order (`Order::none`).
  fenced,     ///< Get fencing tokens.
  renewed,    ///< Extend leases, and learn at once when they are lost.
  waiting,    ///< Stand in line: what `Order::fifo` needs, the default.
  shared,     ///< Take shared locks.
  operating,  ///< Use all commands of `redlock`.
};
constexpr Feature all_features[] = {Feature::plain,   Feature::fenced, Feature::renewed,
                                    Feature::waiting, Feature::shared, Feature::operating};

/// As in `redlock acl --for NAME`.
[[nodiscard]] std::string_view name_of(Feature) noexcept;

/// The rules of an ACL that allow these features for locks with this key prefix, and nothing else: first keys, then
/// channels, then commands. No rule is needed for the others. Redis versions before 7.0 do not know rules for subcommands.
[[nodiscard]] std::vector<std::string> acl_rules(const std::vector<Feature>& features,
                                                 std::string_view key_prefix);

}  // namespace redlock::tool
