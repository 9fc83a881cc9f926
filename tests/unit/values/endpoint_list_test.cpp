// Lists of endpoints, and endpoints that are made from parts.
#include <list>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"

using namespace std::string_literals;
using redlock::Endpoint;
using redlock::testing::contains;
using redlock::testing::exception_message;

TEST_CASE("commas_and_line_ends_separate_the_entries_of_a_list") {
  const std::vector<Endpoint> three{"redis://10.0.0.1", "10.0.0.2:7000", "unix:///run/redis.sock"};
  for (const char* const text : {"redis://10.0.0.1,10.0.0.2:7000,unix:///run/redis.sock",
                                 " redis://10.0.0.1 ,\t10.0.0.2:7000\r\n\n unix:///run/redis.sock,,\n",
                                 "# production, with a comma\nredis://10.0.0.1\n10.0.0.2:7000\n  # the "
                                 "third\nunix:///run/redis.sock"}) {
    CAPTURE(text);
    CHECK(Endpoint::list(text) == three);
  }
  for (const char* const text : {"", " ", ",", "\n", "# nothing"}) CHECK(Endpoint::list(text).empty());
  CHECK(Endpoint::list("redis://:a%2Cb@h").front().password() == "a,b");
}

TEST_CASE("the_error_of_a_list_says_which_entry_is_wrong_and_shows_no_password") {
  const std::string message = exception_message(
      [] { static_cast<void>(Endpoint::list("# nodes\nredis://10.0.0.1,,redis://:secret@10.0.0.2:0")); });
  CHECK(message.find("entry 2 of the list: endpoint: the port must be a number from 1 to 65535") !=
        std::string::npos);
  CHECK(message.find("secret") == std::string::npos);
}

TEST_CASE("a_client_takes_any_range_of_texts_and_names_the_entry_that_is_wrong") {
  const std::string message = exception_message([] {
    const std::list<std::string> nodes{"10.0.0.1", "redis://:secret@10.0.0.2:0"};
    const redlock::Redlock locks{nodes};
  });
  CHECK_THAT(message, contains("entry 2 of the list: endpoint: the port must be a number from 1 to 65535"));
  CHECK(message.find("secret") == std::string::npos);
  const char* const nodes[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  CHECK_NOTHROW(redlock::Redlock{nodes});
  CHECK_NOTHROW(redlock::Redlock{std::vector<std::string>{"10.0.0.1"}});
}

TEST_CASE("the_parts_of_an_endpoint_are_taken_as_they_are") {
  const Endpoint tcp{
      Endpoint::Fields{.host = "10.0.0.1", .user = "me", .password = "p%40@:/?#\0 x"s, .db = 3}};
  CHECK(tcp.to_string() == "redis://10.0.0.1:6379/3");
  CHECK(tcp.user() == "me");
  CHECK(tcp.password() == "p%40@:/?#\0 x"s);
  CHECK(Endpoint{Endpoint::Fields{.host = "fe80::1%eth0", .port = 7}} ==
        Endpoint{"redis://[fe80::1%25eth0]:7"});
  CHECK(Endpoint{Endpoint::Fields{.host = "h", .tls = true}} == Endpoint{"rediss://h"});
  const redlock::TlsOptions options{.ca_file = "f"};
  const Endpoint::Fields fields{.host = "h", .tls = true, .tls_options = options};
  CHECK(Endpoint{fields} == Endpoint{"rediss://h"}.with(options));
  CHECK(Endpoint{fields}.tls_options() == options);
  CHECK(Endpoint{fields} != Endpoint{"rediss://h"});
  CHECK(Endpoint{Endpoint::Fields{.path = "/run/a b", .db = 1}} == Endpoint{"unix:///run/a%20b?db=1"});
}

TEST_CASE("the_parameters_of_a_url_replace_tls_options_of_the_client") {
  using redlock::TlsOptions;
  using redlock::TlsVersion;
  const TlsOptions client{.ca_file = "a",
                          .ca_path = "b",
                          .cert_file = "c",
                          .key_file = "d",
                          .server_name = "e",
                          .min_version = TlsVersion::tls_1_3,
                          .ciphers = "f",
                          .ciphersuites = "g",
                          .insecure_skip_verify = true};
  TlsOptions expected = client;
  CHECK(Endpoint{"rediss://h"}.tls_options(client) == expected);
  expected.server_name = "redis-1";
  const Endpoint named{"rediss://user:p@h:7/2?server-name=redis-1"};
  CHECK(named.tls_options(client) == expected);
  CHECK_FALSE(named.tls_options());
  CHECK(named.to_string() == "rediss://h:7/2");
  CHECK(named.password() == "p");
  CHECK(named != Endpoint{"rediss://user:p@h:7/2"});

  // A CA file and a CA folder replace both.
  expected = client;
  expected.ca_file = "";
  expected.ca_path = "/etc/c a";
  CHECK(Endpoint{"rediss://[::1]?cacertdir=/etc/c%20a"}.tls_options(client) == expected);
  CHECK(Endpoint{"rediss://h?cacert=1&cacertdir=2&cert=3&key=4&server-name=5&min-version=1.2&ciphers=6%267&"
                 "ciphersuites=8=9&insecure-skip-verify=0"}
            .tls_options(client) == TlsOptions{.ca_file = "1",
                                               .ca_path = "2",
                                               .cert_file = "3",
                                               .key_file = "4",
                                               .server_name = "5",
                                               .ciphers = "6&7",
                                               .ciphersuites = "8=9"});
  // Credentials that change keep them, other options of its own do not.
  CHECK(named.with(redlock::Credentials{"x", "y"}).tls_options(client).server_name == "redis-1");
  CHECK(named.with(client).tls_options({}) == client);
}

TEST_CASE("parts_that_make_no_endpoint_are_refused") {
  const auto refusal = [](Endpoint::Fields fields) {
    return exception_message([&] { const Endpoint refused{std::move(fields)}; });
  };
  CHECK_THAT(refusal({}), contains("the host is missing"));
  CHECK_THAT(refusal({.host = "a b"}), contains("a host must consist of"));
  CHECK_THAT(refusal({.host = "10.0.0.1:6379"}),
             contains("an IPv6 address without brackets; give the port separately"));
  CHECK_THAT(refusal({.host = "[::1]"}), contains("an IPv6 address without brackets"));
  CHECK_THAT(refusal({.host = "h", .port = 0}), contains("the port must be a number from 1 to 65535"));
  CHECK_THAT(refusal({.host = "h", .db = 1U << 31U}), contains("the db must be a number from 0 to"));
  CHECK_THAT(refusal({.path = "run/redis.sock"}), contains("must be absolute"));
  CHECK_THAT(refusal({.path = "/"}), contains("path of the unix socket is empty"));
  CHECK_THAT(refusal({.path = std::string(200, '/')}), contains("200 bytes"));
  CHECK_THAT(refusal({.path = "/a\0b"s}), contains("zero byte"));
  CHECK_THAT(refusal({.host = "h", .path = "/run"}), contains("neither a host nor TLS"));
  CHECK_THAT(refusal({.path = "/run", .tls = true}), contains("neither a host nor TLS"));
}
