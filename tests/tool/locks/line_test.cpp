// The waiting line, as the command shows it.
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "tool/deployment.hpp"
#include "tool/line_text.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using nlohmann::json;
using redlock::tool::ordinal;

namespace {

/// A lock that this process holds, and commands that wait for it, one after the other.
struct Queue {
  explicit Queue(int length) {
    for (int number = 1; number <= length; ++number) {
      waiters.push_back(std::make_unique<Program>(tool({"run", "r", "--", "true"}), variables));
      REQUIRE(eventually([&] { return line().size() == static_cast<std::size_t>(number); }));
    }
  }
  [[nodiscard]] json status() const {
    return json::parse(run_tool({"status", "--json", "r"}, nodes.urls()).output);
  }
  [[nodiscard]] json line() const { return status()["line"]; }
  [[nodiscard]] std::string label(int waiter) const {
    return ":" + std::to_string(waiters[static_cast<std::size_t>(waiter)]->id()) + " redlock";
  }

  LocalNodes nodes{3};
  std::vector<std::string> variables{nodes_variable(nodes.urls())};
  redlock::Redlock locks{endpoints(nodes)};
  redlock::Lease lease = locks.lock("r", {.label = "the holder"}).value();
  std::vector<std::unique_ptr<Program>> waiters;
};

}  // namespace

TEST_CASE("places_in_line_are_written_as_ordinal_numbers") {
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(2) == "2nd");
  CHECK(ordinal(3) == "3rd");
  CHECK(ordinal(4) == "4th");
  CHECK(ordinal(11) == "11th");
  CHECK(ordinal(12) == "12th");
  CHECK(ordinal(20) == "20th");
  CHECK(ordinal(21) == "21st");
  CHECK(ordinal(113) == "113th");
}

TEST_CASE("status_shows_who_stands_in_line_and_for_how_long") {
  Queue f{2};
  const json line = f.line();
  REQUIRE(line.size() == 2);
  for (int number : {0, 1}) {
    const json& one = line[static_cast<std::size_t>(number)];
    CHECK(one["position"] == number + 1);
    CHECK(one["label"].get<std::string>().ends_with(f.label(number)));
    CHECK(one["client"].get<std::string>().size() == 16);
  }
  CHECK(line[0]["waited_ms"] > line[1]["waited_ms"]);
  const std::string text = run_tool({"status", "r"}, f.nodes.urls()).output;
  const std::size_t first = text.find("\n  1st in line: ");
  REQUIRE(first != std::string::npos);
  CHECK(text.find(f.label(0) + ", for ") > first);
  CHECK_THAT(text.substr(text.find("\n  2nd in line: ")), contains(f.label(1) + ", for "));
}

TEST_CASE("waiting_commands_get_the_lock_in_order_and_leave_no_line") {
  Queue f{2};
  CHECK(f.lease.release() == redlock::Release::released);
  for (const auto& waiter : f.waiters) CHECK(waiter->wait().code == 0);
  const json status = f.status();
  CHECK(status["state"] == "free");
  CHECK(status["line"] == json::array());
}

TEST_CASE("list_and_watch_show_the_line") {
  Queue f{1};
  CHECK_THAT(run_tool({"list"}, f.nodes.urls()).output,
             contains("  IN LINE  COPIES\n") && contains("  1        3/3\n"));
  const json listed = json::parse(run_tool({"list", "--json"}, f.nodes.urls()).output);
  REQUIRE(listed["line"].size() == 1);
  CHECK(listed["line"][0]["label"].get<std::string>().ends_with(f.label(0)));
  const Program text{tool({"watch", "r"}), f.variables};
  const Program watch{tool({"watch", "--json", "r"}), f.variables};
  CHECK(eventually([&] { return text.output().find(", 1 in line\n") != std::string::npos; }));
  REQUIRE(eventually([&] { return watch.output().find('\n') != std::string::npos; }));
  CHECK(json::parse(watch.output())["line"][0]["position"] == 1);
}

TEST_CASE("labels_in_line_cannot_control_a_terminal") {
  LocalNodes nodes{1};
  start_deployment(nodes);
  RawClient server{nodes.port(0)};
  server.command({"ZADD", "redlock:qo:{r}", "1795442531000000", "0123456789abcdef.\x1b[2J\n"});
  CHECK_THAT(run_tool({"status", "r"}, nodes.urls()).output, contains("1st in line: \\x1b[2J\\x0a, for "));
}

TEST_CASE("a_run_with_order_none_does_not_stand_in_line") {
  Queue f{0};
  Observers servers{f.nodes};
  const auto attempts = servers.attempts();
  const Program polling{tool({"run", "--order", "none", "r", "--", "true"}), f.variables};
  REQUIRE(eventually([&] { return servers.attempts() >= attempts + 9; }));
  CHECK(f.line().empty());
}

TEST_CASE("an_unknown_order_is_wrong_usage") {
  const Program::Ending ending = run_tool({"run", "--order", "lifo", "r", "--", "true"});
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains("--order"));
}

TEST_CASE("a_waiting_run_says_its_place_in_line") {
  Queue f{2};
  CHECK(eventually([&] {
    return f.waiters[1]->errors().find("redlock: waiting for r: 2nd in line, held by the holder since 2") ==
           0;
  }));
  const Program quiet{tool({"run", "-q", "r", "--", "true"}), f.variables};
  CHECK(eventually([&] { return f.line().size() == 3; }));
  CHECK(eventually([&] { return f.line()[2]["waited_ms"] > 3000; }));
  CHECK(quiet.errors().empty());
}
