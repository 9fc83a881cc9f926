// The text that takes a lock to another process.
#include <string>

#include "redlock/lease.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"

namespace {

using redlock::FencingToken;
using redlock::Handover;

}  // namespace

TEST_CASE("a_handover_survives_its_text_whatever_bytes_it_has") {
  const std::string bytes{"a \0b:\n\xff", 7};
  for (const Handover& handover :
       {Handover{"r", "o"}, Handover{bytes, bytes, FencingToken{(1ULL << 53U) - 2}},
        Handover{std::string(4096, 'x'), std::string(1024, '\xff'), FencingToken{1}}}) {
    const std::string text = handover.to_string();
    CHECK(text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:-") == text.npos);
    CHECK(text.size() <= 10'300);
    CHECK(Handover::parse(text) == handover);
  }
}

TEST_CASE("other_texts_are_no_handover") {
  const auto text =
      GENERATE(as<std::string>{}, "", "redlock-handover-1:", "redlock-handover-1:7:72",
               "redlock-handover-1:7:72:", "redlock-handover-1:7::6f", "redlock-handover-1:x:72:6f",
               "redlock-handover-1:7:7:6f", "redlock-handover-1:7:72:6g", "redlock-handover-1:-7:72:6f",
               "redlock-handover-1:7:72:6f:", "redlock-handover-1:99999999999999999999:72:6f",
               "redlock-handover-2:7:72:6f", " redlock-handover-1:7:72:6f");
  CAPTURE(text);
  CHECK_THAT(redlock::testing::exception_message([&] { static_cast<void>(Handover::parse(text)); }),
             redlock::testing::contains("invalid argument: this is no handover; allowed: the text that"));
}
