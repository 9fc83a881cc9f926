// redlock list: what is locked.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "support/sanitized.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The resources that `list --json` prints, in the order of the lines.
std::vector<std::string> listed(const LocalNodes& nodes, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"list", "--json"});
  std::vector<std::string> resources;
  for (const std::string& line : lines_of(run_tool(std::move(more), nodes.urls()).output))
    resources.push_back(nlohmann::json::parse(line)["resource"]);
  return resources;
}

/// What another client of this library stores.
std::string owner(int number) {
  return std::string(32, 'a') + std::to_string(10'000'000 + number) + " web @1795442531";
}

void set(Observers& servers, const std::string& key, const std::string& value) {
  servers.command({"SET", key, value, "PX", "3600000"});
}

using Names = std::vector<std::string>;

using Microseconds = std::chrono::duration<double, std::micro>;

/// For how long the server was ready to run and waited for a processor, since it started.
Microseconds waited_for_processor(pid_t server) {
  const std::string id = std::to_string(server);
  std::ifstream file{"/proc/" + id + "/task/" + id + "/schedstat"};
  double ran = 0;
  double waited = 0;
  file >> ran >> waited;
  REQUIRE(file);
  return std::chrono::duration<double, std::nano>{waited};
}

/// Records the commands of a server that take longer than 10 ms.
class SlowCommands {
 public:
  static constexpr Microseconds limit = 10ms;

  SlowCommands(RawClient& server, pid_t process) : server_{server}, process_{process} {
    for (const Names& command :
         {Names{"CONFIG", "SET", "slowlog-max-len", "1000000"},
          Names{"CONFIG", "SET", "slowlog-log-slower-than", "10000"}, Names{"SLOWLOG", "RESET"}})
      REQUIRE(server.command(command) == "OK");
  }

  /// By how much they took longer, all together, without the time in which the server waited for a processor: a machine
  /// that is busy makes a short command long. At most zero if no command takes longer by itself.
  [[nodiscard]] Microseconds excess() {
    const std::string entries = server_.command({"SLOWLOG", "GET", "-1"});
    const std::regex entry{R"(\[\d+, \d+, (\d+), \[)"};  // number, time, duration, words
    Microseconds sum{};
    for (std::sregex_iterator at{entries.begin(), entries.end(), entry}, end; at != end; ++at)
      sum += Microseconds{std::stod((*at)[1])} - limit;
    return sum - (waited_for_processor(process_) - waited_before_);
  }

 private:
  RawClient& server_;
  pid_t process_;
  Microseconds waited_before_ = waited_for_processor(process_);
};

}  // namespace

TEST_CASE("list_shows_the_holder_the_time_the_token_and_the_copies") {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  const redlock::Lease lease = locks.lock("order/17\n", {.ttl = 1h, .label = "web3:4711\x1b"}).value();
  // A majority has granted it, and the third node will soon.
  REQUIRE(eventually([&] { return Observers{nodes}.holding("order/17\n", lease.owner_value()) == 3; }));
  REQUIRE(RawClient{nodes.port(1)}.del("order/17\n"));

  const auto lines = lines_of(run_tool({"list"}, nodes.urls()).output);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("RESOURCE "));
  CHECK(lines[1].starts_with("order/17\\x0a  exclusive  " + lease.owner_value().substr(0, 8) +
                             " web3:4711\\x1b  2"));
  CHECK(lines[1].find("  59 min ") != std::string::npos);
  // Nobody stands in line.
  CHECK(lines[1].ends_with("  " + std::to_string(lease.fencing_token().value()) + "  -        2/3"));

  const auto json = nlohmann::json::parse(run_tool({"list", "--json"}, nodes.urls()).output);
  CHECK(json["resource"] == "order/17\n");
  CHECK(json["state"] == "held");
  CHECK(json["owner"] == lease.owner_value());
  CHECK(json["label"] == "web3:4711\x1b");
  CHECK(json["token"] == lease.fencing_token().value());
  CHECK(json["ttl_ms"].get<long>() > 3'500'000);
  CHECK(json["copies"] == 2);
  CHECK(json["nodes"] == 3);
}

TEST_CASE("json_has_no_byte_that_controls_a_terminal") {
  LocalNodes nodes{1};
  const std::string resource = "r\x7f\xc2\x9b\xc3\xa4\x1b";  // DEL, CSI, a letter, ESC
  const std::string value = std::string(40, 'a') + " \x7f\xc2\x9b @1795442531";
  RawClient{nodes.port(0)}.command({"SET", resource, value, "PX", "3600000"});
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"list", "--json"}, Words{"status", "--json", resource}}) {
    const std::string output = run_tool(words, nodes.urls()).output;
    CHECK(
        std::ranges::all_of(output, [](char byte) { return byte == '\n' || (byte >= ' ' && byte < 0x7f); }));
    const auto json = nlohmann::json::parse(output);
    CHECK(json["resource"] == resource);
    CHECK(json["label"] == "\x7f\xc2\x9b");
  }
}

TEST_CASE("list_finds_a_lock_on_any_node_once") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  for (int number = 0; number < 600; ++number) set(servers, "all:" + std::to_string(number), owner(number));
  for (std::size_t node = 0; node < 3; ++node)
    servers[node].command({"SET", "one:" + std::to_string(node), owner(1), "PX", "3600000"});
  servers[1].command({"SET", "two", owner(2), "PX", "3600000"});
  servers[2].command({"SET", "two", owner(2), "PX", "3600000"});
  const Names found = listed(nodes);
  CHECK(found.size() == 604);
  CHECK(std::set<std::string>{found.begin(), found.end()}.size() == 604);
  CHECK(listed(nodes, {"one:"}).size() == 3);
  CHECK(listed(nodes, {"two"}) == Names{"two"});
}

TEST_CASE("list_takes_the_prefix_literally_and_only_the_locks_of_the_key_prefix") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  for (const char* const name : {"a*b", "axb", "a[b]", "a?", "a\\b", "app:a", "app:b"})
    set(servers, name, owner(1));
  CHECK(listed(nodes, {"a*"}) == Names{"a*b"});
  CHECK(listed(nodes, {"a["}) == Names{"a[b]"});
  CHECK(listed(nodes, {"a?"}) == Names{"a?"});
  CHECK(listed(nodes, {"a\\"}) == Names{"a\\b"});
  CHECK(listed(nodes, {"--key-prefix", "app:"}) == Names{"a", "b"});
}

TEST_CASE("list_leaves_out_what_is_no_lock_and_changes_nothing") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  set(servers, "lock", owner(1));
  set(servers, "of an earlier version", std::string(40, 'a'));
  set(servers, "text", "some value");
  set(servers, "digits", std::string(41, 'a'));
  set(servers, "redlock:f:{lock}", "17");
  servers.command({"HSET", "hash", "a", "b"});
  servers.command({"SET", "forever", owner(2)});
  CHECK(listed(nodes) == Names{"forever", "lock", "of an earlier version"});
  CHECK(run_tool({"list", "forever"}, nodes.urls()).output.find("  never expires  ") != std::string::npos);
  CHECK(servers[0].keys().size() == 7);
}

TEST_CASE("list_needs_a_majority_to_be_complete") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  set(servers, "r", owner(1));
  const auto state_of_the_lock = [&] {
    return nlohmann::json::parse(run_tool({"list", "--json"}, nodes.urls()).output)["state"];
  };
  nodes.kill(0);
  const Program::Ending most = run_tool({"list"}, nodes.urls());
  CHECK(most.code == 0);
  CHECK(most.output.ends_with("  2/3\n"));
  CHECK(most.errors == "redlock: warning: " + nodes.url(0) + ": Connection refused\n");
  CHECK(state_of_the_lock() == "held");
  nodes.kill(2);
  const Program::Ending few = run_tool({"list"}, nodes.urls());
  CHECK(few.code == 69);
  CHECK(few.output.ends_with("  1/3\n"));
  CHECK(state_of_the_lock() == "unknown");  // the silent nodes may have copies
  CHECK(few.errors.ends_with("redlock: locks may be missing, because only 1 of 3 nodes answered\n"));
}

TEST_CASE("list_waits_for_a_node_that_hangs_only_once") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  for (int number = 0; number < 600; ++number) set(servers, std::to_string(number), owner(number));
  nodes.pause(1);
  const Program::Ending ending = run_tool({"list"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(lines_of(ending.output).size() == 601);
  CHECK(ending.output.ends_with("  2/3\n"));
  CHECK(ending.errors == "redlock: warning: " + nodes.url(1) + ": no answer within 2 s\n");
}

TEST_CASE("list_asks_all_nodes_at_once_so_several_that_hang_cost_no_more_time_than_one") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  set(servers, "r", owner(1));
  CHECK(eventually([&] {  // not where the machine stands still for two seconds
    Proxies proxies{nodes};
    for (const auto& proxy : proxies) proxy->stall(true, Direction::to_client);
    Program list{tool({"list"}), {nodes_variable(proxies.urls())}};
    // One after the other, the last one would be asked when the others have been given up.
    REQUIRE(eventually([&] {
      return std::ranges::all_of(proxies,
                                 [](const auto& proxy) { return proxy->counters().bytes_to_server > 0; });
    }));
    for (const auto& proxy : proxies) proxy->stall(false, Direction::to_client);
    return list.wait().output.ends_with("  3/3\n");
  }));
}

TEST_CASE("no_command_about_locks_prints_a_password") {
  LocalNodesOptions options;
  options.password = "right";
  LocalNodes nodes{1, options};
  const std::string url = "redis://:guessed@127.0.0.1:" + std::to_string(nodes.port(0));
  for (const char* const command : {"list", "release --force --yes", "status"}) {
    std::vector<std::string> words;
    std::istringstream text{std::string{command} + " r"};
    for (std::string word; text >> word;) words.push_back(word);
    const Program::Ending ending = run_tool(words, {url});
    CHECK(ending.code == 64);
    CHECK_FALSE((ending.errors + ending.output).empty());
    CHECK((ending.errors + ending.output).find("guessed") == std::string::npos);
  }
}

TEST_CASE("no_part_of_a_long_password_is_printed_when_a_server_has_no_auth") {
  // Such a server repeats the first 128 characters of what AUTH was given.
  LocalNodes nodes{1, {.arguments = {"--rename-command", "AUTH", "LOGIN"}}};
  const std::string password(200, 'p');
  const std::string url = "redis://:" + password + "@127.0.0.1:" + std::to_string(nodes.port(0));
  const Program::Ending ending = run_tool({"list"}, {url});
  CHECK(ending.errors.find(": the server does not accept AUTH with these credentials\n") !=
        std::string::npos);
  CHECK((ending.errors + ending.output).find("pppp") == std::string::npos);
}

TEST_CASE("list_says_which_permission_is_missing") {
  LocalNodes nodes{1};
  RawClient{nodes.port(0)}.command({"ACL", "SETUSER", "u", "on", ">p", "~*", "+getrange", "+pttl"});
  const std::string url = "redis://u:p@127.0.0.1:" + std::to_string(nodes.port(0));
  const Program::Ending ending = run_tool({"list"}, {url});
  CHECK(ending.code == 64);
  CHECK(ending.errors.find("NOPERM") != std::string::npos);
  CHECK(ending.errors.find("scan") != std::string::npos);
}

TEST_CASE("list_of_100000_locks_delays_no_client_and_needs_little_memory") {
  constexpr int number = sanitized ? 10'000 : 100'000;
  constexpr int portion = 2000;
  LocalNodes nodes{3};
  Observers servers{nodes};
  const std::string fill =
      "for i=ARGV[1],ARGV[2] do "
      "redis.call('SET','job:'..i,string.format('%040x',i)..' web3:4711 job @1795442531','PX',3600000) "
      "redis.call('SET','redlock:f:{job:'..i..'}',i,'PX',3600000) end";
  for (int first = 0; first < number; first += portion)
    servers.command({"EVAL", fill, "0", std::to_string(first), std::to_string(first + portion - 1)});
  servers.command({"CONFIG", "RESETSTAT"});
  std::vector<SlowCommands> slow;
  for (int node = 0; node < 3; ++node)
    slow.emplace_back(servers[static_cast<std::size_t>(node)], nodes.pid(node));

  // The limit holds for all memory that the process may write to, with the whole stacks of its threads, which may be as
  // large as its own. The sanitizers need more for themselves.
  const std::string limit = sanitized ? "" : "ulimit -s 512; ulimit -d 12000; ";
  Program list{{"bash", "-c", limit + "exec " REDLOCK_TOOL " list job:"}, {nodes_variable(nodes.urls())}};
  const Program::Ending ending = list.wait();
  INFO(ending.errors);
  CHECK(ending.code == 0);

  std::set<std::string> resources;
  const auto lines = lines_of(ending.output);
  for (const std::string& line : lines)
    if (line.ends_with("  3/3")) resources.insert(line.substr(0, line.find(' ')));
  CHECK(lines.size() == number + 1);
  CHECK(resources.size() == number);

  for (SlowCommands& server : slow) CHECK(server.excess() <= Microseconds::zero());
  for (RawClient& server : servers) {
    CHECK(server.calls("keys") == 0);
    CHECK(server.calls("scan") >= 2 * number / 500);  // no call looks at many more than 250 keys
  }
}
