// redlock check: whether a request comes from the holder of a lock.
#include <csignal>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using nlohmann::json;

namespace {

struct Fixture {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};

  Program::Ending check(const std::string& sequencer, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"check", "--restart-guard", "off", sequencer});
    return run_tool(options, nodes.urls());
  }
};

}  // namespace

TEST_CASE("check_says_whether_a_sequencer_is_valid_and_its_code_says_the_same") {
  Fixture f;
  redlock::Lease lease = f.locks.lock("invoice/42\n", {.ttl = 60s}).value();
  const std::string sequencer = lease.sequencer().to_string();
  Program::Ending ending = f.check(sequencer);
  CHECK(ending.output == "valid\n");
  CHECK(ending.code == 0);
  CHECK(json::parse(f.check(sequencer, {"--json"}).output) == json{{"resource", "invoice/42\n"},
                                                                   {"state", "valid"},
                                                                   {"kind", "exclusive"},
                                                                   {"token", lease.fencing_token().value()}});
  lease.release();
  ending = f.check(sequencer);
  CHECK(ending.output == "stale\n");
  CHECK(ending.errors.empty());
  CHECK(ending.code == 1);
  f.nodes.kill(0);
  f.nodes.kill(1);
  ending = f.check(sequencer);
  CHECK(ending.output == "unknown\n");
  CHECK_THAT(ending.errors, contains("no majority of the nodes decides") && contains(f.nodes.urls()[0]));
  CHECK(ending.code == 69);
}

TEST_CASE("check_says_which_right_is_missing_for_the_sequencer_of_a_reader") {
  Fixture f;
  const redlock::Lease reader = f.locks.lock("r", {.ttl = 60s, .shared = true}).value();
  std::vector<std::string> urls;
  for (int node = 0; node < 3; ++node) {
    RawClient server{f.nodes.port(node)};
    REQUIRE(server.command({"ACL", "SETUSER", "app", "on", ">tuna", "~*", "&*", "+@all", "-sismember"}) ==
            "OK");
    urls.push_back("redis://app:tuna@127.0.0.1:" + std::to_string(f.nodes.port(node)));
  }
  const Program::Ending ending =
      run_tool({"check", "--restart-guard", "off", reader.sequencer().to_string()}, urls);
  CHECK(ending.output == "unknown\n");
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains(": no permission ("));
}

TEST_CASE("check_refuses_a_text_that_is_no_sequencer") {
  const Program::Ending ending = run_tool({"check", "--local", "1", "redlock1;x;7;0123;r"});
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains("the sequencer has the id \"0123\"; allowed: 16 hex digits"));
  CHECK(ending.output.empty());
}

TEST_CASE("the_sequencers_in_the_environment_of_a_command_are_those_of_its_locks") {
  Fixture f;
  const std::vector<std::string> resources =
      GENERATE(std::vector<std::string>{"r"}, std::vector<std::string>{"b", "a"});
  std::vector<std::string> words{"run", "--restart-guard", "off", "--ttl", "60s"};
  words.insert(words.end(), resources.begin(), resources.end());
  words.insert(words.end(), {"--", "sh", "-c", "env; echo told; exec sleep 600"});
  Program holder{tool(words), {nodes_variable(f.nodes.urls()), "REDLOCK_SEQUENCER=outer"}};
  REQUIRE(eventually([&] { return holder.output().find("\ntold\n") != std::string::npos; }));
  const std::string environment = "\n" + holder.output();
  CHECK(environment.find("outer") == std::string::npos);
  std::vector<std::string> sequencers;
  for (std::size_t which = 0; which < resources.size(); ++which) {
    const std::string end = resources.size() == 1 ? "" : "_" + std::to_string(which + 1);
    const std::string name = "\nREDLOCK_SEQUENCER" + end + "=";
    const std::size_t at = environment.find(name);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + name.size();
    sequencers.push_back(environment.substr(begin, environment.find('\n', begin) - begin));
    CHECK(redlock::Sequencer::parse(sequencers.back()).resource() == resources[which]);
    CHECK(f.check(sequencers.back()).output == "valid\n");
  }
  holder.signal(SIGTERM);
  CHECK(holder.wait().code == 128 + SIGTERM);
  for (const std::string& sequencer : sequencers)
    CHECK(eventually([&] { return f.check(sequencer).code == 1; }));
}
