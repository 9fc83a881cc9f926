// The script of the fenced value, on a real server.
#include "redlock/fencing/fenced_value.hpp"

#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/raw_client.hpp"

using namespace redlock::testing;

namespace {

const std::string last_token = "9007199254740991";  // 2^53-1

std::string refusal(const std::string& token, const std::string& greatest) {
  return std::string{"-FENCED token "}
      .append(token)
      .append(" is smaller than ")
      .append(greatest)
      .append(", which was here before");
}

/// One value on its own server, and the replies of the script.
class Value {
 public:
  std::string write(const std::string& token, const std::string& value) { return run({token, value}); }
  std::string write(const std::string& token, const std::string& value, const std::string& ttl) {
    return run({token, value, ttl});
  }
  std::string read(const std::string& token) { return run({token}); }

  std::string run(const std::vector<std::string>& arguments) { return run({key, token_key}, arguments); }
  std::string run(const std::vector<std::string>& keys, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"EVAL", std::string{redlock::fenced_value_script},
                                   std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return server.command(words);
  }

  /// The content of the server as `value/token`, with `-` for a missing key.
  [[nodiscard]] std::string state() {
    return server.get(key).value_or("-") + "/" + server.get(token_key).value_or("-");
  }

  const std::string key = "stock";
  const std::string token_key = redlock::fenced_value_token_key(key);
  LocalNodes node{1};
  RawClient server{node.port(0)};
};

}  // namespace

TEST_CASE("a_write_with_a_smaller_token_is_refused_naming_both_and_changes_nothing") {
  Value value;
  CHECK(value.write("34", "seventy") == "OK");
  CHECK(value.state() == "seventy/34");
  CHECK(value.write("33", "fifty") == "-FENCED token 33 is smaller than 34, which was here before");
  CHECK(value.state() == "seventy/34");
}

TEST_CASE("a_write_with_an_equal_or_greater_token_is_accepted") {
  Value value;
  CHECK(value.write("34", "first") == "OK");
  CHECK(value.write("34", "second") == "OK");
  CHECK(value.state() == "second/34");
  CHECK(value.write("35", "") == "OK");
  CHECK(value.state() == "/35");
}

TEST_CASE("tokens_are_compared_as_numbers_up_to_the_last_one") {
  Value value;
  std::string before;
  for (const std::string token : {"9", "10", "99999999", "100000000", "999999999999999", "1000000000000000",
                                  "9007199254740989", "9007199254740990", "9007199254740991"}) {
    CAPTURE(before, token);
    CHECK(value.write(token, "mine") == "OK");
    if (!before.empty()) CHECK(value.write(before, "late") == refusal(before, token));
    CHECK(value.state() == "mine/" + token);
    before = token;
  }
}

TEST_CASE("a_read_shuts_out_earlier_holders_with_or_without_a_value") {
  Value value;
  CHECK(value.read("33") == "(nil)");
  CHECK(value.state() == "-/33");
  CHECK(value.write("32", "late") == refusal("32", "33"));
  CHECK(value.state() == "-/33");
  CHECK(value.write("33", "fifty") == "OK");
  CHECK(value.read("34") == "fifty");
  CHECK(value.write("33", "late") == refusal("33", "34"));
  CHECK(value.read("33") == refusal("33", "34"));
  CHECK(value.state() == "fifty/34");
}

TEST_CASE("an_invalid_token_is_refused_and_nothing_is_written") {
  Value value;
  const std::string nul{"34\0", 3};
  for (const std::string& token :
       {std::string{}, std::string{"0"}, std::string{"-1"}, std::string{"+35"}, std::string{"035"},
        std::string{" 35"}, std::string{"35 "}, std::string{"35.0"}, std::string{"1e3"}, std::string{"0x23"},
        std::string{"nan"}, std::string{"inf"}, std::string{"thirty"}, nul, std::string{"9007199254740992"},
        std::string{"9007199254740993"}, std::string{"18446744073709551615"}}) {
    CAPTURE(token);
    CHECK(value.write(token, "x") == "-BADTOKEN the token is not a number from 1 to 2^53-1");
    CHECK(value.read(token) == "-BADTOKEN the token is not a number from 1 to 2^53-1");
    CHECK(value.server.keys().empty());
  }
}

TEST_CASE("an_invalid_stored_token_is_refused_and_left_unchanged") {
  Value value;
  for (const std::string there : {"", "0", "-1", "x", "34.5", "9007199254740992"}) {
    CAPTURE(there);
    value.server.command({"SET", value.token_key, there});
    CHECK(value.write(last_token, "x") ==
          "-BADTOKEN what stands at redlock:v:{stock} is not a number from 1 to 2^53-1");
    CHECK(value.state() == "-/" + there);
  }
}

TEST_CASE("a_key_of_another_type_is_refused_and_nothing_is_written") {
  Value value;
  value.server.command({"RPUSH", value.key, "a list"});
  CHECK_THAT(value.write("34", "x"), contains("-WRONGTYPE "));
  CHECK_THAT(value.read("34"), contains("-WRONGTYPE "));
  CHECK(value.server.keys() == std::vector{value.key});
  CHECK(value.server.command({"LRANGE", value.key, "0", "-1"}) == "[a list]");

  value.server.del(value.key);
  value.server.command({"HSET", value.token_key, "a", "hash"});
  CHECK_THAT(value.write("34", "x"), contains("-WRONGTYPE "));
  CHECK_THAT(value.read("34"), contains("-WRONGTYPE "));
  CHECK(value.server.keys() == std::vector{value.token_key});
}

TEST_CASE("a_ttl_applies_to_the_value_alone_and_the_token_outlives_it") {
  Value value;
  CHECK(value.write("34", "for a minute", "60000") == "OK");
  CHECK(value.server.pttl(value.key) > 30000);
  CHECK(value.server.pttl(value.key) <= 60000);
  CHECK(value.server.pttl(value.token_key) == -1);

  value.server.del(value.key);  // as if it had expired
  CHECK(value.write("33", "late") == refusal("33", "34"));

  CHECK(value.write("34", "for long", last_token) == "OK");
  CHECK(value.write("34", "for ever") == "OK");
  CHECK(value.server.pttl(value.key) == -1);
}

TEST_CASE("a_ttl_set_on_a_token_by_hand_is_removed") {
  Value value;
  CHECK(value.write("34", "x") == "OK");
  value.server.command({"PEXPIRE", value.token_key, "60000"});
  CHECK(value.read("34") == "x");
  CHECK(value.server.pttl(value.token_key) == -1);
}

TEST_CASE("an_invalid_ttl_is_refused_and_nothing_is_written") {
  Value value;
  for (const std::string ttl : {"", "0", "-1", "1.5", "soon", "9007199254740992", "99999999999999999999"}) {
    CAPTURE(ttl);
    CHECK(value.write("34", "x", ttl) == "-BADTTL the ttl is not a number from 1 to 2^53-1");
    CHECK(value.server.keys().empty());
  }
}

TEST_CASE("a_wrong_number_of_keys_or_arguments_is_refused_and_nothing_is_written") {
  Value value;
  const std::vector<std::string> good{"34", "x"};
  CHECK_THAT(value.run({}, good), contains("-ERR wanted: 2 keys"));
  CHECK_THAT(value.run({"stock"}, good), contains("-ERR wanted: 2 keys"));
  CHECK_THAT(value.run({"stock", "stock"}, good), contains("-ERR wanted: 2 keys"));
  CHECK_THAT(value.run({"stock", "token", "third"}, good), contains("-ERR wanted: 2 keys"));
  CHECK_THAT(value.run({}), contains("-ERR wanted: 2 keys"));
  CHECK_THAT(value.run({"34", "x", "1000", "y"}), contains("-ERR wanted: 2 keys"));
  CHECK(value.server.keys().empty());
}

TEST_CASE("a_value_may_contain_any_bytes") {
  Value value;
  const std::string bytes{"\0\r\n$5\xff", 6};
  CHECK(value.write("34", bytes) == "OK");
  CHECK(value.read("34") == bytes);
  CHECK(value.server.get(value.key) == bytes);
}
