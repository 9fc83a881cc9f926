// What the environment and files say about the nodes.
#pragma once

#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/options.hpp"

namespace redlock::inline v1::detail {

using Variables = Configuration::Variables;

/// Returns the value of a variable of this process.
[[nodiscard]] std::optional<std::string> process_variable(const char* name);

// All of these throw `Error` (invalid_argument).

/// Returns the nodes in this file. Refuses a file that names no node, or that has a password and that every user of the
/// machine may read.
[[nodiscard]] std::vector<Endpoint> nodes_in_file(const std::string& path);
/// Returns the nodes that a variable or one of the files at known places names; none if there are none.
[[nodiscard]] std::vector<Endpoint> nodes_of(const Variables&);
/// Returns the options with those replaced for which a variable is set.
[[nodiscard]] Options options_of(const Variables&, Options);

}  // namespace redlock::inline v1::detail
