// The text by which another service checks a holder.
#include "redlock/fencing/sequencer.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"
#include "redlock/error.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"

namespace {

using redlock::FencingToken;
using redlock::Sequencer;
using redlock::testing::contains;

std::string refusal_of(const std::string& text) {
  return redlock::testing::exception_message([&] { static_cast<void>(Sequencer::parse(text)); });
}

std::optional<Sequencer> parsed(const std::string& text) {
  try {
    return Sequencer::parse(text);
  } catch (const redlock::Error& error) {
    CHECK(error.code() == redlock::Errc::invalid_argument);
    return std::nullopt;
  }
}

/// Percent-encodes as RFC 3986 says.
std::string encoded(const std::string& bytes) {
  static constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string text;
  for (const char byte : bytes) {
    if (unreserved.find(byte) != unreserved.npos)
      text += byte;
    else
      redlock::core::append_hex(text += '%', static_cast<unsigned char>(byte), redlock::core::upper_hex);
  }
  return text;
}

std::string random_bytes(std::mt19937_64& random) {
  std::string bytes(1 + random() % 40, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 256);
  return bytes.starts_with("redlock:") ? "x" : bytes;
}

}  // namespace

TEST_CASE("a_sequencer_says_what_its_text_says") {
  const Sequencer sequencer = Sequencer::parse("redlock1;x;4711;0123456789abcdef;invoice%2F42");
  CHECK(sequencer.resource() == "invoice/42");
  CHECK(sequencer.token() == FencingToken{4711});
  CHECK(sequencer.id() == "0123456789abcdef");
  CHECK_FALSE(sequencer.is_shared());
  const Sequencer shared = Sequencer::parse("redlock1;s;0;0123456789abcdef;~%00");
  CHECK(shared.is_shared());
  CHECK(shared.resource() == std::string{"~\0", 2});
  CHECK_FALSE(shared.token());
  CHECK_FALSE(shared == sequencer);
  std::ostringstream text;
  text << sequencer << ' ' << shared;
  CHECK(text.str() == "redlock1;x;4711;0123456789abcdef;invoice%2F42 redlock1;s;0;0123456789abcdef;~%00");
}

TEST_CASE("every_sequencer_is_read_from_its_own_text") {
  std::mt19937_64 random{20'261'126};
  for (int round = 0; round < 3'000; ++round) {
    const std::string resource = round == 0 ? std::string(4096, '\xff') : random_bytes(random);
    const std::uint64_t token = (random() >> (random() % 64)) % ((std::uint64_t{1} << 53U) - 1);
    const char kind = "xs"[random() % 2];
    std::string id;
    for (int digit = 0; digit < 16; ++digit) id += redlock::core::lower_hex[random() % 16];
    const std::string text =
        std::string{"redlock1;"} + kind + ';' + std::to_string(token) + ';' + id + ';' + encoded(resource);
    CAPTURE(text);
    REQUIRE(text.size() <= 12'333);
    const Sequencer read = Sequencer::parse(text);
    REQUIRE(read.to_string() == text);
    REQUIRE(read == Sequencer::parse(read.to_string()));
    REQUIRE(read.resource() == resource);
    REQUIRE(read.token() == FencingToken{token});
    REQUIRE(read.id() == id);
    REQUIRE(read.is_shared() == (kind == 's'));
  }
}

TEST_CASE("a_text_with_one_other_byte_is_refused_or_is_the_text_of_another_sequencer") {
  const std::string text = "redlock1;s;4711;0123456789abcdef;a%2F~%00z";
  const Sequencer original = Sequencer::parse(text);
  int read = 0;
  for (std::size_t at = 0; at <= text.size(); ++at)
    for (int byte = 0; byte < 256; ++byte)
      for (const std::size_t replaced : {0U, 1U}) {
        std::string other = text;
        other.replace(at, replaced, 1, static_cast<char>(byte));
        const auto sequencer = parsed(other);
        if (!sequencer) continue;
        ++read;
        REQUIRE(sequencer->to_string() == other);
        REQUIRE((*sequencer == original) == (other == text));
      }
  CHECK(read > 500);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto sequencer = parsed(text.substr(0, size));
    if (sequencer) CHECK(sequencer->to_string() == text.substr(0, size));
  }
}

TEST_CASE("a_text_that_is_no_sequencer_is_refused_with_what_would_be_one") {
  for (const char* const text :
       {"", "redlock1", "redlock1;x;7;0123456789abcdef", "redlock2;x;7;0123456789abcdef;r",
        " redlock1;x;7;0123456789abcdef;r", "redlock1;x;7;0123456789abcdef;r;", "redlock-handover-1:7:72:6f"})
    CHECK_THAT(refusal_of(text), contains("invalid argument: this is not a sequencer: \"") &&
                                     contains("allowed: the text that Sequencer::to_string returns"));
  for (const char* const kind : {"", "X", "xs", "\n"})
    CHECK_THAT(refusal_of(std::string{"redlock1;"} + kind + ";7;0123456789abcdef;r"),
               contains("kind") && contains("x (exclusive) or s (shared)"));
  for (const char* const token :
       {"", "-1", "+1", "07", "0x7", "7 ", "1e3", "9007199254740991", "18446744073709551616"})
    CHECK_THAT(refusal_of(std::string{"redlock1;x;"} + token + ";0123456789abcdef;r"),
               contains("the token \"" + std::string{token} + "\"; allowed: a decimal number"));
  for (const char* const id :
       {"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg"})
    CHECK_THAT(refusal_of(std::string{"redlock1;x;7;"} + id + ";r"), contains("16 hex digits in lower case"));
  for (const char* const resource : {"a b", "%", "%2", "%2g", "%2f", "%41", "a/b", "a+b", "\xc3\xa4", "%%%"})
    CHECK_THAT(refusal_of(std::string{"redlock1;x;7;0123456789abcdef;"} + resource),
               contains("percent-encoded in upper case"));
  for (const std::string& resource : {std::string{}, std::string(4097, 'x'), std::string{"redlock%3Anode"}})
    CHECK_THAT(refusal_of("redlock1;x;7;0123456789abcdef;" + resource),
               contains("1 to 4096 bytes that do not begin with redlock:"));
}

TEST_CASE("a_refused_text_is_shown_escaped_and_cut_off") {
  const std::string message = refusal_of("\x1b[2J" + std::string(100'000, 'x'));
  CHECK_THAT(message, contains("\"\\x1b[2J") && contains("...\""));
  CHECK(message.size() < 300);
}
