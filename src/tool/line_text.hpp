// The line of a lock for people and for programs.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "redlock/node_report.hpp"

namespace redlock::tool {

/// `1st`, `2nd`, `3rd`, `4th`.
[[nodiscard]] std::string ordinal(std::size_t position);

/// `, 3 in line`; empty if nobody stands there.
[[nodiscard]] std::string line_length_text(std::size_t length);

/// One row for each: position, label and for how long it has waited. Printable. Empty if nobody stands there.
[[nodiscard]] std::string line_table(std::span<const InLine>);

/// An array of objects with `position`, `client`, `label` and `waited_ms`.
[[nodiscard]] nlohmann::json line_json(std::span<const InLine>);

}  // namespace redlock::tool
