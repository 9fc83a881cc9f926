// The blocks of docs/security.md do what the page says. Those about TLS are in tests/tool/tls, those about passwords in
// password_file_test.cpp.
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/raw_client.hpp"
#include "support/project_file.hpp"
#include "tool/program.hpp"
#include "tool/secrets/page_blocks.hpp"

using namespace redlock::testing;

TEST_CASE("all_blocks_of_the_page_about_security_are_run_by_tests") {
  std::map<std::string, std::size_t> counts;
  for (const auto& [section, blocks] : blocks_of("docs/security.md")) counts[section] = blocks.size();
  // A block that is added here needs a test that runs it.
  CHECK(counts ==
        std::map<std::string, std::size_t>{
            {"Servers", 4}, {"Clients", 2}, {"Passwords", 3}, {"Rights", 1}, {"Hardened servers", 2}});
}

TEST_CASE("the_page_prints_the_line_of_a_user_who_can_use_its_own_locks_only") {
  const std::string command = blocks_of("docs/security.md").at("Rights").at(0);
  const std::string path = "PATH=" + std::filesystem::path{REDLOCK_TOOL}.parent_path().string() + ":$PATH\n";
  const std::string line = Program{{"sh", "-ec", path + command}}.wait().output;
  const LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  REQUIRE(server.command(words_of(replaced(line, ">PASSWORD", ">secret"))) == "OK");
  const std::string url = "redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(0));
  const auto run = [&](const std::string& prefix) {
    return run_tool({"run", "--node", url, "--key-prefix", prefix, "r", "--", "true"}).code;
  };
  CHECK(run("app:") == 0);
  CHECK(run("other:") == 64);
  CHECK(server.command({"AUTH", "app", "secret"}) == "OK");
  for (const std::vector<std::string>& refused :
       {std::vector<std::string>{"FLUSHALL"}, {"CONFIG", "GET", "*"}, {"KEYS", "*"}, {"GET", "other:r"}})
    CHECK_THAT(server.command(refused), contains("-NOPERM"));
}

TEST_CASE("redlock_acl_knows_the_features_of_the_page") {
  const std::string page = read_project_file("docs/security.md");
  const std::size_t table = page.find("\n| `--for` |");
  REQUIRE(table != std::string::npos);
  const std::string rows = page.substr(table, page.find("\n\n", table + 1) - table);
  const std::regex row{R"(\n\| `(\w+)` \|)"};
  int features = 0;
  for (std::sregex_iterator at{rows.begin(), rows.end(), row}, end; at != end; ++at, ++features) {
    CAPTURE((*at)[1].str());
    CHECK(run_tool({"acl", "--for", (*at)[1]}).code == 0);
  }
  CHECK(features == 6);
}
