#include "redlock/endpoint.hpp"

#include <ios>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace {

using redlock::Endpoint;
using Transport = Endpoint::Transport;
using namespace std::string_literals;

void check_survives_round_trip(const Endpoint& endpoint) {
  const Endpoint again{endpoint.to_string()};
  CAPTURE(endpoint.to_string());
  CHECK(again.transport() == endpoint.transport());
  CHECK(again.host() == endpoint.host());
  CHECK(again.port() == endpoint.port());
  CHECK(again.path() == endpoint.path());
  CHECK(again.db() == endpoint.db());
  CHECK(again.user().empty());
  CHECK(again.password().empty());
  CHECK(again.to_string() == endpoint.to_string());
}

}  // namespace

TEST_CASE("every_documented_form_of_a_tcp_address_is_parsed") {
  struct Row {
    std::string text;
    Transport transport;
    std::string host;
    unsigned port;
    unsigned db;
    std::string full_form;
  };
  const auto tcp = Transport::tcp;
  const std::vector<Row> rows{
      {"localhost", tcp, "localhost", 6379, 0, "redis://localhost:6379"},
      {"10.0.0.7:7000", tcp, "10.0.0.7", 7000, 0, "redis://10.0.0.7:7000"},
      {"my-node_1.example.", tcp, "my-node_1.example.", 6379, 0, "redis://my-node_1.example.:6379"},
      {"[::1]", tcp, "::1", 6379, 0, "redis://[::1]:6379"},
      {"[2001:db8::7]:1", tcp, "2001:db8::7", 1, 0, "redis://[2001:db8::7]:1"},
      {"[::ffff:10.0.0.7]", tcp, "::ffff:10.0.0.7", 6379, 0, "redis://[::ffff:10.0.0.7]:6379"},
      {"[fe80::1%25eth0]:6380", tcp, "fe80::1%eth0", 6380, 0, "redis://[fe80::1%25eth0]:6380"},
      {"redis://h", tcp, "h", 6379, 0, "redis://h:6379"},
      {"redis://h:65535", tcp, "h", 65535, 0, "redis://h:65535"},
      {"redis://h/2", tcp, "h", 6379, 2, "redis://h:6379/2"},
      {"redis://h:7/0", tcp, "h", 7, 0, "redis://h:7"},
      {"redis://[::1]:7/2147483647", tcp, "::1", 7, 2147483647, "redis://[::1]:7/2147483647"},
      {"redis://%6c%6F", tcp, "lo", 6379, 0, "redis://lo:6379"},
      {"redis://b\xc3\xbc.example", tcp, "b\xc3\xbc.example", 6379, 0, "redis://b%C3%BC.example:6379"},
      {"rediss://h:7/1", Transport::tls, "h", 7, 1, "rediss://h:7/1"},
      {"rediss://[::1]", Transport::tls, "::1", 6379, 0, "rediss://[::1]:6379"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const Endpoint endpoint{row.text};
    CHECK(endpoint.transport() == row.transport);
    CHECK(endpoint.host() == row.host);
    CHECK(endpoint.port() == row.port);
    CHECK(endpoint.db() == row.db);
    CHECK(endpoint.path().empty());
    CHECK(endpoint.user().empty());
    CHECK(endpoint.password().empty());
    CHECK(endpoint.to_string() == row.full_form);
    check_survives_round_trip(endpoint);
  }
}

TEST_CASE("every_documented_form_of_a_unix_socket_is_parsed") {
  struct Row {
    std::string text;
    std::string path;
    unsigned db;
    std::string full_form;
  };
  const std::string longest = "/" + std::string(106, 'x');
  const std::vector<Row> rows{
      {"unix:///run/redis.sock", "/run/redis.sock", 0, "unix:///run/redis.sock"},
      {"unix:///r?db=3", "/r", 3, "unix:///r?db=3"},
      {"unix:///r?db=0", "/r", 0, "unix:///r"},
      {"unix:///a%20b%3Fc%23d%25e", "/a b?c#d%e", 0, "unix:///a%20b%3Fc%23d%25e"},
      {"unix:///tmp/me@home:1/s", "/tmp/me@home:1/s", 0, "unix:///tmp/me%40home%3A1/s"},
      {"unix://" + longest, longest, 0, "unix://" + longest},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const Endpoint endpoint{row.text};
    CHECK(endpoint.transport() == Transport::unix_socket);
    CHECK(endpoint.host().empty());
    CHECK(endpoint.port() == 0);
    CHECK(endpoint.path() == row.path);
    CHECK(endpoint.db() == row.db);
    CHECK(endpoint.to_string() == row.full_form);
    check_survives_round_trip(endpoint);
  }
}

TEST_CASE("credentials_are_decoded_and_split_at_the_first_colon_and_the_last_at_sign") {
  struct Row {
    std::string text;
    std::string user;
    std::string password;
  };
  const std::vector<Row> rows{
      {"redis://ann:secret@h", "ann", "secret"},
      {"redis://:secret@h", "", "secret"},
      {"redis://ann:@h", "ann", ""},
      {"redis://ann:se:cret@h", "ann", "se:cret"},
      {"redis://ann:se@cret@h", "ann", "se@cret"},
      {"redis://:@@h", "", "@"},
      {"redis://a%3An:%40%2F%3f%23%25+%00%20@h", "a:n", "@/?#%+\0 "s},
      {"rediss://ann:secret@h", "ann", "secret"},
      {"unix://ann:se@cret@/r", "ann", "se@cret"},
      {"unix://:se%2Fcret@/r@s", "", "se/cret"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const Endpoint endpoint{row.text};
    CHECK(endpoint.user() == row.user);
    CHECK(endpoint.password() == row.password);
    check_survives_round_trip(endpoint);
  }
}

TEST_CASE("endpoints_convert_implicitly_from_strings") {
  const std::vector<Endpoint> nodes{"a:1", std::string{"b:2"}, std::string_view{"c:3"}};
  CHECK(nodes[0] == Endpoint{"redis://a:1"});
  CHECK(nodes[1] == Endpoint{"redis://b:2/0"});
  CHECK(nodes[2] == Endpoint{"redis://c:3"});
}

TEST_CASE("endpoints_that_differ_in_any_part_are_unequal") {
  const Endpoint plain{"redis://h:1"};
  for (const auto* const other : {"redis://i:1", "redis://h:2", "redis://h:1/1", "rediss://h:1", "unix:///h",
                                  "redis://u:@h:1", "redis://:p@h:1"}) {
    CAPTURE(other);
    CHECK_FALSE(plain == Endpoint{other});
  }
}

TEST_CASE("a_streamed_endpoint_has_no_credentials_and_ignores_the_format_of_the_stream") {
  std::ostringstream out;
  out << std::hex << std::showbase << Endpoint{"redis://ann:secret@h:7000/12"};
  CHECK(out.str() == "redis://h:7000/12");
}
