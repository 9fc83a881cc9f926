#include "io/reader.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "support/catch.hpp"

namespace {

using redlock::core::Reply;
using redlock::detail::Reader;

constexpr std::size_t limit = 65536;
constexpr std::size_t chunk = 16384;  // the size of a read from a connection

std::string bulk(std::size_t size) {
  return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
}

/// Empty if the stream is one whole reply; otherwise the reason why it is not.
std::string refusal(const std::string& stream, std::size_t piece) {
  Reader reader;
  const Reply* reply = nullptr;
  for (std::size_t at = 0; at < stream.size() && !reader.error(); at += piece) {
    CHECK_FALSE(reply);
    reader.feed(stream.data() + at, std::min(piece, stream.size() - at));
    reply = reader.next();
  }
  if (reader.error()) return reader.error();
  return reply ? "" : "more is needed";
}

}  // namespace

TEST_CASE("a_reply_of_64_kib_is_accepted_and_a_longer_one_refused_however_it_is_split") {
  for (const std::size_t piece : {chunk, 5 * chunk + 1, 3 * limit}) {
    CAPTURE(piece);
    CHECK(refusal(bulk(limit), piece).empty());
    CHECK(refusal("+" + std::string(limit, 'x') + "\r\n", piece).empty());
    CHECK(refusal(bulk(limit + 1), piece) == "the reply is larger than 64 KiB");
    CHECK(refusal("-" + std::string(limit + 1, 'x') + "\r\n", piece) == "the reply is larger than 64 KiB");
  }
}

TEST_CASE("the_length_limit_applies_to_all_strings_of_a_reply_together") {
  CHECK(refusal("*2\r\n" + bulk(limit / 2) + bulk(limit / 2), chunk).empty());
  CHECK(refusal("*2\r\n" + bulk(limit / 2) + bulk(limit / 2 + 1), chunk) ==
        "the reply is larger than 64 KiB");

  // A reply beyond the limit is refused before all its announced strings have arrived.
  Reader reader;
  std::string_view header = "*4000\r\n";
  reader.feed(header.data(), header.size());
  const std::string part = bulk(chunk);
  std::size_t parts = 0;
  for (; parts < 4000 && !reader.next() && !reader.error(); ++parts) reader.feed(part.data(), part.size());
  CHECK(parts <= limit / chunk + 1);
}

TEST_CASE("of_a_long_error_only_the_beginning_is_kept") {
  for (const std::size_t size : {4095U, 4096U, 4097U, 60000U}) {
    CAPTURE(size);
    Reader reader;
    const std::string error = "-ERR" + std::string(size - 3, 'x') + "\r\n+next\r\n";
    reader.feed(error.data(), error.size());
    const Reply* reply = reader.next();
    REQUIRE(reply);
    CHECK(reply->text == error.substr(1, std::min<std::size_t>(size, 4096)));
    reply = reader.next();
    REQUIRE(reply);
    CHECK(reply->text == "next");
  }
}

TEST_CASE("the_element_limit_applies_to_all_arrays_of_a_reply_together") {
  const auto array = [](std::size_t size) {
    std::string text = "*" + std::to_string(size) + "\r\n";
    for (std::size_t i = 0; i < size; ++i) text += ":1\r\n";
    return text;
  };
  CHECK(refusal(array(4096), chunk).empty());
  CHECK(refusal(array(4097), chunk) == "the reply has too many elements");
  CHECK(refusal("*2\r\n" + array(2047) + array(2047), chunk).empty());
  CHECK(refusal("*2\r\n" + array(2047) + array(2048), chunk) == "the reply has too many elements");
}

TEST_CASE("the_limits_apply_to_each_reply_separately") {
  Reader reader;
  const std::string large = "*2\r\n" + bulk(limit / 2) + bulk(limit / 2);
  for (int i = 0; i < 3; ++i) {
    reader.feed(large.data(), large.size());
    REQUIRE(reader.next());
  }
  CHECK_FALSE(reader.error());
}

TEST_CASE("every_resp3_type_is_refused_including_null") {
  for (const auto* const stream : {"_\r\n", "#t\r\n", ",1.5\r\n", "(12345\r\n", "%1\r\n+a\r\n:1\r\n",
                                   "~1\r\n:1\r\n", ">1\r\n+a\r\n", "=7\r\ntxt:abc\r\n"}) {
    CAPTURE(stream);
    const std::string why = refusal(stream, chunk);
    CHECK_FALSE(why.empty());
    CHECK(why != "more is needed");
  }
}

TEST_CASE("replies_of_one_line_are_read_alike_whole_and_byte_by_byte") {
  const auto read = [](const std::string& stream, std::size_t piece) {
    Reader reader;
    std::string replies;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.feed(stream.data() + at, std::min(piece, stream.size() - at));
      while (const Reply* const reply = reader.next())
        replies += std::to_string(static_cast<int>(reply->kind)) + ' ' + std::to_string(reply->integer) +
                   " [" + reply->text + "] " + std::to_string(reply->elements.size()) + '\n';
    }
    return replies + (reader.error() ? reader.error() : "");
  };
  for (const std::string first : {"+OK",
                                  "+",
                                  "+a\rb",
                                  ":0",
                                  ":1",
                                  ":-1",
                                  ":+1",
                                  ":007",
                                  ":",
                                  ":1x",
                                  ": 1",
                                  ":999999999999999999",
                                  ":1000000000000000000",
                                  ":9223372036854775807",
                                  ":9223372036854775808",
                                  "$-1",
                                  "$-2",
                                  "$0\r\n",
                                  "$2\r\n:1",
                                  "$x",
                                  "*-1",
                                  "*0",
                                  "*2\r\n:1\r\n+b",
                                  "-ERR no",
                                  "",
                                  "x"})
    for (const std::string second : {"+OK", ":1", "$-1", "$3\r\nabc", "*1\r\n:7", "-WRONGTYPE"}) {
      const std::string stream = first + "\r\n" + second + "\r\n" + first + "\r\n:";
      CAPTURE(stream);
      const std::string whole = read(stream, stream.size());
      for (std::size_t piece = 1; piece < stream.size(); ++piece) CHECK(read(stream, piece) == whole);
    }
}

TEST_CASE("pieces_that_are_fed_before_the_replies_are_taken_are_all_read") {
  Reader reader;
  for (const std::string_view piece : {":1\r", "\n:2\r\n", "$1\r\nx\r\n", ":3\r\n"})
    reader.feed(piece.data(), piece.size());
  for (const int integer : {1, 2, 0, 3}) {
    const Reply* const reply = reader.next();
    REQUIRE(reply);
    CHECK(reply->integer == integer);
  }
  CHECK_FALSE(reader.next());
}

TEST_CASE("nothing_is_read_after_an_error") {
  Reader reader;
  for (const std::string_view piece : {"x\r\n", "+OK\r\n"}) {
    reader.feed(piece.data(), piece.size());
    CHECK_FALSE(reader.next());
    CHECK(reader.error());
  }
}
