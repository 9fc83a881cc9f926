// The report of a run as one HTML page.
#pragma once

#include <string>

#include "chaos/field/run.hpp"

namespace redlock::chaos {

/// Writes what happened to nodes and clients, minute by minute, with a mark at what broke. The page needs nothing else.
/// Throws std::runtime_error if the file cannot be written.
void write_page(const std::string& path, const RunOptions& options, const Outcome& outcome);

/// A few lines about the run: its seed, and how often what happened.
[[nodiscard]] std::string summary(const RunOptions& options, const Outcome& outcome);

/// What broke, and all entries within some seconds of it. Empty if nothing did.
[[nodiscard]] std::string around_violation(const Outcome& outcome);

}  // namespace redlock::chaos
