// The configuration that the environment names.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "redlock/options.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::Configuration;
using redlock::Endpoint;
using redlock::Options;
using redlock::RestartGuard;
using redlock::testing::contains;
using redlock::testing::exception_message;
using redlock::testing::TempFolder;
using Variables = std::map<std::string, std::string>;

Configuration configuration(const Variables& variables, Options options = {}) {
  return Configuration::from_environment(std::move(options), [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
}
std::string refusal(const Variables& variables) {
  return exception_message([&] { static_cast<void>(configuration(variables)); });
}

const std::vector<Endpoint> two_nodes{"10.0.0.1", "10.0.0.2"};

}  // namespace

TEST_CASE("variables_replace_the_options_that_they_name") {
  const Configuration all = configuration({{"REDLOCK_NODES", " 10.0.0.1, 10.0.0.2\n"},
                                           {"REDLOCK_RESTART_GUARD", "strict"},
                                           {"REDLOCK_DURABLE_NODES", "1"},
                                           {"REDLOCK_MAX_TTL", "5m"},
                                           {"REDLOCK_KEY_PREFIX", " app: "}},
                                          {.connect_timeout = 7s});
  CHECK(all.nodes == two_nodes);
  CHECK(all.options.restart_guard == RestartGuard::strict);
  CHECK(all.options.durable_nodes);
  CHECK(all.options.max_ttl == redlock::Duration{5min});
  CHECK(all.options.key_prefix == " app: ");
  CHECK(all.options.connect_timeout == redlock::Duration{7s});

  const Options given{
      .restart_guard = RestartGuard::off, .durable_nodes = true, .max_ttl = 9s, .key_prefix = "p"};
  for (const Variables& nothing :
       {Variables{},
        Variables{{"REDLOCK_MAX_TTL", " "}, {"REDLOCK_NODES", ""}, {"REDLOCK_KEY_PREFIX", ""}}}) {
    const Configuration none = configuration(nothing, given);
    CHECK(none.options.restart_guard == RestartGuard::off);
    CHECK(none.options.durable_nodes);
    CHECK(none.options.max_ttl == redlock::Duration{9s});
    CHECK(none.options.key_prefix == "p");
  }
  CHECK_FALSE(configuration({{"REDLOCK_DURABLE_NODES", "0"}}, given).options.durable_nodes);
}

TEST_CASE("the_environment_says_how_connections_are_secured") {
  const Options given{.tls = {.ca_file = "own", .ciphers = "c"}};
  CHECK(configuration({}, given).options.tls == given.tls);
  const redlock::TlsOptions tls = configuration({{"REDLOCK_TLS_CACERT", "a"},
                                                 {"REDLOCK_TLS_CACERTDIR", "b"},
                                                 {"REDLOCK_TLS_CERT", "c"},
                                                 {"REDLOCK_TLS_KEY", "d"},
                                                 {"REDLOCK_TLS_SERVER_NAME", "e"},
                                                 {"REDLOCK_TLS_MIN_VERSION", " 1.3"},
                                                 {"REDLOCK_TLS_CIPHERSUITES", "f"},
                                                 {"REDLOCK_TLS_INSECURE_SKIP_VERIFY", "1"}},
                                                given)
                                      .options.tls;
  CHECK(tls == redlock::TlsOptions{.ca_file = "a",
                                   .ca_path = "b",
                                   .cert_file = "c",
                                   .key_file = "d",
                                   .server_name = "e",
                                   .min_version = redlock::TlsVersion::tls_1_3,
                                   .ciphers = "c",
                                   .ciphersuites = "f",
                                   .insecure_skip_verify = true});
  CHECK(configuration({{"REDLOCK_TLS_CIPHERS", "d"}}, given).options.tls.ciphers == "d");
  CHECK(configuration({{"REDLOCK_TLS_MIN_VERSION", "1.2"}}, {.tls = tls}).options.tls.min_version ==
        redlock::TlsVersion::tls_1_2);
  // A blank name is none: the certificate must be for the host.
  CHECK(configuration({{"REDLOCK_TLS_SERVER_NAME", " "}}, given).options.tls.server_name.empty());
}

TEST_CASE("a_bad_variable_is_refused_with_its_name_and_what_is_allowed") {
  CHECK_THAT(refusal({{"REDLOCK_TLS_INSECURE_SKIP_VERIFY", "yes"}}),
             contains("REDLOCK_TLS_INSECURE_SKIP_VERIFY is yes; allowed: 1, 0"));
  CHECK_THAT(refusal({{"REDLOCK_TLS_MIN_VERSION", "1.1"}}),
             contains("REDLOCK_TLS_MIN_VERSION is 1.1; allowed: 1.2, 1.3"));
  CHECK_THAT(refusal({{"REDLOCK_RESTART_GUARD", "on"}}),
             contains("REDLOCK_RESTART_GUARD is on; allowed: automatic, strict, off"));
  CHECK_THAT(refusal({{"REDLOCK_DURABLE_NODES", "yes"}}),
             contains("REDLOCK_DURABLE_NODES is yes; allowed: 1, 0"));
  CHECK_THAT(refusal({{"REDLOCK_MAX_TTL", "long"}}),
             contains("REDLOCK_MAX_TTL: 'long' is not a time; allowed: "));
  CHECK_THAT(refusal({{"REDLOCK_NODES", "10.0.0.1,http://h"}}),
             contains("REDLOCK_NODES: entry 2 of the list: endpoint: the scheme must be"));
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", "/nowhere/nodes"}}),
             contains("there is no file /nowhere/nodes"));
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", "/nowhere/\x1b[31m"}}),
             contains("there is no file /nowhere/\\x1b[31m"));
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", "/"}}), contains("cannot read the nodes: /"));
  const TempFolder folder;
  const std::string file = folder.write("nodes", "# redis://10.0.0.1\n\n");
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", file}}), contains("the file " + file + " names no node"));
}

TEST_CASE("the_list_of_nodes_may_stand_in_a_file") {
  const TempFolder folder;
  const std::string file = folder.write("nodes", "# two\n10.0.0.1\n10.0.0.2\n");
  CHECK(configuration({{"REDLOCK_NODES_FILE", file}}).nodes == two_nodes);
  CHECK(configuration({{"REDLOCK_NODES_FILE", file}, {"REDLOCK_NODES", "h"}}).nodes ==
        std::vector<Endpoint>{"h"});
  folder.write(".config/redlock/nodes", "10.0.0.1,10.0.0.2");
  const std::string home = folder.path().string();
  const TempFolder empty;
  empty.write(".config/redlock/nodes", "# none");
  CHECK(configuration({{"HOME", empty.path().string()}}).nodes.empty());
  CHECK(configuration({{"HOME", home}}).nodes == two_nodes);
  CHECK(configuration({{"HOME", home}, {"REDLOCK_NODES_FILE", folder.write("other", "h")}}).nodes ==
        std::vector<Endpoint>{"h"});
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", folder.write("bad", "h\n\n[::1")}}),
             contains("/bad: entry 2 of the list: "));
  CHECK_THAT(refusal({{"REDLOCK_NODES_FILE", folder.write("huge", std::string(65537, '\n'))}}),
             contains("more than 64 KiB"));
}

namespace {

/// The rights of a user without privileges, if the tests have more.
class Unprivileged {
 public:
  Unprivileged() { REQUIRE((user_ != 0 || ::seteuid(nobody) == 0)); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() { static_cast<void>(::seteuid(user_)); }

 private:
  static constexpr uid_t nobody = 65534;
  const uid_t user_ = ::geteuid();
};

}  // namespace

TEST_CASE("a_usual_file_of_nodes_that_may_not_be_read_is_refused_and_one_that_may_not_be_seen_is_left_out") {
  using std::filesystem::perms;
  constexpr perms seen_by_all = perms::owner_all | perms::group_exec | perms::others_exec;
  const TempFolder home;
  const std::string file = home.write(".config/redlock/nodes", "10.0.0.1");
  const std::string folder = home.path() / ".config";
  std::filesystem::permissions(home.path(), seen_by_all);
  std::filesystem::permissions(folder, seen_by_all);
  std::filesystem::permissions(folder + "/redlock", seen_by_all);
  std::filesystem::permissions(file, perms::none);
  const Variables variables{{"HOME", home.path().string()}};
  std::string refused;
  {
    const Unprivileged rights;
    refused = refusal(variables);
  }
  CHECK_THAT(refused, contains("cannot read the nodes: " + file + ": Permission denied"));
  std::filesystem::permissions(folder, perms::none);
  bool is_left_out = false;
  {
    const Unprivileged rights;
    is_left_out = configuration(variables).nodes.empty();
  }
  std::filesystem::permissions(folder, perms::owner_all);
  CHECK(is_left_out);
}

TEST_CASE("a_file_with_a_password_that_everybody_may_read_is_refused") {
  using std::filesystem::perms;
  const TempFolder folder;
  const std::string file = folder.write("nodes", "redis://:secret@10.0.0.1");
  std::filesystem::permissions(file, perms::owner_read | perms::group_read | perms::others_read);
  const std::string message = refusal({{"REDLOCK_NODES_FILE", file}});
  CHECK_THAT(message, contains("every user may read it; run: chmod o-r " + file));
  CHECK(message.find("secret") == std::string::npos);
  std::filesystem::permissions(file, perms::owner_read | perms::group_read);
  CHECK(configuration({{"REDLOCK_NODES_FILE", file}}).nodes.front().password() == "secret");
}
