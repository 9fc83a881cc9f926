// redlock run: like flock(1), for several machines.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "testing/process.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using Words = std::vector<std::string>;

namespace {

/// The value of a variable in the output of `env`.
std::string variable(const std::string& lines, const std::string& name) {
  const std::size_t at = ("\n" + lines).find("\n" + name + "=");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + name.size() + 1;
  return lines.substr(begin, lines.find('\n', begin) - begin);
}

bool all_is_released(const LocalNodes& nodes) {
  return eventually([&] { return Observers{nodes}.empty() == nodes.size(); });
}

/// Runs a hundred shells that each add one to a number in a file, and returns the final number.
long count_of_a_hundred(const Words& before_the_shell, const std::string& nodes) {
  const detail::ProcessGroup group;
  const std::string file = group.folder() + "/f";
  std::ofstream{file} << "0\n";
  Words words{*detail::find_program("env"), nodes};
  words.insert(words.end(), before_the_shell.begin(), before_the_shell.end());
  words.insert(words.end(), {"/bin/sh", "-c",
                             "cd " + group.folder() + " && n=$(cat f) && expr 1 + $n > f.$$ && mv f.$$ f"});
  std::vector<pid_t> children;
  for (int child = 0; child < 100; ++child)
    children.push_back(detail::launch({.arguments = words, .group = group.id()}));
  for (const pid_t child : children) detail::reap(child);
  long counted = 0;
  std::ifstream{file} >> counted;
  return counted;
}

}  // namespace

TEST_CASE("the_exit_code_is_that_of_the_command") {
  LocalNodes nodes{3};
  CHECK(run_tool({"run", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(run_tool({"run", "r", "--", "sh", "-c", "exit 7"}, nodes.urls()).code == 7);
  CHECK(run_tool({"run", "r", "--", "sh", "-c", "kill -s KILL $$"}, nodes.urls()).code == 128 + SIGKILL);
  const Program::Ending unknown = run_tool({"run", "r", "--", "no-such-program"}, nodes.urls());
  CHECK(unknown.code == 127);
  CHECK(unknown.errors == "redlock: no-such-program: No such file or directory\n");
  CHECK(run_tool({"run", "r", "--", "/etc/passwd"}, nodes.urls()).code == 126);
  CHECK(all_is_released(nodes));
}

TEST_CASE("the_command_gets_its_arguments_and_streams_unchanged") {
  LocalNodes nodes{1};
  const Program::Ending said =
      run_tool({"run", "r", "--", "sh", "-c", "echo out \"$@\"; echo err >&2", "sh", "-n", "--", "a b", ""},
               nodes.urls());
  CHECK(said.output == "out -n -- a b \n");
  CHECK(said.errors == "err\n");
  const auto piped =
      Program{{"sh", "-c", "echo through | " REDLOCK_TOOL " run r -- cat"}, {nodes_variable(nodes.urls())}}
          .wait();
  CHECK(piped.output == "through\n");
}

TEST_CASE("the_command_finds_its_lock_in_its_environment") {
  LocalNodes nodes{3};
  const auto before = redlock::Clock::now().time_since_epoch();
  Program holder{tool({"run", "--ttl", "20s", "a resource", "--", "sh", "-c", "env; sleep 60"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return holder.output().find("REDLOCK_DEADLINE_MS") != std::string::npos; }));
  RawClient server{nodes.port(0)};
  REQUIRE(eventually([&] { return server.get("a resource").has_value(); }));  // a majority may do without it
  const std::string environment = holder.output() + "\n";
  CHECK(variable(environment, "REDLOCK_RESOURCE") == "a resource");
  CHECK(variable(environment, "REDLOCK_OWNER") == server.get("a resource"));
  CHECK(variable(environment, "REDLOCK_FENCING_TOKEN") == server.get("redlock:f:{a resource}"));
  const std::chrono::milliseconds deadline{std::stoll(variable(environment, "REDLOCK_DEADLINE_MS"))};
  CHECK(deadline > before + 19s);
  CHECK(deadline < redlock::Clock::now().time_since_epoch() + 20s);
  holder.signal(SIGTERM);
  CHECK(holder.wait().code == 128 + SIGTERM);
  CHECK(all_is_released(nodes));
}

TEST_CASE("a_command_runs_while_it_has_the_locks_of_all_resources") {
  LocalNodes nodes{3};
  Program holder{tool({"run", "--ttl", "20s", "b", "a", "--", "sh", "-c", "env; sleep 60"}),
                 {nodes_variable(nodes.urls()), "REDLOCK_RESOURCE=outer", "REDLOCK_OWNER_3=outer"}};
  REQUIRE(eventually([&] { return holder.output().find("REDLOCK_DEADLINE_MS") != std::string::npos; }));
  Observers servers{nodes};
  REQUIRE(eventually([&] { return servers.having("a") == 3 && servers.having("b") == 3; }));
  const std::string environment = holder.output() + "\n";
  RawClient server{nodes.port(0)};
  for (const auto& [resource, number] : {std::pair{"b", "_1"}, std::pair{"a", "_2"}}) {
    CHECK(variable(environment, std::string{"REDLOCK_RESOURCE"} + number) == resource);
    CHECK(variable(environment, std::string{"REDLOCK_OWNER"} + number) == server.get(resource));
    CHECK(variable(environment, std::string{"REDLOCK_FENCING_TOKEN"} + number) ==
          server.get("redlock:f:{" + std::string{resource} + "}"));
  }
  for (const char* const other : {"REDLOCK_RESOURCE=", "REDLOCK_OWNER=", "REDLOCK_FENCING_TOKEN=", "=outer"})
    CHECK(environment.find(other) == std::string::npos);
  CHECK(run_tool({"run", "-n", "c", "a", "--", "true"}, nodes.urls()).code == 1);
  CHECK(eventually([&] { return servers.having("c") == 0; }));
  SECTION("until the command ends") {
    holder.signal(SIGTERM);
    CHECK(holder.wait().code == 128 + SIGTERM);
  }
  SECTION("until one lock is lost") {
    for (int node = 0; node < nodes.size(); ++node) RawClient{nodes.port(node)}.command({"DEL", "a"});
    const Program::Ending ending = holder.wait();
    CHECK(ending.code == 72);
    CHECK(ending.errors.starts_with("redlock: the lock a could not be kept, so the command was terminated"));
  }
  CHECK(all_is_released(nodes));
}

TEST_CASE("n_w_and_E_mean_the_same_as_with_flock") {
  LocalNodes nodes{3};
  const auto lease =
      redlock::Redlock{{nodes.url(0), nodes.url(1), nodes.url(2)}}.lock("r", {.ttl = 60s}).value();
  const Program::Ending at_once = run_tool({"run", "-n", "r", "--", "echo", "ran"}, nodes.urls());
  CHECK(at_once.code == 1);
  CHECK(at_once.output.empty());
  CHECK(at_once.errors.empty());  // a cron job would mail any output
  CHECK(run_tool({"run", "-w", "0.2", "-E", "99", "r", "--", "true"}, nodes.urls()).code == 99);
  CHECK(run_tool({"run", "-w", "0", "-E", "0", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(run_tool({"run", "-n", "another", "--", "true"}, nodes.urls()).code == 0);
}

TEST_CASE("a_run_without_a_limit_waits_until_the_holder_releases") {
  LocalNodes nodes{3};
  auto lease = redlock::Redlock{{nodes.url(0), nodes.url(1), nodes.url(2)}}.lock("r", {.ttl = 60s}).value();
  Program waiting{tool({"run", "r", "--", "echo", "ran"}), {nodes_variable(nodes.urls())}};
  std::this_thread::sleep_for(300ms);
  CHECK(waiting.is_running());
  lease.release();
  const Program::Ending ending = waiting.wait();
  CHECK(ending.code == 0);
  CHECK(ending.output == "ran\n");
  CHECK(all_is_released(nodes));
}

TEST_CASE("a_plain_client_and_the_command_exclude_each_other") {
  LocalNodes nodes{3};
  for (int node = 0; node < 2; ++node)
    REQUIRE(RawClient{nodes.port(node)}.command({"SET", "r", "somebody", "NX", "PX", "60000"}) == "OK");
  CHECK(run_tool({"run", "-n", "r", "--", "true"}, nodes.urls()).code == 1);
  Program holder{tool({"run", "s", "--", "sleep", "60"}), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return Observers{nodes}.having("s") == 3; }));
  for (int node = 0; node < 3; ++node)
    CHECK(RawClient{nodes.port(node)}.command({"SET", "s", "somebody", "NX", "PX", "60000"}) == "(nil)");
}

TEST_CASE("a_hundred_processes_under_the_lock_lose_no_addition") {
  LocalNodes nodes{5};
  CHECK(count_of_a_hundred(tool({"run", "-w", "60", "counter", "--"}), nodes_variable(nodes.urls())) == 100);
  CHECK(all_is_released(nodes));
}

TEST_CASE("a_hundred_processes_without_the_lock_lose_some_additions") {
  CHECK(count_of_a_hundred({}, "NOTHING=") < 100);
}

TEST_CASE("signals_are_forwarded_to_the_command") {
  LocalNodes nodes{3};
  for (const auto& [number, name] :
       {std::pair{SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGUSR1, "USR1"}}) {
    CAPTURE(name);
    Program holder{
        tool({"run", "r", "--", "sh", "-c",
              std::string{"trap 'exit 5' "} + name + "; echo ready; while :; do sleep 0.01; done"}),
        {nodes_variable(nodes.urls())}};
    REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
    holder.signal(number);
    CHECK(holder.wait().code == 5);
  }
  CHECK(all_is_released(nodes));
}

TEST_CASE("a_signal_ends_the_wait_for_the_lock") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  redlock::Redlock locks{endpoints(nodes)};
  reach_all(locks, servers);
  const auto lease = locks.lock("r", {.ttl = 60s}).value();
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  Program waiting{tool({"run", "r", "--", "echo", "ran"}), {nodes_variable(nodes.urls())}};
  std::this_thread::sleep_for(300ms);
  waiting.signal(SIGTERM);
  const Program::Ending ending = waiting.wait();
  CHECK(ending.code == 128 + SIGTERM);
  CHECK(ending.output.empty());
  CHECK(servers.having("r") == 3);  // the copies of the holder
}

TEST_CASE("private_servers_live_as_long_as_the_command_and_are_in_its_environment") {
  const Program::Ending ending = run_tool(
      {"run", "--local", "3", "r", "--", "sh", "-c", "echo $REDLOCK_NODES; " REDLOCK_TOOL " status r"});
  CHECK(ending.code == 0);
  CHECK(ending.output.find("r is held by ") != std::string::npos);
  const std::string first = ending.output.substr(0, ending.output.find(','));
  CHECK(run_tool({"status", "--node", first, "r"}).code == 69);
}

TEST_CASE("a_whole_run_takes_three_round_trips_and_a_tcp_connect") {
  constexpr std::chrono::nanoseconds round_trip = 200ms;
  LocalNodes nodes{5};
  Proxies proxies{nodes};
  const auto time_with = [&](std::chrono::nanoseconds delay) -> std::chrono::nanoseconds {
    proxies.set_delay(0ms, delay);
    const auto begun = redlock::Clock::now();
    REQUIRE(run_tool({"run", "-n", "r", "--", "true"}, proxies.urls()).code == 0);
    return redlock::Clock::now() - begun;
  };
  // The best of many, as a busy machine may delay some of them.
  std::chrono::nanoseconds best = 1h;
  for (int attempt = 0; attempt < 30 && best >= 4 * round_trip; ++attempt) {
    const auto without = time_with(0ms);
    const auto with = time_with(round_trip);
    CHECK(with >= 3 * round_trip);  // login, lock, release
    best = std::min(best, with - without);
  }
  CHECK(best < 4 * round_trip);
}

TEST_CASE("the_exit_code_is_the_commands_whatever_signals_or_streams_were_inherited") {
  LocalNodes nodes{1};
  const std::string under_the_lock = REDLOCK_TOOL " run -n r -- sh -c 'exit 7'";
  for (const std::string start :
       {"trap '' CHLD; exec ", "trap '' PIPE; exec ", "exec <&- >&- 2>&-; exec ", "trap '' HUP INT; exec "}) {
    CAPTURE(start);
    CHECK(Program{{"bash", "-c", start + under_the_lock}, {nodes_variable(nodes.urls())}}.wait().code == 7);
  }
  CHECK(all_is_released(nodes));
}

TEST_CASE("a_signal_ignored_from_the_start_is_not_forwarded") {
  LocalNodes nodes{1};
  Program holder{
      {"bash", "-c", "trap '' HUP; exec " REDLOCK_TOOL " run r -- sh -c 'echo ready; sleep 0.5; exit 5'"},
      {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  holder.signal(SIGHUP);
  CHECK(holder.wait().code == 5);
}

TEST_CASE("an_unforwarded_signal_does_not_block_the_forwarding_of_others") {
  LocalNodes nodes{1};
  Program holder{tool({"run", "r", "--", "sh", "-c", "echo ready; exec sleep 60"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  holder.signal(SIGRTMIN);
  holder.signal(SIGTERM);
  CHECK(holder.wait().code == 128 + SIGTERM);
}

TEST_CASE("a_node_list_may_contain_blanks_and_the_last_of_two_waits_counts") {
  LocalNodes nodes{3};
  const std::string list =
      "REDLOCK_NODES= " + nodes.url(0) + " , " + nodes.url(1) + ",," + nodes.url(2) + "\n";
  CHECK(Program{tool({"run", "-w", "soon", "-w", "1", "r", "--", "true"}), {list}}.wait().code == 0);
}

TEST_CASE("bad_usage_is_explained_and_exits_with_64") {
  LocalNodes nodes{1};
  const auto says = [&](Words words, const std::string& what) {
    const Program::Ending ending = run_tool(std::move(words), nodes.urls());
    CAPTURE(what, ending.errors);
    CHECK(ending.code == 64);
    CHECK(ending.output.empty());
    CHECK(ending.errors.find(what) != std::string::npos);
  };
  says({}, "subcommand is required");
  says({"walk"}, "walk");
  says({"run", "r"}, "CMD");
  says({"run", "r", "--"}, "CMD");
  says({"run", "r", "echo", "hi"}, "put -- before the command");
  says({"run", "--", "true"}, "RESOURCE");
  says({"run", "r", "s", "r", "--", "true"}, "the resource r was given twice");
  says({"run", "--seats", "2", "r", "s", "--", "true"}, "a call for several locks takes no seats");
  says({"run", "", "--", "true"}, "the resource has 0 bytes; allowed: 1 to 4096");
  says({"run", "-n", "-w", "1", "r", "--", "true"}, "excludes");
  says({"run", "-w", "soon", "r", "--", "true"}, "'soon' is not a time");
  says({"run", "-E", "256", "r", "--", "true"}, "256");
  says({"run", "--ttl", "5d", "r", "--", "true"}, "'5d' is not a time");
  says({"run", "--ttl", "1ms", "r", "--", "true"}, "allowed: 10 ms to 365 days");
  says({"run", "--node", "http://h", "r", "--", "true"}, "the scheme must be");
  says({"run", "--node", "h", "--node", "x:0", "r", "--", "true"},
       "--node: entry 2 of the list: endpoint: the port");
  says({"run", "--local", "3", "--node", nodes.url(0), "r", "--", "true"}, "--local");
  says({"run", "--nodes-file", "/nowhere", "r", "--", "true"}, "there is no file /nowhere");
  says({"run", "--nodes-file", "f", "--node", nodes.url(0), "r", "--", "true"}, "only one of");
  says({"status", "r", "--", "true"}, "--");
  const Program::Ending nowhere = run_tool({"run", "r", "--", "true"});
  CHECK(nowhere.code == 64);
  CHECK(nowhere.errors.find("REDLOCK_NODES") != std::string::npos);
}

TEST_CASE("without_a_quorum_the_exit_code_is_69_and_each_node_has_a_reason") {
  LocalNodes nodes{3};
  nodes.kill(0);
  nodes.kill(1);
  for (const Words& words : {Words{"run", "r", "--", "true"},
                             {"run", "-n", "r", "--", "true"},
                             {"run", "-w", "0.5", "r", "--", "true"}}) {
    const Program::Ending ending = run_tool(words, nodes.urls());
    CHECK(ending.code == 69);
    CHECK(ending.errors.find(nodes.url(0) + ": unreachable (Connection refused)") != std::string::npos);
  }
  CHECK(Observers{nodes, {2}}.empty() == 1);
}

TEST_CASE("a_password_is_never_shown") {
  LocalNodes nodes{1, {.password = "open sesame"}};
  CHECK(run_tool({"run", "r", "--", "true"}, nodes.urls()).code == 0);
  for (const std::string& url : {std::string{"redis://:hunter2@127.0.0.1:"} + std::to_string(nodes.port(0)),
                                 std::string{"redis://:hunter2@"}}) {
    const Program::Ending ending = run_tool({"run", "-n", "--node", url, "r", "--", "true"});
    CHECK(ending.code == 64);
    CHECK(ending.errors.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("help_and_version_exit_with_0") {
  CHECK(run_tool({"--version"}).output.starts_with("redlock "));
  const Program::Ending help = run_tool({"run", "--help"});
  CHECK(help.code == 0);
  CHECK(help.output.find("redlock run [OPTIONS] RESOURCE... -- CMD...") != std::string::npos);
}

TEST_CASE("the_nodes_keep_the_lock_for_at_least_the_time_that_was_asked_for_however_the_command_ends") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  const auto is_kept = [&](const std::string& resource) {
    const int left = std::stoi(server.command({"PTTL", resource}));
    return server.command({"GET", resource}) == "redlock:kept" && left > 0 && left <= 60'000;
  };
  // Without --ttl, the ttl is as long as that time.
  const auto arguments = [](const std::string& resource, const std::string& script) {
    return std::vector<std::string>{"run", "--at-least", "1m", resource, "--", "sh", "-c", script};
  };
  CHECK(run_tool(arguments("r", "exit 7"), nodes.urls()).code == 7);
  CHECK(is_kept("r"));
  CHECK(run_tool({"run", "-n", "r", "--", "true"}, nodes.urls()).code == 1);
  Program ended{tool(arguments("s", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")),
                {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return ended.output() == "ready\n"; }));
  ended.signal(SIGTERM);
  CHECK(ended.wait().code == 5);
  CHECK(is_kept("s"));
}

TEST_CASE("a_minimum_time_longer_than_the_ttl_or_the_longest_ttl_is_refused") {
  LocalNodes nodes{1};
  const Program::Ending longer =
      run_tool({"run", "--ttl", "10s", "--at-least", "11s", "r", "--", "true"}, nodes.urls());
  CHECK(longer.code == 64);
  CHECK_THAT(longer.errors,
             redlock::testing::contains("at_least is 11 s; allowed: 0 s to the ttl, which is 10 s"));
  CHECK(run_tool({"run", "--at-least", "61s", "r", "--", "true"}, nodes.urls()).code == 64);
  CHECK(run_tool({"run", "--at-least", "61s", "--max-ttl", "2m", "--restart-guard", "off", "r", "--", "true"},
                 nodes.urls())
            .code == 0);
}

TEST_CASE("a_killed_run_with_a_lock_delay_keeps_the_lock_for_ttl_and_delay") {
  LocalNodes nodes{1};
  {
    Program killed{tool({"run", "--ttl", "1s", "--kill-after", "100ms", "--lock-delay", "20s", "r", "--",
                         "sh", "-c", "echo ready; exec sleep 60"}),
                   {nodes_variable(nodes.urls())}};
    REQUIRE(eventually([&] { return killed.output() == "ready\n"; }));
    const int left = std::stoi(RawClient{nodes.port(0)}.command({"PTTL", "r"}));
    CHECK((left > 15'000 && left <= 21'000));
    killed.signal(SIGKILL);
    killed.wait();
  }
  std::this_thread::sleep_for(1200ms);
  CHECK(run_tool({"run", "-n", "r", "--", "true"}, nodes.urls()).code == 1);
}

TEST_CASE("with_seats_as_many_commands_run_at_the_same_time_and_each_knows_its_seat") {
  LocalNodes nodes{1};
  const auto start = [&] {
    return Program{
        tool({"run", "--seats", "2", "r", "--", "sh", "-c", "echo $REDLOCK_RESOURCE; exec sleep 60"}),
        {nodes_variable(nodes.urls())}};
  };
  Program first = start();
  Program second = start();
  REQUIRE(eventually([&] { return !first.output().empty() && !second.output().empty(); }));
  CHECK(std::set<std::string>{first.output(), second.output()} == std::set<std::string>{"r#0\n", "r#1\n"});
  CHECK(run_tool({"run", "-n", "--seats", "2", "r", "--", "true"}, nodes.urls()).code == 1);
  CHECK(run_tool({"run", "-n", "--seats", "3", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(run_tool({"run", "--seats", "0", "r", "--", "true"}, nodes.urls()).code == 64);
  first.signal(SIGTERM);
  CHECK(run_tool({"run", "-w", "20s", "--seats", "2", "r", "--", "true"}, nodes.urls()).code == 0);
  second.signal(SIGTERM);
}

TEST_CASE("a_waiting_command_says_once_who_has_the_lock_unless_it_is_quiet") {
  LocalNodes nodes{1};
  const std::vector<std::string> variables{nodes_variable(nodes.urls())};
  Program holder{tool({"run", "--label", "web3:4711", "r", "--", "sh", "-c", "echo ready; exec sleep 60"}),
                 variables};
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  Program patient{tool({"run", "-v", "r", "--", "echo", "done"}), variables};
  Program usual{tool({"run", "-w", "2.5", "r", "--", "true"}), variables};
  Program quiet{tool({"run", "-q", "-w", "2.5", "r", "--", "true"}), variables};
  Program hasty{tool({"run", "-n", "r", "--", "true"}), variables};
  const auto errors_of = [](Program& program) {
    const Program::Ending ending = program.wait();
    CHECK(ending.code == 1);
    return ending.errors;
  };
  CHECK_THAT(errors_of(usual), Catch::Matchers::StartsWith("redlock: waiting for r: ") &&
                                   redlock::testing::contains(" in line, held by web3:4711 since 2") &&
                                   Catch::Matchers::EndsWith(" UTC\n"));
  CHECK(errors_of(quiet).empty());
  CHECK(errors_of(hasty).empty());

  REQUIRE(eventually([&] { return patient.errors().ends_with(" UTC\n"); }));
  holder.signal(SIGTERM);
  const Program::Ending ending = patient.wait();
  CHECK(ending.code == 0);
  CHECK_THAT(ending.errors, redlock::testing::contains("\nredlock: took r after ") &&
                                redlock::testing::contains(", token "));
}
