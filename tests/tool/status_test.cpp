// redlock status: who holds a lock.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

/// Allows long ttls.
const redlock::Options unguarded{.restart_guard = redlock::RestartGuard::off};

}  // namespace

TEST_CASE("status_prints_a_row_per_node_and_a_sentence") {
  LocalNodes nodes{3};
  const redlock::Lease lease =
      redlock::Redlock{endpoints(nodes), unguarded}.lock("r", {.ttl = 1h, .label = "web3:4711\n"}).value();
  REQUIRE(eventually([&] { return Observers{nodes}.holding("r", lease.owner_value()) == 3; }));
  nodes.kill(2);
  const Program::Ending ending = run_tool({"status", "--restart-guard", "off", "r"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(ending.output.starts_with("NODE "));
  for (int node = 0; node < 2; ++node)
    CHECK(ending.output.find(nodes.url(node) + "  held         " + lease.owner_value().substr(0, 8) +
                             " web3:4711\\x0a  59 min ") != std::string::npos);
  CHECK(ending.output.find("  " + std::to_string(lease.fencing_token().value()) + "\n") != std::string::npos);
  CHECK(ending.output.find(nodes.url(2) + "  unreachable  -") != std::string::npos);
  CHECK(ending.output.find("Connection refused\n") != std::string::npos);
  CHECK(ending.output.find(" UTC, for 59 min ") != std::string::npos);
  CHECK(ending.output.find("\nr is held by web3:4711\\x0a since 2") != std::string::npos);
}

TEST_CASE("status_changes_nothing_and_reports_a_free_lock") {
  LocalNodes nodes{3};
  const Program::Ending ending = run_tool({"status", "r"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(ending.output.ends_with("\nNobody holds r.\n"));
  CHECK(Observers{nodes}.empty() == 3);
}

TEST_CASE("status_without_a_majority_says_so_and_exits_with_69") {
  LocalNodes nodes{3};
  nodes.kill(0);
  nodes.kill(1);
  const Program::Ending ending = run_tool({"status", "r"}, nodes.urls());
  CHECK(ending.code == 69);
  CHECK(ending.output.ends_with("\nCannot tell who holds r: only 1 of 3 nodes voted.\n"));
}

TEST_CASE("status_as_json_has_the_same_content") {
  LocalNodes nodes{3};
  const redlock::Lease lease =
      redlock::Redlock{endpoints(nodes), unguarded}.lock("r", {.ttl = 1h, .label = "web3:4711\n"}).value();
  REQUIRE(eventually([&] { return Observers{nodes}.holding("r", lease.owner_value()) == 3; }));
  nodes.kill(2);
  const auto json = nlohmann::json::parse(
      run_tool({"status", "--restart-guard", "off", "--json", "r"}, nodes.urls()).output);
  CHECK(json["resource"] == "r");
  CHECK(json["state"] == "held");
  CHECK(json["owner"] == lease.owner_value());
  CHECK(json["label"] == "web3:4711\n");
  CHECK(std::to_string(json["since"].get<long>()) ==
        lease.owner_value().substr(lease.owner_value().rfind('@') + 1));
  CHECK(json["ttl_ms"].get<long>() > 3'500'000);
  CHECK(json["token"] == lease.fencing_token().value());
  REQUIRE(json["nodes"].size() == 3);
  CHECK(json["nodes"][0]["node"] == nodes.url(0));
  CHECK(json["nodes"][0]["state"] == "held");
  CHECK(json["nodes"][0]["owner"] == lease.owner_value());
  CHECK(json["nodes"][0]["label"] == "web3:4711\n");
  CHECK(json["nodes"][0]["counter"] == lease.fencing_token().value());
  CHECK(json["nodes"][2]["state"] == "unreachable");
  CHECK(json["nodes"][2]["message"] == "Connection refused");
  CHECK_FALSE(json["nodes"][2].contains("owner"));
}

TEST_CASE("status_as_json_has_the_token_of_the_majority_if_the_lock_has_one") {
  LocalNodes nodes{3};
  for (int node = 0; node < 3; ++node) {
    RawClient redis{nodes.port(node)};
    for (const char* resource : {"fenced", "plain"})
      redis.command({"SET", resource, "owner", "PX", "3600000"});
    redis.command({"SET", "redlock:f:{fenced}", node == 0 ? "99" : "41"});
    redis.command({"SET", "redlock:f:{free}", "41"});
  }
  const auto status = [&](const char* resource) {
    return nlohmann::json::parse(run_tool({"status", "--json", resource}, nodes.urls()).output);
  };
  CHECK(status("fenced")["token"] == 41);
  CHECK(status("plain")["state"] == "held");
  CHECK_FALSE(status("plain").contains("token"));
  CHECK(status("free")["state"] == "free");
  CHECK_FALSE(status("free").contains("token"));
}

TEST_CASE("control_bytes_of_an_owner_value_never_reach_the_terminal") {
  LocalNodes nodes{1};
  REQUIRE(RawClient{nodes.port(0)}.command({"SET", "r", "\x1b[2J\n\xff", "PX", "60000"}) == "OK");
  const Program::Ending table = run_tool({"status", "r"}, nodes.urls());
  CHECK(table.code == 0);
  CHECK(table.output.find("\\x1b[2J\\x0a") != std::string::npos);
  const auto json = nlohmann::json::parse(run_tool({"status", "--json", "r"}, nodes.urls()).output);
  CHECK(json["owner"] == "\x1b[2J\n\xef\xbf\xbd");
}

TEST_CASE("status_names_the_command_that_runs_under_the_lock_or_what_it_calls_itself") {
  LocalNodes nodes{1};
  Program unnamed{tool({"run", "one", "--", "/bin/sleep", "60"}), {nodes_variable(nodes.urls())}};
  Program named{tool({"run", "--label", "the nightly one", "two", "--", "sleep", "60"}),
                {nodes_variable(nodes.urls())}};
  const auto says = [&](const std::string& resource, const std::string& text) {
    return eventually([&] {
      return run_tool({"status", resource}, nodes.urls()).output.find(text) != std::string::npos;
    });
  };
  CHECK(says("one", ":" + std::to_string(unnamed.id()) + " sleep since 2"));
  CHECK(says("two", "two is held by the nightly one since 2"));
}

TEST_CASE("status_and_list_and_release_show_a_lock_that_is_kept_after_its_release_as_held_by_nobody") {
  LocalNodes nodes{1};
  RawClient{nodes.port(0)}.command({"SET", "r", "redlock:kept", "PX", "3590000"});
  const auto show = [&](const std::vector<std::string>& arguments) {
    return run_tool(arguments, nodes.urls());
  };
  const Program::Ending text = show({"status", "r"});
  CHECK(text.code == 0);
  CHECK_THAT(text.output, contains("  kept   -       59 min "));
  CHECK_THAT(text.output, contains("\nNobody holds r: it is kept by at_least, free in 59 min "));
  const auto json = nlohmann::json::parse(show({"status", "--json", "r"}).output);
  CHECK(json["state"] == "kept");
  CHECK_FALSE(json.contains("owner"));
  CHECK(json["ttl_ms"].get<long>() > 3'000'000);
  CHECK(json["nodes"][0]["state"] == "kept");
  CHECK_FALSE(json["nodes"][0].contains("owner"));
  CHECK_THAT(show({"list"}).output,
             contains("r         exclusive  nobody, kept by at_least  -            59 min "));
  const auto listed = nlohmann::json::parse(show({"list", "--json"}).output);
  CHECK(listed["state"] == "kept");
  CHECK_FALSE(listed.contains("owner"));
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--yes"}, {"--owner", "redlock:kept"}}) {
    std::vector<std::string> words{"release", "--force", "r"};
    words.insert(words.end(), how.begin(), how.end());
    const Program::Ending refused = show(words);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.errors,
               contains("nothing to release: Nobody holds r: it is kept by at_least, free in"));
  }
  CHECK(RawClient{nodes.port(0)}.command({"GET", "r"}) == "redlock:kept");
}
