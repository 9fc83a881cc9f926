// How long the commands about locks wait for a node.
#pragma once

#include <chrono>
#include <cstddef>

#include "tool/probe/dialogue.hpp"

namespace redlock::tool {

/// Nobody is in a hurry, but a server that sends a byte now and then is given up as well. A step of SCAN may find many long
/// names.
inline constexpr DialogueLimits patience{.connecting = std::chrono::seconds{2},
                                         .silence = std::chrono::seconds{2},
                                         .exchange = std::chrono::seconds{10},
                                         .reply = {.text = std::size_t{4} << 20U, .elements = 65536}};

}  // namespace redlock::tool
