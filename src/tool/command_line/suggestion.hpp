// What somebody meant who misspelt a command or an option.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::tool {

/// Returns the word among `known` that was probably meant: the one with the fewest letters that differ, are missing, are
/// too many or are exchanged with a neighbour, if these are at most two and fewer than half of the letters.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word,
                                                      std::span<const std::string> known);

/// The command that was probably meant: by its spelling, or since other tools call it so, as in `ls` or `unlock`.
[[nodiscard]] std::optional<std::string> nearest_command(std::string_view word,
                                                         std::span<const std::string> known);

}  // namespace redlock::tool
