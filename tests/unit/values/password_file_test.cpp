// Passwords in files.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/endpoint.hpp"
#include "redlock/login/credentials.hpp"
#include "redlock/options.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "support/temp_folder.hpp"

using namespace redlock::testing;
using redlock::Configuration;
using redlock::Credentials;
using redlock::Endpoint;
using redlock::password_file;

TEST_CASE("the_last_line_end_of_a_password_file_is_not_part_of_the_password") {
  const TempFolder folder;
  for (const std::string end : {"", "\n", "\r\n"})
    CHECK(password_file(folder.write("password", "open, sesame " + end))("h").password.text() ==
          "open, sesame ");
  CHECK(password_file(folder.write("password", "a\n\n"))("h").password.text() == "a\n");
}

TEST_CASE("the_user_is_that_of_the_endpoint_and_its_password_comes_before_the_file") {
  const TempFolder folder;
  const auto source = password_file(folder.write("password", "in the file"));
  CHECK(source("redis://app:@h") == Credentials{"app", "in the file"});
  CHECK(source("redis://app:own@h") == Credentials{"app", "own"});
}

TEST_CASE("each_node_has_the_password_of_the_file_that_is_named_after_its_host_or_port") {
  const TempFolder folder;
  const std::string at = folder.path().string() + '/';
  folder.write("one", "first");
  folder.write("10.0.0.7", "second");
  folder.write("::1-7000-::1", "third");
  folder.write("{hos}", "all");
  const auto by_host = password_file(at + "{host}");
  CHECK(by_host("redis://app:@one") == Credentials{"app", "first"});
  CHECK(by_host("rediss://10.0.0.7").password == "second");
  CHECK(by_host("redis://:own@two").password == "own");
  CHECK_THAT(exception_message([&] { static_cast<void>(by_host("redis://two")); }),
             contains("/two is missing"));
  CHECK(password_file(at + "{host}-{port}-{host}")("redis://[::1]:7000").password == "third");
  CHECK(password_file(at + "{hos}")("unix:///run/r.sock").password == "all");
  for (const std::string path : {"/a/{host}", "/a/{port}"})
    CHECK_THAT(
        exception_message([&] { static_cast<void>(password_file(path)("unix:///run/r.sock")); }),
        contains("the password file " + path + " cannot be that of unix:///run/r.sock, which has no host"));
}

TEST_CASE("a_variable_names_the_password_file") {
  const TempFolder folder;
  const std::string file = folder.write("password", "in the file\n");
  const Configuration read = Configuration::from_environment({}, [&](std::string_view name) {
    return name == "REDLOCK_PASSWORD_FILE" ? std::optional{file} : std::nullopt;
  });
  CHECK(read.options.credentials("redis://app:@h") == Credentials{"app", "in the file"});
}

TEST_CASE("an_endpoint_takes_over_credentials") {
  const Endpoint changed = Endpoint{"rediss://old:one@h:7000/2"}.with(Credentials{"new", "other"});
  CHECK(changed == Endpoint{"rediss://new:other@h:7000/2"});
  CHECK(changed.with(Credentials{}) == Endpoint{"rediss://h:7000/2"});
}

TEST_CASE("a_password_file_is_refused_if_it_is_empty_missing_unreadable_or_too_long") {
  const TempFolder folder;
  const auto refusal = [](const std::string& path) {
    return exception_message([&] { static_cast<void>(password_file(path)("h")); });
  };
  for (const std::string nothing : {"", "\n", "\r\n"})
    CHECK_THAT(refusal(folder.write("password", nothing)), contains("/password is empty"));
  CHECK_THAT(refusal(folder.path() / "none"), contains("/none is missing"));
  CHECK_THAT(refusal(folder.path()), contains("is not a regular file"));
  CHECK_THAT(refusal(folder.write("long", std::string(65537, 'x'))), contains("more than 64 KiB"));
  if (::geteuid() == 0) return;  // root may read everything
  const std::string secret = folder.write("secret", "x");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  CHECK_THAT(refusal(secret), contains("Permission denied"));
}
