// What the command does with locks that readers share.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
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

/// Two readers of a lock, on all nodes. They do not renew themselves.
struct Shared {
  explicit Shared(const LocalNodes& servers, std::string key_prefix = "", const std::string& resource = "r")
      : nodes{servers},
        locks{endpoints(servers),
              {.restart_guard = redlock::RestartGuard::off, .key_prefix = std::move(key_prefix)}},
        first{take(resource, "web1:17 report")},
        second{take(resource, "web2:18 import\x1b")} {}

  redlock::Lease take(const std::string& resource, const std::string& label) {
    redlock::Lease lease = locks.lock(resource, {.ttl = 1h, .shared = true, .label = label}).value();
    REQUIRE(eventually([&] {
      const auto on_node = [&](const redlock::NodeReport& node) {
        return std::ranges::count(node.readers, lease.owner_value()) == 1;
      };
      return std::ranges::all_of(locks.inspect(resource), on_node);
    }));
    return lease;
  }
  Program::Ending run(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--restart-guard", "off"});
    return run_tool(std::move(words), nodes.urls());
  }
  /// The readers that the nodes show.
  std::size_t readers() { return readers_in(locks.inspect("r")).size(); }

  const LocalNodes& nodes;
  redlock::Redlock locks;
  redlock::Lease first;
  redlock::Lease second;
};

/// The label and the beginning of the owner value, as people see them.
std::string name_of(const redlock::Lease& lease, const std::string& label) {
  return lease.owner_value().substr(0, 8) + ' ' + label;
}

}  // namespace

TEST_CASE("a_shared_command_runs_beside_other_readers_but_not_beside_a_writer") {
  const LocalNodes nodes{3};
  const auto start = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", "echo begun; exec sleep 600"});
    return Program{tool(options), {nodes_variable(nodes.urls())}};
  };
  const auto ends_with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "-n"});
    options.insert(options.end(), {"--", "true"});
    return run_tool(options, nodes.urls()).code;
  };
  {
    Program reader = start({"--shared", "r", "s"});
    REQUIRE(last_line_has(reader, "begun"));
    CHECK(ends_with({"--shared", "r"}) == 0);
    CHECK(ends_with({"--shared", "s", "r"}) == 0);
    CHECK(ends_with({"r"}) == 1);
    CHECK(ends_with({"s"}) == 1);
    CHECK(ends_with({"s", "another"}) == 1);
    reader.signal(SIGTERM);
    CHECK(reader.wait().code == 128 + SIGTERM);
  }
  Program writer = start({"r"});
  REQUIRE(last_line_has(writer, "begun"));
  CHECK(ends_with({"--shared", "r"}) == 1);
  CHECK(ends_with({"--shared", "s"}) == 0);
  writer.signal(SIGTERM);
  writer.wait();
}

TEST_CASE("a_shared_command_has_the_sequencer_of_a_reader_and_a_token_that_the_next_writer_exceeds") {
  const LocalNodes nodes{3};
  const Program::Ending reader =
      run_tool({"run", "--shared", "r", "--", "sh", "-c",
                "echo $REDLOCK_SEQUENCER $REDLOCK_FENCING_TOKEN; " REDLOCK_TOOL " check $REDLOCK_SEQUENCER"},
               nodes.urls());
  REQUIRE(reader.code == 0);
  CHECK(reader.output.starts_with("redlock1;s;"));
  CHECK_THAT(reader.output, contains("valid"));
  const auto token_in = [](const std::string& text) { return std::stoull(text.substr(text.find(' ') + 1)); };
  const Program::Ending writer =
      run_tool({"run", "r", "--", "sh", "-c", "echo x $REDLOCK_FENCING_TOKEN"}, nodes.urls());
  CHECK(token_in(writer.output) > token_in(reader.output));
}

TEST_CASE("shared_is_refused_with_options_that_only_another_lock_can_have") {
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"--seats", "2"}, {"--at-least", "1s"}}) {
    std::vector<std::string> words{"run", "--shared", "r", "--", "true"};
    words.insert(words.begin() + 1, others.begin(), others.end());
    const Program::Ending refused = run_tool(words, {"redis://127.0.0.1:1"});
    CHECK(refused.code == 64);
    CHECK_THAT(refused.errors, contains(others.front() + " excludes --shared"));
  }
}

TEST_CASE("status_shows_how_many_readers_have_a_lock_and_who_they_are") {
  const LocalNodes nodes{3};
  Shared shared{nodes};
  const std::string first = name_of(shared.first, "web1:17 report");
  const std::string second = name_of(shared.second, "web2:18 import\\x1b");
  const Program::Ending text = shared.run({"status", "r"});
  CHECK(text.code == 0);
  CHECK_THAT(text.output, contains("  shared  2 readers  59 min "));
  CHECK_THAT(text.output, contains("\nr is held by 2 readers: "));
  CHECK_THAT(text.output, contains(first));
  CHECK_THAT(text.output, contains(second));

  const auto json = nlohmann::json::parse(shared.run({"status", "--json", "r"}).output);
  CHECK(json["state"] == "shared");
  CHECK_FALSE(json.contains("owner"));
  CHECK(json["ttl_ms"].get<long>() > 3'000'000);
  REQUIRE(json["readers"].size() == 2);
  std::set<std::string> labels;
  for (const auto& reader : json["readers"]) {
    labels.insert(reader["label"]);
    CHECK(reader["since"].get<long>() > 0);
  }
  CHECK(labels == std::set<std::string>{"web1:17 report", "web2:18 import\x1b"});
  for (const auto& node : json["nodes"]) {
    CHECK(node["state"] == "shared");
    CHECK_FALSE(node.contains("owner"));
    CHECK(node["readers"].size() == 2);
  }
}

TEST_CASE("list_shows_the_number_of_readers_and_no_key_of_a_reader") {
  const LocalNodes nodes{1};
  Shared shared{nodes};
  const std::string text = shared.run({"list"}).output;
  CHECK_THAT(text, contains("\nr         shared  2 readers  -            59 min "));
  CHECK(text.find("redlock:") == std::string::npos);
  const auto json = nlohmann::json::parse(shared.run({"list", "--json"}).output);  // one line
  CHECK(json["resource"] == "r");
  CHECK(json["state"] == "shared");
  CHECK(json["copies"] == 1);
  CHECK(json["readers"].size() == 2);
  CHECK_FALSE(json.contains("owner"));
}

TEST_CASE("a_key_of_a_reader_is_no_lock_of_a_prefix_with_which_it_begins") {
  const LocalNodes nodes{1};
  Shared shared{nodes, "re", "port"};
  const Program::Ending listed = shared.run({"list", "--json", "--key-prefix", "re"});
  CHECK(listed.code == 0);
  CHECK(nlohmann::json::parse(listed.output)["resource"] == "port");
}

TEST_CASE("watch_prints_a_line_when_a_reader_comes_or_goes") {
  const LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  const redlock::LockOptions reading{.ttl = 1h, .shared = true, .label = "web1:17"};
  for (const std::string resource : {"r", "order/17"}) {  // one begins as the keys of its readers do
    Program watch{tool({"watch", "--restart-guard", "off", resource}), {nodes_variable(nodes.urls())}};
    Program json{tool({"watch", "--json", "--restart-guard", "off", resource}),
                 {nodes_variable(nodes.urls())}};
    REQUIRE(last_line_has(watch, "free"));
    redlock::Lease first = locks.lock(resource, reading).value();
    REQUIRE(last_line_has(watch, " UTC  held by 1 reader: " + name_of(first, "web1:17")));
    redlock::Lease second = locks.lock(resource, reading).value();
    REQUIRE(last_line_has(watch, " UTC  held by 2 readers: "));
    REQUIRE(last_line_has(json, second.owner_value()));
    const std::string output = json.output();
    const std::size_t begin = output.rfind('\n', output.size() - 2) + 1;
    const auto last = nlohmann::json::parse(output.substr(begin));
    CHECK(last["state"] == "shared");
    CHECK(last["readers"].size() == 2);
    CHECK_FALSE(last.contains("owner"));
    first.release();
    REQUIRE(last_line_has(watch, " UTC  held by 1 reader: " + name_of(second, "web1:17")));
    second.release();
    REQUIRE(last_line_has(watch, "free"));
  }
}

TEST_CASE("of_many_readers_the_first_hundred_are_named_and_all_are_counted_and_released") {
  const LocalNodes nodes{3};
  Shared shared{nodes};
  std::vector<redlock::Lease> more;
  for (int reader = 0; reader < 248; ++reader)
    more.push_back(
        shared.locks.lock("r", {.ttl = 1h, .shared = true, .label = "web" + std::to_string(reader)}).value());
  REQUIRE(eventually([&] { return redlock::reader_count_in(shared.locks.inspect("r")) == 250; }));
  CHECK_THAT(shared.run({"list"}).output, contains("  250 readers  "));
  const Program::Ending text = shared.run({"status", "r"});
  CHECK_THAT(text.output, contains("\nr is held by 250 readers: "));
  CHECK_THAT(text.output, contains(", and 150 more, for 59 min "));
  const auto json = nlohmann::json::parse(shared.run({"status", "--json", "r"}).output);
  CHECK(json["readers"].size() == 100);
  CHECK(json["reader_count"] == 250);

  const Program::Ending all = shared.run({"release", "--force", "--yes", "r"});
  CHECK(all.code == 0);
  CHECK(all.output.ends_with(": its copies are gone from 3 of 3 nodes.\n"));
  CHECK_THAT(all.output, contains(" web247"));
  Observers servers{nodes};
  for (const std::string key : {"r", "redlock:s:{r}"}) CHECK(servers.having(key) == 0);
}

TEST_CASE("a_forced_release_of_one_reader_leaves_the_others_alone") {
  const LocalNodes nodes{3};
  Shared shared{nodes};
  const std::string owner = shared.first.owner_value();
  const Program::Ending one = shared.run({"release", "--force", "r", "--owner", owner.substr(0, 20)});
  CHECK(one.code == 0);
  CHECK(one.output == "Released r for " + name_of(shared.first, "web1:17 report") +
                          ": its copies are gone from 3 of 3 nodes.\n");
  const auto readers = readers_in(shared.locks.inspect("r"));
  REQUIRE(readers.size() == 1);
  CHECK(readers.front().owner_value == shared.second.owner_value());
  std::error_code error;
  CHECK(shared.second.extend(error));
  CHECK_FALSE(shared.first.extend(error));

  const Program::Ending again = shared.run({"release", "--force", "r", "--owner", owner});
  CHECK(again.code == 1);
  CHECK_THAT(again.errors, contains("No node has a copy with the owner value of --owner."));
  CHECK(shared.run({"release", "--force", "r", "--owner", "redlock:shared"}).code == 1);
  CHECK(shared.readers() == 1);
}

TEST_CASE("a_forced_release_without_an_owner_releases_the_lock_for_all_readers") {
  const LocalNodes nodes{3};
  Shared shared{nodes};
  const Program::Ending all = shared.run({"release", "--force", "--yes", "r"});
  CHECK(all.code == 0);
  CHECK(all.output.starts_with("Released r for "));
  CHECK_THAT(all.output, contains(name_of(shared.first, "web1:17 report")));
  CHECK_THAT(all.output, contains(name_of(shared.second, "web2:18 import\\x1b")));
  CHECK(all.output.ends_with(": its copies are gone from 3 of 3 nodes.\n"));
  Observers servers{nodes};
  for (const std::string key : {"r", "redlock:s:{r}"}) CHECK(servers.having(key) == 0);
  CHECK(run_tool({"run", "-n", "r", "--", "true"}, nodes.urls()).code == 0);
}

TEST_CASE("a_forced_release_ends_the_command_of_a_reader_at_once") {
  const LocalNodes nodes{3};
  Program reader{
      tool({"run", "--shared", "--ttl", "60s", "r", "--", "sh", "-c", "echo $REDLOCK_OWNER; exec sleep 600"}),
      {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return reader.output().ends_with('\n'); }));
  const std::string owner = reader.output().substr(0, reader.output().size() - 1);
  CHECK(run_tool({"release", "--force", "r", "--owner", owner}, nodes.urls()).code == 0);
  const Program::Ending ending = reader.wait();
  CHECK(ending.code == 72);
  CHECK_THAT(ending.errors, contains("a majority of the nodes no longer holds the lock"));
}

TEST_CASE("a_forced_release_of_a_former_writer_leaves_readers_alone") {
  const LocalNodes nodes{3};
  Shared shared{nodes};
  const std::string writer(40, 'a');
  RawClient{nodes.port(0)}.command({"SET", "r", writer, "PX", "3600000"});
  const Program::Ending refused = shared.run({"release", "--force", "r", "--owner", writer});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.errors, contains("released nothing: r is held by 2 readers: "));
  CHECK_THAT(refused.errors, contains(" The owner value of --owner is no reader's."));
  CHECK(RawClient{nodes.port(0)}.get("r") == writer);
}

TEST_CASE("a_forced_release_says_that_no_node_names_the_readers") {
  const LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  server.command({"SET", "r", "redlock:shared", "PX", "3600000"});
  const Program::Ending refused = run_tool({"release", "--force", "--yes", "r"}, nodes.urls());
  CHECK(refused.code == 1);
  CHECK_THAT(refused.errors, contains("nothing to release: r is held by readers, for "));
  CHECK_THAT(refused.errors, contains(" No node says who the readers are."));
  CHECK(server.get("r") == "redlock:shared");
}

TEST_CASE("revoke_asks_all_readers") {
  const LocalNodes nodes{3};
  const auto start = [&] {
    return Program{tool({"run", "--shared", "--revocable", "r", "--", "sh", "-c",
                         "trap 'exit 7' TERM; echo begun; while :; do sleep 0.01; done"}),
                   {nodes_variable(nodes.urls())}};
  };
  Program first = start();
  Program second = start();
  REQUIRE(last_line_has(first, "begun"));
  REQUIRE(last_line_has(second, "begun"));
  const Program::Ending asked = run_tool({"revoke", "r", "a count begins"}, nodes.urls());
  INFO(asked.errors);
  CHECK(asked.code == 0);
  CHECK(asked.output == "Asked all readers to give up r.\n");
  CHECK(first.wait().code == 7);
  CHECK(second.wait().code == 7);
  CHECK_THAT(first.errors(),
             contains("asked to give up the lock, so the command is terminated: a count begins"));
}

TEST_CASE("without_the_rights_of_shared_locks_the_command_says_which_one_is_missing") {
  const LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  const auto run_as = [&](const std::vector<std::string>& features, const std::string& prefix) {
    std::vector<std::string> words{"acl", "--user", "app", "--key-prefix", prefix, "--for"};
    words.insert(words.end(), features.begin(), features.end());
    std::istringstream line{run_tool(words).output};
    std::vector<std::string> command;
    for (std::string word; line >> word;) command.push_back(word == ">PASSWORD" ? ">secret" : word);
    REQUIRE(server.command(command) == "OK");
    return run_tool({"run", "-n", "--shared", "--key-prefix", prefix, "r", "--", "true"},
                    {"redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(0))});
  };
  for (const std::string prefix : {"", "app:"}) {
    CAPTURE(prefix);
    const Program::Ending refused = run_as({"fenced", "renewed", "waiting"}, prefix);
    CHECK(refused.code == 64);
    CHECK_THAT(refused.errors, contains("no permission"));
    CHECK_THAT(refused.errors, contains("docs/errors.md"));
    CHECK(run_as({"shared", "renewed", "waiting"}, prefix).code == 0);
  }
}
