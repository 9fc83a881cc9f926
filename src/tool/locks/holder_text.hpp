// Owner values for people and for programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "redlock/node_report.hpp"

namespace redlock::tool {

/// The first digits and the label; or all of an owner value that another program made; or that nobody holds the lock, but it
/// is kept. Printable.
[[nodiscard]] std::string holder_text(const std::string& owner_value);

/// `3 readers`; `readers` if their number is not known: zero.
[[nodiscard]] std::string number_of_readers(std::size_t);

/// Each of them: `5a01c9d2 web1:4711 report, c0ffee00 web3:17 report`. Printable.
[[nodiscard]] std::string names_of(std::span<const Holder>);

/// The number of readers and their names, as far as the nodes say them: `2 readers: 5a01c9d2 web1:4711 report, c0ffee00 web3:17
/// report`, or `120 readers: …, and 20 more`. Printable.
[[nodiscard]] std::string readers_text(std::span<const NodeReport>);

/// `2026-11-23 14:02:11`, in UTC.
[[nodiscard]] std::string utc_text(std::chrono::sys_seconds);
/// `2026-11-23 14:02:11 UTC  `: the first column of a line about a change.
[[nodiscard]] std::string time_column(std::chrono::system_clock::time_point);

/// Adds `owner` and, if the owner value has them, `label` and `since`, in seconds since 1970. Nothing if no owner holds it alone.
void add_holder(nlohmann::json& to, const std::string& owner_value);

/// Adds `readers`, an array of objects with the same members, and `reader_count`, which is greater if the nodes do not name all.
void add_readers(nlohmann::json& to, std::span<const Holder>, std::size_t count);
/// Those of all nodes.
void add_readers(nlohmann::json& to, std::span<const NodeReport>);

/// The JSON text; with an indentation of -1 it is one line. JSON is UTF-8, but resources and owner values may contain any
/// bytes: those that are not UTF-8 are replaced. All that is not printable ASCII is escaped, because JSON allows some
/// control characters as they are.
[[nodiscard]] std::string json_text(const nlohmann::json&, int indentation = -1);

}  // namespace redlock::tool
