#include "simulation/conformance/words.hpp"

#include <cctype>
#include <string_view>

namespace redlock::simulation {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view keys[key_count] = {"lock",   "redlock:f:{lock}", "other", "redlock:f:{other}",
                                              "a key",  "\0\xff\r\n"sv,     "",      "list",
                                              line_key, alive_key,          born_key};
constexpr std::string_view channels[channel_count] = {
    "redlock:turn:a", "redlock:turn:b", "redlock:turn:0123456789abcdef", "news", "", "\0\xff\r\n"sv};
constexpr std::string_view odd_numbers[] = {"0",
                                            "-1",
                                            "-0",
                                            "+1",
                                            "01",
                                            " 1",
                                            "1 ",
                                            "",
                                            "1.5",
                                            "1e3",
                                            "0x10",
                                            "nan",
                                            "inf",
                                            "number",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "-9223372036854775808",
                                            "9223372036854774",
                                            "-9223372036854776",
                                            "9007199254740990",
                                            "9007199254740991",
                                            "9007199254740992",
                                            "9007199254740993"};

/// Never from 1 to 999 999: a misplaced word may become a ttl, which must not end during the comparison.
std::string small_number(RandomSource& random) {
  const std::int64_t number = random.between(-20, 20);
  return std::to_string(number > 0 ? 1'000'000 + number : number);
}

}  // namespace

std::string key_name(std::size_t number) { return std::string{keys[number]}; }
std::string any_key(RandomSource& random) { return key_name(random.below(key_count)); }

std::string any_value(RandomSource& random) {
  switch (random.below(4)) {
    case 0:
      return random.pick(odd_numbers);
    case 1:
      return small_number(random);
    case 2:
      return any_owner(random);
    default:
      return random.pick(
          {"", "value", "two\r\nlines", "\0zero\0"sv, "\xff\xfe", "OK", "ERR", "true",
           "a long value, which does not fit where short ones are kept, and has more than 44 bytes"});
  }
}

std::string long_life(RandomSource& random) {
  return std::to_string(random.between(1'000'000, 4'000'000'000));
}

std::string any_life(RandomSource& random) {
  return random.one_in(4) ? random.pick(odd_numbers) : long_life(random);
}

std::string any_sorted_key(RandomSource& random) {
  return random.one_in(8) ? any_key(random) : random.pick({line_key, alive_key, "set", "set"});
}

std::string any_member(RandomSource& random) {
  return random.one_in(8) ? any_value(random)
                          : random.pick({"a", "b", "c", "B", "", "0123456789abcdef.web", "\xff\0\r\n"sv});
}

std::string any_score(RandomSource& random) {
  switch (random.below(8)) {
    case 0:
      return random.pick(odd_numbers);
    case 1:
      return random.pick({"-0", "0.1", "-1.5e-7", "1e17", "12345678901234567", "+inf", "-inf", "Infinity",
                          "1e400", "1e-400", "1e-310", "1790000000000000.25", ".5", "1e", "--1"});
    case 2:
      return std::to_string(1'790'000'000'000'000 + random.between(-9, 9));
    default:
      return std::to_string(random.between(-1, 2));
  }
}

std::string any_place(RandomSource& random) {
  return random.one_in(8) ? any_index(random) : std::to_string(random.between(-2, 4));
}

std::string any_bound(RandomSource& random) {
  const std::string bound = random.one_in(3) ? random.pick({"-inf", "+inf", "inf"}) : any_score(random);
  return random.one_in(4) ? "(" + bound : bound;
}

std::string channel_name(std::size_t number) { return std::string{channels[number]}; }
std::string any_channel(RandomSource& random) { return channel_name(random.below(channel_count)); }

std::string any_index(RandomSource& random) {
  return random.one_in(8) ? random.pick(odd_numbers) : std::to_string(random.between(-12, 48));
}

std::string any_owner(RandomSource& random) {
  return random.pick(
      {"0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"});
}

std::string any_proposal(RandomSource& random, std::int64_t now_us) {
  constexpr std::int64_t day_us = 86'400'000'000;
  switch (random.below(5)) {
    case 0:
      return random.pick(odd_numbers);
    case 1:
      return small_number(random);
    case 2:
      return std::to_string(now_us + random.between(-60'000'000, 60'000'000));
    case 3:
      return std::to_string(now_us + random.between(-100, 100) * day_us);
    default:
      return random.pick(
          {"1e15", "8999999999999999", "9000000000000001", "9.5e15", "1e18", "-5", "0.5", "12.75"});
  }
}

std::string any_case(RandomSource& random, std::string word) {
  if (!random.one_in(8)) return word;
  for (char& c : word)
    if (random.one_in(2)) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

}  // namespace redlock::simulation
