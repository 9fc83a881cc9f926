// Text of others that is safe to print.
#include <string>

#include "redlock/core/base/printable.hpp"
#include "support/catch.hpp"

using redlock::core::printable;

TEST_CASE("plain_characters_of_all_lengths_in_utf_8_stay_as_they_are") {
  // ~, ä, the last one before the surrogates, €, a smiling face, the greatest one.
  const std::string text =
      " ~\xc2\xa0\xc3\xa4\xed\x9f\xbf\xee\x80\x80\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf";
  CHECK(printable(text) == text);
}

TEST_CASE("control_characters_and_those_that_change_lines_or_directions_are_escaped") {
  struct Case {
    std::string text;
    std::string shown;
  };
  const auto [text, shown] = GENERATE(
      Case{"\x1b[2J", "\\x1b[2J"}, Case{"\r\n\t", "\\x0d\\x0a\\x09"}, Case{"\x7f", "\\x7f"},
      Case{"\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f"},  // C1
      Case{"\xe2\x80\xa8\xe2\x80\xa9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},  // separators
      Case{"\xe2\x80\xaa\xe2\x80\xae", "\\xe2\\x80\\xaa\\xe2\\x80\\xae"},  // embedding, override
      Case{"\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},  // isolates
      Case{"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f"});  // marks
  CHECK(printable(text) == shown);
  CHECK(printable(shown) == shown);
}

TEST_CASE("bytes_that_are_not_utf_8_are_escaped") {
  const std::string text =
      GENERATE(as<std::string>{}, "\x80", "\x9b", "\xff", "\xc3", "\xe2\x82", "\xc0\x9b", "\xc1\xbf",
               "\xe0\x82\x9b", "\xf0\x80\x82\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80");
  const std::string shown = printable(text);
  CAPTURE(shown);
  CHECK(shown.size() == 4 * text.size());
  CHECK(shown.find_first_not_of("\\x0123456789abcdef") == std::string::npos);
}
