// How much room a text takes, without a font at hand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

/// In pixels, rather too much than too little, for Helvetica and its likes.
[[nodiscard]] int text_width(std::string_view text, int font_size);

/// Broken at spaces into lines that are not wider, a longer word wherever it has to. At least one line, and at most
/// `most_lines`: what is beyond is cut off, and "..." tells so.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int font_size, int width,
                                               std::size_t most_lines);

}  // namespace redlock::simulation
