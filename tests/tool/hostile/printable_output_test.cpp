// What a hostile server says does not reach the terminal as it is.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/hostile/attacks.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/proxy.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"

namespace {

using namespace redlock::testing;

/// The names of the library's texts and tables are ASCII, and so are those of this test.
bool is_plain(char byte) { return byte == '\n' || (byte >= ' ' && byte <= '~'); }

/// Calls of the command whose first node is hostile.
struct BesetCalls {
  BesetCalls(const Attack& attack, const LocalNodes& nodes) : name{attack.name}, proxy{nodes.port(0)} {
    proxy.rewrite({});
    attack.begin(proxy);
    std::vector<std::string> urls = nodes.urls();
    urls.front() = proxy.url();
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"nodes"}, {"status", "r"}, {"list"}, {"release", "--owner", "1", "r"}})
      programs.push_back(std::make_unique<Program>(tool(words), std::vector{nodes_variable(urls)}));
  }

  std::string name;
  Proxy proxy;
  std::vector<std::unique_ptr<Program>> programs;
};

}  // namespace

TEST_CASE("the_command_shows_printable_text_about_a_hostile_node") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  const redlock::Lease lease = locks.lock("r", {.ttl = std::chrono::seconds{60}}).value();
  std::vector<std::unique_ptr<BesetCalls>> all;
  for (const Attack& attack : all_attacks(std::string(40, '0')))
    if (attack.name.starts_with("escapes")) all.push_back(std::make_unique<BesetCalls>(attack, nodes));
  REQUIRE(all.size() == 5);
  bool has_escaped = false;
  for (const auto& calls : all)
    for (const auto& program : calls->programs) {
      const Program::Ending ending = program->wait();
      const std::string text = ending.output + ending.errors;
      INFO(calls->name << ": " << text);
      CHECK(std::ranges::all_of(text, is_plain));
      CHECK(ending.code < 128);
      has_escaped = has_escaped || text.find("\\x1b[2J") != text.npos;
    }
  CHECK(has_escaped);
}
