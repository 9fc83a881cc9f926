// Commands and replies in readable form.
#pragma once

#include <string>
#include <vector>

#include "redlock/core/wire/reply.hpp"

namespace redlock::simulation {

/// `(nil)`, `7`, `"a string"`, `+"a status"`, `-"an error"`, `[an, array]`; bytes that are not ASCII are escaped.
[[nodiscard]] std::string readable(const core::Reply& reply);
/// Each word in quotes.
[[nodiscard]] std::string readable(const std::vector<std::string>& words);

}  // namespace redlock::simulation
