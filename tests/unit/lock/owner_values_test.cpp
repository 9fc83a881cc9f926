#include "redlock/core/lock/owner_values.hpp"

#include <chrono>
#include <set>
#include <string>

#include "redlock/core/wire/keys.hpp"
#include "support/catch.hpp"

using redlock::core::OwnerValues;
using namespace std::chrono_literals;

namespace {

const std::string beginning = "01234567";
const std::string end = "0123456789abcdef01234567";

/// The digits of the next attempt's owner value.
std::string next_digits(OwnerValues& values) { return values.next(0s).substr(0, 40); }

}  // namespace

TEST_CASE("the_first_owner_value_is_the_drawn_one_with_label_and_time") {
  OwnerValues values{beginning + "12345678" + end, "web3:4711 backup"};
  CHECK(values.next(1795442531999999us) == beginning + "12345678" + end + " web3:4711 backup @1795442531");
  CHECK(values.next(1795442532s) == beginning + "12345679" + end + " web3:4711 backup @1795442532");
}

TEST_CASE("the_owner_value_of_a_leader_ends_with_a_mark") {
  OwnerValues values{beginning + "12345678" + end, "web3 @7"};
  values.mark_leader();
  CHECK(values.next(1795442531s) == beginning + "12345678" + end + " web3 @7 @1795442531 leader");
  CHECK(values.next(1795442532s) == beginning + "12345679" + end + " web3 @7 @1795442532 leader");
}

TEST_CASE("each_attempt_adds_one_to_the_last_eight_digits_of_the_id_and_to_no_other") {
  const auto [drawn, second, third] = GENERATE(table<std::string, std::string, std::string>({
      {"00000000", "00000001", "00000002"},
      {"00000008", "00000009", "0000000a"},
      {"0000000f", "00000010", "00000011"},
      {"99ffffff", "9a000000", "9a000001"},
      {"ffffffff", "00000000", "00000001"},
  }));
  OwnerValues values{beginning + drawn + end, "7 @f"};
  CHECK(next_digits(values) == beginning + drawn + end);
  CHECK(next_digits(values) == beginning + second + end);
  CHECK(next_digits(values) == beginning + third + end);
}

TEST_CASE("no_two_attempts_of_a_call_have_the_same_id") {
  OwnerValues values{beginning + "fffffe0c" + end, ""};
  std::set<std::string> ids;
  for (int attempt = 0; attempt < 1000; ++attempt) ids.emplace(redlock::core::holder_id(values.next(0s)));
  CHECK(ids.size() == 1000);
  CHECK(ids.begin()->size() == redlock::core::id_size);
}
