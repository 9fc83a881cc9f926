// Text of others that is safe to print.
#include <string>

#include "redlock/core/base/printable.hpp"
#include "support/catch.hpp"

using redlock::core::printable;

TEST_CASE("plain_characters_of_all_lengths_in_utf_8_stay_as_they_are") {
  // ~, ä, the last one before the surrogates, €, a smiling face, the greatest one that is no noncharacter.
  const std::string text =
      " ~\xc2\xa0\xc3\xa4\xed\x9f\xbf\xee\x80\x80\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbd";
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

TEST_CASE("characters_that_are_not_shown_are_escaped") {
  struct Case {
    std::string kind;
    std::string text;
  };
  const auto [kind, text] = GENERATE(
      Case{"soft hyphen and grapheme joiner", "\xc2\xad\xcd\x8f"},
      Case{"fillers", "\xe1\x85\x9f\xe1\x85\xa0\xe3\x85\xa4\xef\xbe\xa0"},
      Case{"separator of vowels", "\xe1\xa0\x8e"},
      Case{"space and joiners of no width", "\xe2\x80\x8b\xe2\x80\x8c\xe2\x80\x8d\xe2\x81\xa0\xef\xbb\xbf"},
      Case{"operators that are not shown", "\xe2\x81\xa1\xe2\x81\xa4"},
      Case{"annotations", "\xef\xbf\xb9\xef\xbf\xbb"},
      Case{"tags", "\xf3\xa0\x80\x80\xf3\xa0\x80\x81\xf3\xa0\x81\xbf"},
      Case{"variation selectors", "\xef\xb8\x80\xef\xb8\x8f\xf3\xa0\x84\x80\xf3\xa0\x87\xaf"},
      Case{"noncharacters",
           "\xef\xb7\x90\xef\xb7\xaf\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\xbf\xbf\xf4\x8f\xbf\xbe\xf4\x8f\xbf"
           "\xbf"});
  CAPTURE(kind);
  const std::string shown = printable(text);
  CAPTURE(shown);
  CHECK(shown.size() == 4 * text.size());
  CHECK(shown.find_first_not_of("\\x0123456789abcdef") == std::string::npos);
}

TEST_CASE("the_neighbours_of_characters_that_are_not_shown_stay_as_they_are") {
  const std::string text =
      GENERATE(as<std::string>{}, "\xc2\xac", "\xc2\xae", "\xcd\x8e", "\xcd\x90", "\xe1\x85\x9e",
               "\xe1\x85\xa1", "\xe2\x80\x8a", "\xe2\x80\x90", "\xe2\x81\x9f", "\xe2\x81\xb0", "\xe3\x85\xa3",
               "\xe3\x85\xa5", "\xef\xb8\x90", "\xef\xbe\xa1", "\xef\xbf\xbc", "\xef\xbf\xbd", "\xef\xb7\x8f",
               "\xef\xb7\xb0", "\xf3\xa1\x80\x80");
  CHECK(printable(text) == text);
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
