// Estimates the size of a text without a font.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

/// An upper estimate in pixels, for Helvetica and similar fonts.
[[nodiscard]] int text_width(std::string_view text, int font_size);

/// Wraps a text at spaces into lines of at most `width` pixels, and splits words that are longer. Returns one to `most_lines`
/// lines; a longer text is cut off and ends with "...".
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int font_size, int width,
                                               std::size_t most_lines);

}  // namespace redlock::simulation
