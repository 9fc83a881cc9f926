// redlock run --metrics: the metrics file.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/metrics_text.hpp"
#include "support/network/raw_client.hpp"
#include "testing/process_group.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"
#include "tool/run/metrics_file.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::tool::MetricsFile;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}
double attempts(const MetricsText& text, const std::string& outcome) {
  const std::string series =
      "redlock_attempt_duration_seconds_count{resource=\"r\",kind=\"exclusive\",outcome=\"" + outcome + "\"}";
  return text.has(series) ? text[series] : 0;
}

/// A temporary folder.
struct Fixture {
  detail::ProcessGroup group;
  std::string file = group.folder() + "/a.prom";
};

}  // namespace

TEST_CASE("a_run_writes_its_metrics_file") {
  const Fixture f;
  LocalNodes nodes{3};
  start_deployment(nodes);
  const std::string go = f.group.folder() + "/go";
  Program holder{tool({"run", "--metrics", f.file, "r", "--", "sh", "-c",
                       "until [ -e " + go + " ]; do sleep 0.02; done"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(
      eventually([&] { return Observers{nodes}.having("r") == 3; }));  // so that no node is still connecting
  std::ofstream{go};
  CHECK(holder.wait().code == 0);
  const MetricsText text{read_file(f.file)};
  CHECK(attempts(text, "acquired") == 1);
  CHECK(text["redlock_hold_duration_seconds_count{resource=\"r\",kind=\"exclusive\",end=\"released\"}"] == 1);
  CHECK(text["redlock_losses_total{resource=\"r\",kind=\"exclusive\",reason=\"deleted\"}"] == 0);
  CHECK(text["redlock_node_ready{resource=\"r\",node=\"" + nodes.url(0) + "\"}"] == 1);
}

TEST_CASE("the_metrics_file_says_of_which_kind_the_lock_is") {
  const Fixture f;
  LocalNodes nodes{3};
  start_deployment(nodes);
  using Words = std::vector<std::string>;
  for (const auto& [options, kind] : {std::pair<Words, std::string>{{"run"}, "exclusive"},
                                      {{"run", "--shared"}, "shared"},
                                      {{"run", "--seats", "2"}, "seat"},
                                      {{"elect"}, "leader"}}) {
    CAPTURE(kind);
    Words words = options;
    words.insert(words.end(), {"--metrics", f.file, "r", "--", "true"});
    CHECK(run_tool(words, nodes.urls()).code == 0);
    const MetricsText text{read_file(f.file)};
    const std::string labels = "{resource=\"r\",kind=\"" + kind + "\"";
    CHECK(text["redlock_attempt_duration_seconds_count" + labels + ",outcome=\"acquired\"}"] == 1);
    CHECK(text["redlock_hold_duration_seconds_count" + labels + ",end=\"released\"}"] == 1);
    CHECK(text["redlock_losses_total" + labels + ",reason=\"deleted\"}"] == 0);
    for (const auto& [series, value] : text.values()) {
      CAPTURE(series);
      CHECK((value == 0 || series.find("kind=") == series.npos || series.find(labels) != series.npos));
    }
  }
}

TEST_CASE("runs_that_get_no_lock_are_counted_too") {
  const Fixture f;
  LocalNodes nodes{3};
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  const auto lease = locks.try_lock("r");
  REQUIRE(lease);
  CHECK(run_tool({"run", "-n", "--metrics", f.file, "r", "--", "true"}, nodes.urls()).code == 1);
  CHECK(attempts(MetricsText{read_file(f.file)}, "held") == 1);
  for (const int node : {0, 1}) nodes.kill(node);
  CHECK(run_tool({"run", "-n", "--metrics", f.file, "r", "--", "true"}, nodes.urls()).code == 69);
  CHECK(attempts(MetricsText{read_file(f.file)}, "no_quorum") == 1);
}

TEST_CASE("a_run_ended_by_a_signal_writes_its_file") {
  const Fixture f;
  LocalNodes nodes{3};
  // Without a shell: one that gets SIGINT just before it starts a program waits for the end of that program.
  Program holder{tool({"run", "--metrics", f.file, "r", "--", "sleep", "60"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return children_of(holder.id()) == 2; }));  // the watchdog and the command
  holder.signal(SIGINT);
  CHECK(holder.wait().code == 128 + SIGINT);
  CHECK(attempts(MetricsText{read_file(f.file)}, "acquired") == 1);
}

TEST_CASE("a_lost_lock_is_counted_with_its_reason") {
  const Fixture f;
  LocalNodes nodes{3};
  Program holder{
      tool({"run", "--ttl", "1s", "--metrics", f.file, "r", "--", "sh", "-c", "echo began; sleep 60"}),
      {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return holder.output() == "began\n"; }));
  for (int node = 0; node < 3; ++node) RawClient{nodes.port(node)}.del("r");
  CHECK(holder.wait().code == 72);
  const MetricsText text{read_file(f.file)};
  CHECK(text["redlock_losses_total{resource=\"r\",kind=\"exclusive\",reason=\"deleted\"}"] == 1);
  CHECK(text["redlock_hold_duration_seconds_count{resource=\"r\",kind=\"exclusive\",end=\"already_lost\"}"] ==
        1);
}

// Without the right to be told of changes the client reads its lease each sixth second.
TEST_CASE("a_lock_whose_keys_are_gone_when_the_command_ends_by_itself_is_reported_and_counted_as_lost") {
  const Fixture f;
  const LocalNodes nodes{3};
  std::string script;
  for (int node = 0; node < 3; ++node) {
    RawClient{nodes.port(node)}.command({"ACL", "SETUSER", "default", "-client|tracking"});
    script += "redis-cli -p " + std::to_string(nodes.port(node)) + " DEL r >&2; ";
  }
  const Program::Ending ending = run_tool(
      {"run", "--ttl", "60s", "--metrics", f.file, "r", "--", "sh", "-c", script + "exit 5"}, nodes.urls());
  CHECK(ending.code == 72);
  CHECK_THAT(ending.errors,
             contains("redlock: the lock r was lost before it was released: a majority of the nodes no "
                      "longer holds the lock\n  " +
                      nodes.url(0)));
  const MetricsText text{read_file(f.file)};
  CHECK(text["redlock_losses_total{resource=\"r\",kind=\"exclusive\",reason=\"deleted\"}"] == 1);
}

TEST_CASE("a_command_terminated_before_the_deadline_is_counted_as_a_loss") {
  const Fixture f;
  LocalNodes nodes{3};
  // SIGTERM comes 10 s before the deadline, and the command ends at once.
  Program holder{tool({"run", "--ttl", "20s", "--kill-after", "10s", "--metrics", f.file, "r", "--", "sh",
                       "-c", "echo began; exec sleep 60"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return holder.output() == "began\n"; }));
  for (const int node : {0, 1}) nodes.kill(node);
  CHECK(holder.wait().code == 72);
  const MetricsText text{read_file(f.file)};
  CHECK(text["redlock_losses_total{resource=\"r\",kind=\"exclusive\",reason=\"no_quorum\"}"] == 1);
  CHECK(text["redlock_hold_duration_seconds_count{resource=\"r\",kind=\"exclusive\",end=\"already_lost\"}"] ==
        1);
}

TEST_CASE("an_unwritable_file_is_a_warning_and_the_command_runs") {
  const Fixture f;
  LocalNodes nodes{3};
  const std::string file = f.group.folder() + "/none/a.prom";
  const auto ending = run_tool({"run", "--metrics", file, "r", "--", "echo", "ran"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(ending.output == "ran\n");
  CHECK(ending.errors ==
        "redlock: warning: cannot write the metrics: " + file + ": No such file or directory\n");
}

TEST_CASE("a_file_beyond_the_file_size_limit_is_a_warning_and_the_command_keeps_its_lock") {
  const Fixture f;
  LocalNodes nodes{1};
  const std::string text = "ulimit -f 1; exec " REDLOCK_TOOL " run --metrics " + f.file + " r -- echo done";
  const Program::Ending ending = Program{{"bash", "-c", text}, {nodes_variable(nodes.urls())}}.wait();
  CHECK(ending.code == 0);
  CHECK(ending.output == "done\n");
  CHECK_THAT(ending.errors, contains("redlock: warning: cannot write the metrics: "));
}

TEST_CASE("the_command_handles_the_file_size_limit_as_if_redlock_were_not_there") {
  LocalNodes nodes{1};
  const auto code = [&](const std::string& before) {
    const std::string text = before + "exec " REDLOCK_TOOL " run r -- sh -c 'kill -s XFSZ $$; exit 3'";
    return Program{{"bash", "-c", text}, {nodes_variable(nodes.urls())}}.wait().code;
  };
  CHECK(code("") == 128 + SIGXFSZ);
  CHECK(code("trap '' XFSZ; ") == 3);
}

TEST_CASE("the_file_is_kept_up_to_date_and_a_write_error_is_reported_once") {
  const Fixture f;
  const std::string folder = f.group.folder() + "/later";
  const std::string file = folder + "/a.prom";
  std::mutex mutex;
  std::vector<std::string> warnings;
  const auto warning_count = [&] {
    const std::lock_guard lock{mutex};
    return warnings.size();
  };
  {
    const MetricsFile metrics{file, "r",
                              [&](std::string_view warning) {
                                const std::lock_guard lock{mutex};
                                warnings.emplace_back(warning);
                              },
                              1ms};
    REQUIRE(eventually([&] { return warning_count() == 1; }));
    std::filesystem::create_directory(folder);
    REQUIRE(eventually([&] { return std::filesystem::exists(file); }));
    metrics.observer()->attempted({.resource = "r"});
    REQUIRE(eventually([&] { return attempts(MetricsText{read_file(file)}, "acquired") == 1; }));
    std::filesystem::rename(folder, f.group.folder() + "/gone");
  }
  CHECK(warning_count() == 1);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("without_a_path_there_is_no_observer") { CHECK_FALSE(MetricsFile{"", "r", nullptr}.observer()); }
