// A user with the rights of `redlock acl --for operator` may use every command of redlock.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "tool/acl/rules.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// Three nodes whose user "ops" has no other rights.
struct Fixture {
  Fixture() {
    std::vector<std::string> command{"ACL", "SETUSER", "ops", "reset", "on", ">secret"};
    const auto rules = redlock::tool::acl_rules({redlock::tool::Feature::operating}, "app:");
    command.insert(command.end(), rules.begin(), rules.end());
    for (RawClient& server : servers) REQUIRE(server.command(command) == "OK");
    for (const std::string& url : nodes.urls()) urls.push_back("redis://ops:secret@" + url.substr(8));
  }
  /// The rest of a call: the prefix of all locks of the user.
  static std::vector<std::string> own(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--key-prefix", "app:"});
    return words;
  }
  Program::Ending run(const std::vector<std::string>& words) const { return run_tool(own(words), urls); }
  Program start(const std::vector<std::string>& words) const {
    return Program{tool(own(words)), {nodes_variable(urls)}};
  }
  /// `redlock run` or the like, which holds the lock until its command is ended.
  Program start_holding(std::vector<std::string> words) const {
    words.insert(words.end(), {"--", "sh", "-c", "echo $REDLOCK_SEQUENCER; exec sleep 600"});
    return start(words);
  }
  void check_refusals() {
    for (RawClient& server : servers) CHECK(server.command({"ACL", "LOG"}) == "[]");
  }

  LocalNodes nodes{3};
  Observers servers{nodes};
  std::vector<std::string> urls;
};

bool has_begun(const Program& program) {
  return eventually([&] { return program.output().ends_with('\n'); });
}

}  // namespace

TEST_CASE("an_operator_may_begin_a_deployment_and_look_at_it") {
  Fixture f;
  CHECK_THAT(f.run({"nodes", "init"}).output, contains("The deployment has begun."));
  CHECK_THAT(f.run({"nodes", "--json", "--resource", "r"}).output, contains("\"missing_rights\": []"));
  f.check_refusals();
}

TEST_CASE("an_operator_may_allow_longer_locks_and_wait_for_nodes") {
  Fixture f;
  REQUIRE(f.run({"run", "-w", "20", "r", "--", "true"}).code == 0);
  Program wait = f.start({"nodes", "--wait", "--timeout", "60s"});
  const Program::Ending set = f.run({"nodes", "set", "--max-ttl", "5m"});
  CAPTURE(set.output, set.errors);
  CHECK(set.code == 0);
  for (RawClient& server : f.servers)
    CHECK_THAT(server.get("redlock:node:app:").value_or(""), contains(" max_ttl=300000 "));
  CHECK(wait.wait().code == 0);
  f.check_refusals();
}

TEST_CASE("an_operator_may_run_commands_under_all_kinds_of_locks") {
  Fixture f;
  const std::vector<std::string> exit_7{"--", "sh", "-c", "exit 7"};
  for (std::vector<std::string> words : {std::vector<std::string>{"run", "-w", "20", "r"},
                                         {"run", "-w", "20", "--shared", "r"},
                                         {"run", "-w", "20", "--seats", "2", "gpu"},
                                         {"run", "-w", "20", "--at-least", "1ms", "a", "b"},
                                         {"elect", "cron"}}) {
    CAPTURE(words);
    words.insert(words.end(), exit_7.begin(), exit_7.end());
    CHECK(f.run(words).code == 7);
  }
  const Program holder = f.start_holding({"run", "r"});
  REQUIRE(has_begun(holder));
  Program waiting = f.start({"run", "-w", "60", "r", "--", "sh", "-c", "exit 7"});
  REQUIRE(eventually([&] { return f.servers.having("redlock:qw:{app:r}") == 3; }));
  holder.signal(SIGTERM);
  CHECK(waiting.wait().code == 7);
  f.check_refusals();
}

TEST_CASE("an_operator_may_see_who_holds_a_lock_and_who_leads") {
  Fixture f;
  Program watching = f.start({"watch", "r"});
  Program watching_leader = f.start({"leader", "--watch", "cron"});
  REQUIRE(has_begun(watching));
  REQUIRE(has_begun(watching_leader));
  const Program holder = f.start_holding({"run", "r"});
  const Program leader = f.start_holding({"elect", "--candidate", "web3", "cron"});
  REQUIRE(has_begun(holder));
  REQUIRE(has_begun(leader));
  REQUIRE(last_line_has(watching, " UTC  held by "));
  REQUIRE(last_line_has(watching_leader, " UTC  web3, token "));
  for (Program* const program : {&watching, &watching_leader}) {
    program->signal(SIGTERM);
    const Program::Ending ending = program->wait();
    CHECK(ending.code == 0);
    CHECK(ending.errors.empty());
  }
  CHECK_THAT(f.run({"status", "r"}).output, contains("r is held by "));
  CHECK_THAT(f.run({"list"}).output, contains("\nr ") && contains("\ncron "));
  CHECK_THAT(f.run({"leader", "cron"}).output, contains("web3, token "));
  CHECK(f.run({"check", holder.output().substr(0, holder.output().find('\n'))}).output == "valid\n");
  f.check_refusals();
}

TEST_CASE("an_operator_may_ask_for_locks_and_end_them") {
  Fixture f;
  const auto revoke = [&f] {
    CHECK_THAT(f.run({"revoke", "r", "maintenance"}).output, contains(" to give up r.\n"));
  };
  Program holder = f.start_holding({"run", "--revocable", "r"});
  REQUIRE(has_begun(holder));
  revoke();
  CHECK(holder.wait().code == 128 + SIGTERM);
  Program leader = f.start_holding({"elect", "--revocable", "r"});
  REQUIRE(has_begun(leader));
  revoke();
  const auto terms = [&] { return std::ranges::count(leader.output(), '\n'); };
  CHECK(eventually([&] { return terms() == 2; }));  // it has resigned, and leads again
  leader.signal(SIGTERM);
  CHECK(leader.wait().code == 128 + SIGTERM);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "r"}, {"run", "--shared", "r"}}) {
    Program ended = f.start_holding(words);
    REQUIRE(has_begun(ended));
    CHECK_THAT(f.run({"release", "--force", "--yes", "r"}).output, contains("Released r"));
    CHECK(ended.wait().code == 72);
  }
  f.check_refusals();
}
