// redlock release --force: ends a lock that another process holds. The question is in terminal_test.cpp.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

Program::Ending release(const LocalNodes& nodes, std::vector<std::string> more) {
  more.insert(more.begin(), {"release", "--force"});
  return run_tool(std::move(more), nodes.urls());
}

/// Holds a lock on all three nodes. It does not renew itself.
struct Held {
  explicit Held(const LocalNodes& nodes)
      : locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}},
        lease{locks.lock("r", {.ttl = 1h, .label = "web3:4711\x1b"}).value()} {
    REQUIRE(eventually([&] { return Observers{nodes}.holding("r", lease.owner_value()) == 3; }));
  }

  redlock::Redlock locks;
  redlock::Lease lease;
};

}  // namespace

TEST_CASE("a_forced_release_ends_the_command_of_the_holder_at_once") {
  LocalNodes nodes{3};
  start_deployment(nodes, nodes.urls(), {"--max-ttl", "1h"});
  // Without the release, the ttl would last for longer than the test may.
  Program holder{tool({"run", "--max-ttl", "1h", "--ttl", "1h", "r", "--", "sleep", "3600"}),
                 {nodes_variable(nodes.urls())}};
  Observers servers{nodes};
  REQUIRE(eventually([&] { return servers.having("r") == 3 && children_of(holder.id()) == 2; }));
  const std::string owner = servers[0].get("r").value();
  const Program::Ending ending = release(nodes, {"r", "--owner", owner});
  CHECK(ending.code == 0);
  CHECK(ending.output.starts_with("Released r, held by "));
  CHECK(ending.output.ends_with(": its copies are gone from 3 of 3 nodes.\n"));
  const Program::Ending held = holder.wait();
  CHECK(held.code == 72);
  CHECK(held.errors.find("a majority of the nodes no longer holds the lock") != std::string::npos);
  CHECK(servers.having("r") == 0);
}

TEST_CASE("a_forced_release_takes_the_beginning_of_an_owner_value") {
  LocalNodes nodes{3};
  const Held held{nodes};
  CHECK(release(nodes, {"r", "--owner", held.lease.owner_value().substr(0, 7)}).code == 64);
  CHECK(Observers{nodes}.having("r") == 3);
  const Program::Ending ending = release(nodes, {"r", "--owner", held.lease.owner_value().substr(0, 8)});
  CHECK(ending.code == 0);
  CHECK(ending.output.find("web3:4711\\x1b since 2") != std::string::npos);
  CHECK(Observers{nodes}.having("r") == 0);
}

TEST_CASE("a_forced_release_leaves_the_lock_of_somebody_else_alone") {
  LocalNodes nodes{3};
  const Held held{nodes};
  const Program::Ending other = release(nodes, {"r", "--owner", std::string(40, '0')});
  CHECK(other.code == 1);
  CHECK(other.errors.find("r is held by web3:4711\\x1b since 2") != std::string::npos);
  CHECK(other.errors.ends_with(" No node has a copy with the owner value of --owner.\n"));
  CHECK(Observers{nodes}.holding("r", held.lease.owner_value()) == 3);
  const Program::Ending free = release(nodes, {"another", "--yes"});
  CHECK(free.code == 1);
  CHECK(free.errors == "redlock: nothing to release: Nobody holds another.\n");
}

TEST_CASE("a_beginning_that_fits_several_owner_values_is_refused") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  for (std::size_t node = 0; node < 2; ++node)
    servers[node].command({"SET", "r", std::string(39, 'a') + std::to_string(node), "PX", "3600000"});
  const Program::Ending ending = release(nodes, {"r", "--owner", std::string(39, 'a')});
  CHECK(ending.code == 64);
  CHECK(ending.errors.find("several owner values begin with") != std::string::npos);
  CHECK(servers.having("r") == 2);
  const Program::Ending stray = release(nodes, {"r", "--owner", std::string(39, 'a') + "0"});
  CHECK(stray.code == 0);
  CHECK(stray.output.starts_with("Removed 1 stray copy of r, which nobody held, of "));
  CHECK(servers.having("r") == 1);
}

TEST_CASE("a_forced_release_removes_no_copy_of_somebody_who_is_not_the_holder") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  const std::string holder = std::string(40, 'a') + " web1:17 @1795442531";
  const std::string other = std::string(40, 'b') + " web2:18 @1795442531";
  for (std::size_t node = 0; node < 3; ++node)
    servers[node].command({"SET", "r", node == 2 ? other : holder, "PX", "3600000"});
  const Program::Ending ending = release(nodes, {"r", "--owner", other});
  CHECK(ending.code == 1);
  CHECK(ending.output.empty());
  CHECK(ending.errors.starts_with("redlock: released nothing: r is held by web1:17 since 2"));
  CHECK(servers.having("r") == 3);
}

TEST_CASE("without_an_owner_a_terminal_or_yes_nothing_is_released") {
  LocalNodes nodes{3};
  const Held held{nodes};
  Program asks{{"bash", "-c", "exec " REDLOCK_TOOL " release --force r </dev/null"},
               {nodes_variable(nodes.urls())}};
  const Program::Ending ending = asks.wait();
  CHECK(ending.code == 64);
  CHECK(ending.errors.ends_with(
      "there is no terminal to ask on: name the holder with --owner, or give --yes\n"));
  CHECK(Observers{nodes}.having("r") == 3);
  const Program::Ending sure = release(nodes, {"r", "--yes"});
  CHECK(sure.code == 0);
  CHECK(sure.errors.find("r is held by web3:4711\\x1b since 2") != std::string::npos);
  CHECK(Observers{nodes}.having("r") == 0);
}

TEST_CASE("a_forced_release_works_with_a_majority_and_says_when_it_has_none") {
  LocalNodes nodes{3};
  const Held held{nodes};
  nodes.kill(0);
  const Program::Ending most = release(nodes, {"r", "--owner", held.lease.owner_value()});
  CHECK(most.code == 0);
  CHECK(most.output.ends_with(": its copies are gone from 2 of 3 nodes.\n"));
  CHECK(most.errors == "redlock: warning: " + nodes.url(0) + ": Connection refused\n");

  const std::string owner = std::string(40, 'b');
  RawClient{nodes.port(2)}.command({"SET", "r", owner, "PX", "3600000"});
  nodes.kill(1);
  const Program::Ending few = release(nodes, {"r", "--owner", owner});
  CHECK(few.code == 69);
  CHECK(few.errors.find("too few nodes answered, so " + owner + " may still hold r") != std::string::npos);
}

TEST_CASE("a_node_that_trickles_is_given_up_and_delays_no_deletion_on_the_others") {
  LocalNodes nodes{3};
  Held held{nodes};
  Proxy slow{nodes.port(0)};
  slow.trickle(1500ms,
               Direction::to_client);  // never silent for 2 s; an error of AUTH has far more than 7 bytes
  Program releasing{tool({"release", "--force", "r", "--owner", held.lease.owner_value()}),
                    {nodes_variable({"redis://:guessed@127.0.0.1:" + std::to_string(slow.port()),
                                     nodes.url(1), nodes.url(2)})}};
  Observers servers{nodes};
  REQUIRE(eventually([&] { return servers.holding("r", held.lease.owner_value()) <= 1; }));
  const Program::Ending ending = releasing.wait();
  CHECK(ending.code == 0);
  CHECK(ending.output.ends_with(": its copies are gone from 2 of 3 nodes.\n"));
  CHECK(ending.errors == "redlock: warning: " + slow.url() + ": no connection within the connect timeout\n");
}

TEST_CASE("a_node_that_hangs_during_a_forced_release_delays_no_deletion_on_the_others") {
  LocalNodes nodes{3};
  const Held held{nodes};
  Proxy hanging{nodes.port(0)};
  hanging.rewrite([](const std::vector<std::string>& command, std::string reply) {
    const bool deletes = command.size() > 1 && command[1] == redlock::core::break_source();
    return deletes ? std::string{} : std::move(reply);
  });
  const Program::Ending ending = run_tool({"release", "--force", "r", "--owner", held.lease.owner_value()},
                                          {hanging.url(), nodes.url(1), nodes.url(2)});
  CHECK(ending.code == 0);
  CHECK(ending.output.ends_with(": its copies are gone from 2 of 3 nodes.\n"));
  CHECK(ending.errors == "redlock: warning: " + hanging.url() + ": no answer within 2000 ms\n");
}

TEST_CASE("readers_that_one_node_invents_do_not_hinder_a_forced_release_of_the_others") {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes)};
  const redlock::Lease reader = locks.lock("r", {.ttl = 60s, .shared = true}).value();
  REQUIRE(eventually([&] { return Observers{nodes}.having("r") == 3; }));
  Proxy hostile{nodes.port(0)};
  hostile.rewrite([](const std::vector<std::string>& command, std::string reply) {
    if (command.size() < 2 || command[1] != redlock::core::readers_source) return reply;
    std::string names = "*302\r\n:301\r\n$0\r\n\r\n";
    for (int name = 0; name < 300; ++name)
      names += "$17\r\n" + std::string(name % 2 == 0 ? "redlock:" : "00000000") +
               std::to_string(100'000'000 + name) + "\r\n";
    return names;
  });
  const Program::Ending ending =
      run_tool({"release", "--force", "r", "--yes"}, {hostile.url(), nodes.url(1), nodes.url(2)});
  CHECK(ending.code == 0);
  CHECK(ending.output.ends_with(": its copies are gone from 3 of 3 nodes.\n"));
  CHECK(ending.output.find("0000000010") == std::string::npos);
  CHECK(Observers{nodes}.having("r") == 0);
}

TEST_CASE("a_forced_release_without_the_right_to_it_deletes_nothing_and_says_why") {
  LocalNodes nodes{3};
  const Held held{nodes};
  for (int node = 0; node < 3; ++node)
    RawClient{nodes.port(node)}.command({"ACL", "SETUSER", "default", "-del"});
  const Program::Ending ending = release(nodes, {"r", "--owner", held.lease.owner_value()});
  CHECK(ending.code == 64);
  CHECK(ending.errors.find("redlock: warning: " + nodes.url(1) + ": ") != std::string::npos);
  CHECK(ending.errors.find("may still hold r; its copies are gone from 0 of 3 nodes") != std::string::npos);
  CHECK(Observers{nodes}.holding("r", held.lease.owner_value()) == 3);
}

TEST_CASE("a_forced_release_uses_the_key_prefix_and_the_password") {
  LocalNodesOptions options;
  options.password = "se cret";
  LocalNodes nodes{1, options};
  RawClient server{nodes.port(0), "se cret"};
  const std::string owner(40, 'c');
  server.command({"SET", "app:r", owner, "PX", "3600000"});
  server.command({"SET", "r", owner, "PX", "3600000"});
  CHECK(release(nodes, {"--key-prefix", "app:", "r", "--owner", owner}).code == 0);
  CHECK(server.keys() == std::vector<std::string>{"r"});
}
