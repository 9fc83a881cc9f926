// redlock status: who holds a lock.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
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
  const redlock::Lease lease = redlock::Redlock{endpoints(nodes), unguarded}.lock("r", {.ttl = 1h}).value();
  nodes.kill(2);
  const Program::Ending ending = run_tool({"status", "--restart-guard", "off", "r"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(ending.output.starts_with("NODE "));
  for (int node = 0; node < 2; ++node)
    CHECK(ending.output.find(nodes.url(node) + "  held         " + lease.owner_value() + "  59 min ") !=
          std::string::npos);
  CHECK(ending.output.find("  " + std::to_string(lease.fencing_token().value()) + "\n") != std::string::npos);
  CHECK(ending.output.find(nodes.url(2) + "  unreachable  -") != std::string::npos);
  CHECK(ending.output.find("Connection refused\n") != std::string::npos);
  CHECK(ending.output.find("\nr is held by " + lease.owner_value() + ", for 59 min ") != std::string::npos);
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
  CHECK(ending.output.ends_with("\nCannot tell who holds r: only 1 of 3 nodes answered.\n"));
}

TEST_CASE("status_as_json_has_the_same_content") {
  LocalNodes nodes{3};
  const redlock::Lease lease = redlock::Redlock{endpoints(nodes), unguarded}.lock("r", {.ttl = 1h}).value();
  nodes.kill(2);
  const auto json = nlohmann::json::parse(
      run_tool({"status", "--restart-guard", "off", "--json", "r"}, nodes.urls()).output);
  CHECK(json["resource"] == "r");
  CHECK(json["state"] == "held");
  CHECK(json["owner"] == lease.owner_value());
  CHECK(json["ttl_ms"].get<long>() > 3'500'000);
  REQUIRE(json["nodes"].size() == 3);
  CHECK(json["nodes"][0]["node"] == nodes.url(0));
  CHECK(json["nodes"][0]["state"] == "held");
  CHECK(json["nodes"][0]["owner"] == lease.owner_value());
  CHECK(json["nodes"][0]["counter"] == lease.fencing_token().value());
  CHECK(json["nodes"][2]["state"] == "unreachable");
  CHECK(json["nodes"][2]["message"] == "Connection refused");
  CHECK_FALSE(json["nodes"][2].contains("owner"));
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
