#include "redlock/core/node/send_buffer.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using redlock::core::SendBuffer;

TEST_CASE("bytes_sent_in_portions_of_any_size_are_the_bytes_added") {
  const std::vector<std::string> commands{"aaa", "b", "cccccccccc", "dd"};
  for (std::size_t portion = 1; portion <= 16; ++portion) {
    SendBuffer out;
    std::string sent;
    // Commands are added between the portions, so that the buffer moves its unsent bytes.
    for (int round = 0; round < 20; ++round) {
      for (const std::string& command : commands) out.add(command, false);
      const std::string part{out.unsent().substr(0, portion)};
      sent += part;
      out.sent(part.size());
    }
    while (out.size() > 0) {
      const std::string part{out.unsent().substr(0, portion)};
      sent += part;
      out.sent(part.size());
    }
    std::string expected;
    for (int round = 0; round < 20; ++round) expected += "aaabccccccccccdd";
    CHECK(sent == expected);
  }
}

TEST_CASE("the_final_bytes_are_the_rest_of_a_partly_sent_command_and_the_owed_releases") {
  // Three commands and two releases, cut at every byte.
  const struct {
    std::string bytes;
    bool is_release;
  } commands[] = {{"set1", false}, {"RELEASE1", true}, {"set2", false}, {"RELEASE2", true}, {"set3", false}};
  std::string all;
  for (const auto& command : commands) all += command.bytes;
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    CAPTURE(cut);
    SendBuffer out;
    for (const auto& command : commands) out.add(command.bytes, command.is_release);
    out.sent(cut);
    std::string expected;
    std::size_t begin = 0;
    for (const auto& command : commands) {
      const std::size_t end = begin + command.bytes.size();
      if (cut > begin && cut < end) expected += command.bytes.substr(cut - begin);
      if (cut <= begin && command.is_release) expected += command.bytes;
      begin = end;
    }
    const SendBuffer::Bytes taken = out.take_releases();
    CHECK(std::string_view{taken} == expected);
    CHECK(out.size() == 0);
    CHECK(out.unsent().empty());
    out.add("new", false);
    CHECK(out.unsent() == "new");
    out.sent(1);
    CHECK(out.take_releases() == "ew");
  }
}

TEST_CASE("clearing_also_discards_the_rest_of_a_partly_sent_command") {
  SendBuffer out;
  out.add("command", false);
  out.sent(3);
  out.clear();
  CHECK(out.size() == 0);
  out.add("release", true);
  CHECK(out.take_releases() == "release");
}
