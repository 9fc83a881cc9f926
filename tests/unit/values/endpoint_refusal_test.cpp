#include "redlock/endpoint.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.hpp"
#include "support/catch.hpp"

namespace {

using redlock::Endpoint;
using namespace std::string_literals;

// The reason why the text is refused; empty if it is accepted.
std::string refusal(const std::string& text) {
  try {
    const Endpoint accepted{text};
  } catch (const redlock::Error& error) {
    CHECK(error.code() == redlock::Errc::invalid_argument);
    return error.what();
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("malformed_text_is_refused_with_the_matching_reason") {
  struct Row {
    std::string text;
    std::string reason;
  };
  const std::string scheme = "scheme must be redis://, rediss:// or unix://";
  const std::string escape = "'%' must be followed by two hex digits";
  const std::string port = "port must be a number from 1 to 65535";
  const std::string no_host = "host is missing";
  const std::string host = "host must consist of letters";
  const std::string db = "db must be a number from 0 to 2147483647";
  const std::string ipv6 = "text in brackets must be an IPv6 address";
  const std::string raw = "must be percent-encoded";
  const std::string login = "write user:password or :password";
  const std::string no_path = "path of the unix socket is empty";
  const std::string parameter = "only parameter of unix:// is ?db=n";
  const std::vector<Row> rows{
      {"", "text is empty"},
      {"http://h", scheme},
      {"REDIS://h", scheme},
      {"://h", scheme},
      {"redis://%", escape},
      {"redis://h%4", escape},
      {"redis://h%zz", escape},
      {"redis://u:p%+1@h", escape},
      {"unix:///r%0", escape},
      {"h:", port},
      {"h:0", port},
      {"h:65536", port},
      {"h:99999999999999999999", port},
      {"h:-1", port},
      {"h:+1", port},
      {"h:63x", port},
      {"redis://h:/1", port},
      {"[::1]:", port},
      {"redis://", no_host},
      {"redis:///1", no_host},
      {"redis://:7", no_host},
      {":7", no_host},
      {"redis://u:p@", no_host},
      {"redis://u:p@:7", no_host},
      {"redis://h%00", host},
      {"redis://h%20", host},
      {"redis://h%3A7", host},
      {"redis://h%2F", host},
      {"ho[st", host},
      {"h]", host},
      {"redis://h/", db},
      {"redis://h/x", db},
      {"redis://h/1/", db},
      {"redis://h/1x", db},
      {"redis://h/-1", db},
      {"redis://h/2147483648", db},
      {"redis://h/99999999999999999999", db},
      {"unix:///r?db=", db},
      {"unix:///r?db=x", db},
      {"unix:///r?db=2147483648", db},
      {"redis://h?db=1", "write the db as redis://host/db"},
      {"redis://h/1?timeout=3", "takes no parameters"},
      {"redis://h?cacert=/ca", "takes no parameters, only rediss:// does"},
      {"rediss://h?", "there must be parameters behind the '?'"},
      {"rediss://h?db=1", "write the db as rediss://host/db"},
      {"rediss://h?CACERT=/ca", "the parameters of rediss:// are cacert, cacertdir, cert, key, "},
      {"rediss://h?cacert=/ca&", "the parameters of rediss:// are"},
      {"rediss://h?cacert=/ca&&key=k", "the parameters of rediss:// are"},
      {"rediss://h?cacert", "cacert has no value; write cacert=VALUE, or leave it out"},
      {"rediss://h?cacert=", "cacert has no value"},
      {"rediss://h?cacert=/ca&cacert=/ca", "cacert is there twice"},
      {"rediss://h?cacert=%", "two hex digits"},
      {"rediss://h?cacert=%00", "cacert must not have control characters"},
      {"rediss://h?cert=c", "cert and key belong together"},
      {"rediss://h?key=k", "cert and key belong together"},
      {"rediss://h?min-version=1.1", "min-version has another value than those allowed: 1.2, 1.3"},
      {"rediss://h?insecure-skip-verify=yes",
       "insecure-skip-verify has another value than those allowed: 1, 0"},
      {"unix:///r?", parameter},
      {"unix:///r?timeout=3", parameter},
      {"unix:///r?db=1&db=2", parameter},
      {"unix:///r?DB=1", parameter},
      {"::1", "put an IPv6 address in brackets"},
      {"fe80::1:6379", "put an IPv6 address in brackets"},
      {"redis://a:b:c", "put an IPv6 address in brackets"},
      {"[::1", "']' of an IPv6 address is missing"},
      {"[::1]x", "may follow the ']'"},
      {"[::1]6379", "may follow the ']'"},
      {"[]", ipv6},
      {"[localhost]", ipv6},
      {"[127.0.0.1]", ipv6},
      {"[::1::2]", ipv6},
      {"[fe80::1%25]", ipv6},
      {"[::1%00]", ipv6},
      {"[fe80::1%25e%00]", ipv6},
      {" h", raw},
      {"h\n", raw},
      {"h h", raw},
      {"h\0"s, raw},
      {"h\x7f", raw},
      {"redis://u:p p@h", raw},
      {"redis://u:p#p@h", raw},
      {"redis://h#1", raw},
      {"unix:///a b", raw},
      {"redis://ann@h", login},
      {"redis://@h", login},
      {"unix://ann@/r", login},
      {"redis://:@h", "both empty"},
      {"redis://u:p/w@h", "before the '@' as %2F and %3F"},
      {"redis://u:p?w@h", "before the '@' as %2F and %3F"},
      {"unix://u:p?w@/r", "before the '@' as %2F and %3F"},
      {"u:p@h", "needs the full form redis://user:password@host"},
      {"/run/redis.sock", "write a unix socket as unix:///path"},
      {"h/1", "a db needs the full form"},
      {"h?db=1", "a db needs the full form"},
      {"unix://", no_path},
      {"unix:///", no_path},
      {"unix://u:p@", no_path},
      {"unix://?db=1", "path of a unix socket must be absolute"},
      {"unix://run/redis.sock", "path of a unix socket must be absolute"},
      {"unix:///" + std::string(107, 'x'), "has 108 bytes; at most 107 are allowed"},
      {"unix:///r%00s", "contains a zero byte"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text, refusal(row.text));
    // Distinguishes an accepted text, which has no reason, from one that is refused for another reason.
    REQUIRE_FALSE(refusal(row.text).empty());
    CHECK(contains(refusal(row.text), row.reason));
  }
}

TEST_CASE("a_null_pointer_is_refused_like_bad_text") {
  const char* const nothing = nullptr;
  CHECK_THROWS_AS(Endpoint{nothing}, redlock::Error);
}

TEST_CASE("no_message_repeats_a_password_however_malformed_the_text") {
  const std::string secret = "hunter2";
  const std::vector<std::string> texts{
      "redis://user:hunter2%zz@host",
      "redis://user:%zzhunter2@host",
      "reids://u:hunter2@h",
      "redis://u:hunter2@h:99999",
      "redis://u:hunter2@h:x",
      "redis://u:hunter2@",
      "redis://u:hunter2@[::1",
      "redis://u:hunter2@h/x",
      "redis://u:hunter2@h?db=1",
      "redis://u:hunter2/@h",
      "redis://u:/hunter2@h",
      "redis://u:?hunter2@h",
      "redis://u:#hunter2@h",
      "redis://u:hunter2 @h",
      "redis://u:hunter2",
      "redis://hunter2@h",
      "redis://:hunter2",
      "redis:/u:hunter2@h",
      "redis:u:hunter2@h",
      "u:hunter2@host",
      "hunter2@host",
      ":hunter2@host",
      "hunter2://h",
      "u:hunter2://@h",
      "unix://u:hunter2@",
      "unix://u:hunter2@h/r",
      "unix://u:hunter2",
      "unix://u:hunter2@/r?x",
      "unix://hunter2@/r",
      "unix://u:/hunter2@",
      "u:p:hunter2",
      "[u:hunter2",
      "[u:hunter2@h]",
  };
  for (const auto& text : texts) {
    CAPTURE(text);
    REQUIRE_FALSE(refusal(text).empty());
    CHECK_FALSE(contains(refusal(text), secret));
  }
}

TEST_CASE("random_text_never_crashes_and_never_shows_its_password") {
  const std::string secret = "hunter2";
  const std::vector<std::string> pieces{
      "redis://", "rediss://", "unix://", "://", ":",   ":",  "@",    "@",   "/",    "/",    "?",
      "?db=",     "[",         "]",       "::1", "%25", "%2", "%00",  "%zz", "host", "user", "6379",
      "65536",    "0",         "-",       "#",   " ",   "\n", "\xff", "&",   secret, secret,
  };
  constexpr unsigned seed = 20240229;
  std::mt19937 random{seed};
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = below(4) == 0 ? std::string{} : pieces[below(3)];
    for (auto left = below(9); left > 0; --left) {
      text += below(8) == 0 ? std::string(1, static_cast<char>(below(256))) : pieces[below(pieces.size())];
    }
    CAPTURE(seed, round, text);
    try {
      const Endpoint endpoint{text};
      ++accepted;
      const bool shown = contains(endpoint.to_string(), secret);
      REQUIRE(shown == contains(endpoint.host() + "\n" + endpoint.path(), secret));
      REQUIRE(Endpoint{endpoint.to_string()}.to_string() == endpoint.to_string());
    } catch (const redlock::Error& error) {
      ++refused;
      REQUIRE(error.code() == redlock::Errc::invalid_argument);
      REQUIRE_FALSE(contains(error.what(), secret));
    }
  }
  // Both cases occurred often.
  CHECK(accepted > 500);
  CHECK(refused > 5000);
}
