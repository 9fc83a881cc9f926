// What to say about a command line that is nearly right.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace redlock::tool {

/// Explains a command line that `app` could not parse, with what was probably meant. Returns none if nothing is near.
[[nodiscard]] std::optional<std::string> near_miss(const CLI::App& app,
                                                   const std::vector<std::string>& words);

}  // namespace redlock::tool
