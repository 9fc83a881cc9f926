// Owner values for people and for programs.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace redlock::tool {

/// The first digits and the label; or all of an owner value that another program made; or that nobody holds the lock, but it
/// is kept. Printable.
[[nodiscard]] std::string holder_text(const std::string& owner_value);

/// `2026-11-23 14:02:11`, in UTC.
[[nodiscard]] std::string utc_text(std::chrono::sys_seconds);
/// `2026-11-23 14:02:11 UTC  `: the first column of a line about a change.
[[nodiscard]] std::string time_column(std::chrono::system_clock::time_point);

/// Adds `owner` and, if the owner value has them, `label` and `since`, in seconds since 1970. Nothing if nobody holds it.
void add_holder(nlohmann::json& to, const std::string& owner_value);

/// The JSON text; with an indentation of -1 it is one line. JSON is UTF-8, but resources and owner values may contain any
/// bytes: those that are not UTF-8 are replaced. All that is not printable ASCII is escaped, because JSON allows some
/// control characters as they are.
[[nodiscard]] std::string json_text(const nlohmann::json&, int indentation = -1);

}  // namespace redlock::tool
