// One hostile node neither keeps the command busy nor hides what the others say.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/hostile/attacks.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"
#include "support/network/raw_client.hpp"
#include "tool/program.hpp"

namespace {

using namespace redlock::testing;
using namespace std::chrono_literals;

/// Three nodes, on which a client holds "r". The first one is reached through a proxy.
struct Fixture {
  [[nodiscard]] std::vector<std::string> urls_with(const Proxy& first) const {
    return {first.url(), nodes.url(1), nodes.url(2)};
  }

  LocalNodes nodes{3};
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  redlock::Lease lease = locks.lock("r", {.ttl = 60s}).value();
};

/// As if the node had keys without end, `per_page` in each page of SCAN, that have this value.
std::function<void(Proxy&)> endless_keys(int per_page, std::string value) {
  return attack::replies([per_page, value = std::move(value), last = std::make_shared<int>(0)](
                             const attack::Command& command, std::string reply) {
    if (attack::names(command, "SCAN")) {
      std::vector<std::string> keys;
      for (int key = 0; key < per_page; ++key) keys.push_back(attack::bulk("k" + std::to_string(++*last)));
      return attack::array({attack::bulk("1"), attack::array(keys)});
    }
    if (attack::names(command, "GETRANGE") && command.at(1).starts_with('k')) return attack::bulk(value);
    return reply;
  });
}

}  // namespace

TEST_CASE("list_gives_up_a_node_that_makes_up_locks") {
  const Fixture f;
  Proxy proxy{f.nodes.port(0)};
  endless_keys(200, std::string(40, '0') + " evil:1 x @0")(proxy);
  const Program::Ending ending = run_tool({"list"}, f.urls_with(proxy));
  CHECK(ending.code == 0);
  CHECK_THAT(ending.output, contains("\nr ") && contains("evil:1 x"));
  CHECK(std::ranges::count(ending.output, '\n') < 11'000);
  CHECK_THAT(ending.errors, contains("it names more than 10000 locks that no other node has"));
}

TEST_CASE("list_gives_up_a_node_whose_keys_do_not_end") {
  const Fixture f;
  Proxy proxy{f.nodes.port(0)};
  endless_keys(1, "data")(proxy);
  const Program::Ending ending = run_tool({"list"}, f.urls_with(proxy));
  CHECK(ending.code == 0);
  CHECK_THAT(ending.output, contains("\nr "));
  CHECK_THAT(ending.errors, contains("SCAN takes much longer than on the other nodes"));
}

TEST_CASE("a_flood_of_changes_makes_watch_ask_no_more_often") {
  const Fixture f;
  Proxy proxy{f.nodes.port(0)};
  proxy.flood("*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nr\r\n", "SUBSCRIBE");
  Program watch{tool({"watch", "r"}), {nodes_variable(f.urls_with(proxy))}};
  REQUIRE(eventually([&] { return watch.output().ends_with('\n'); }));
  std::this_thread::sleep_for(1s);  // until it has heard enough of this node
  RawClient honest{f.nodes.port(1)};
  const auto before = honest.calls("getrange");
  std::this_thread::sleep_for(3s);
  const auto after = honest.calls("getrange");
  CHECK(after > before);
  CHECK(after - before < 200);  // ten looks a second with four reads each, instead of a hundred looks
  CHECK(watch.is_running());
}

// On a busy machine, an honest node may answer too late as well. The command says so then, and is called again.
TEST_CASE("every_attack_leaves_the_command_the_truth_of_the_other_nodes") {
  const Fixture f;
  const std::vector<Attack> attacks = all_attacks(std::string(40, '0'));
  std::vector<std::string> listed(attacks.size());
  std::vector<std::string> shown(attacks.size());
  const auto told_by = [](const std::vector<std::string>& words, const std::vector<std::string>& urls) {
    Program::Ending ending;
    for (int tries = 0; tries < 10; ++tries) {
      ending = run_tool(words, urls);
      if (ending.code == 0) return ending.output;
    }
    return "code " + std::to_string(ending.code) + ": " + ending.errors;
  };
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        for (std::size_t which = next++; which < attacks.size(); which = next++) {
          Proxy proxy{f.nodes.port(0)};
          proxy.rewrite({});
          attacks[which].begin(proxy);
          listed[which] = told_by({"list"}, f.urls_with(proxy));
          shown[which] = told_by({"status", "r"}, f.urls_with(proxy));
        }
      });
  }
  for (std::size_t which = 0; which < attacks.size(); ++which) {
    CAPTURE(attacks[which].name);
    CHECK_THAT(listed[which], contains("\nr "));
    CHECK_THAT(shown[which], contains("r is held by "));
  }
}
