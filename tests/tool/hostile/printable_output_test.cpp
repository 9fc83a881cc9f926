// What hostile servers and clients say does not reach the terminal as it is.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/hostile/attacks.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"
#include "support/temp_folder.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"

namespace {

using namespace redlock::testing;

/// The names of the library's texts and tables are ASCII, and so are those of this test.
bool is_plain(char byte) { return byte == '\n' || (byte >= ' ' && byte <= '~'); }

/// The commands that print something about nodes and locks, in text and as JSON. `own`: a lock that only these calls release.
std::vector<std::vector<std::string>> calls_about(const std::string& sequencer, const std::string& own) {
  return {{"nodes"},
          {"nodes", "--json"},
          {"nodes", "--resource", "r"},
          {"nodes", "--json", "--resource", "r"},
          {"nodes", "--wait", "--timeout", "2s"},
          {"nodes", "init"},
          {"nodes", "set", "--max-ttl", "90s"},
          {"status", "r"},
          {"status", "--json", "r"},
          {"list"},
          {"list", "--json"},
          {"leader", "cron"},
          {"leader", "--json", "cron"},
          {"check", sequencer},
          {"check", "--json", sequencer},
          {"revoke", "r", escapes},
          {"release", "--force", "--yes", own}};
}
/// Those that go on until they are terminated. `metrics`: a file that one of them writes.
std::vector<std::vector<std::string>> watching_calls(const std::string& metrics) {
  return {{"run", "r", "--", "true"},
          {"run", "--shared", "r", "--", "true"},
          {"run", "--seats", "1", "r", "--", "true"},
          {"run", "--metrics", metrics, "r", "--", "true"},
          {"run", "r", "another", "--", "true"},
          {"elect", "r", "--", "true"},
          {"watch", "r"},
          {"watch", "--json", "r"},
          {"leader", "--watch", "cron"},
          {"leader", "--watch", "--json", "cron"}};
}

/// The command, and what tells it from the other calls: options, a subcommand, a second lock.
std::string name_of(const std::vector<std::string>& words) {
  std::string name = words[0];
  for (const std::string& word : words)
    if ((word.starts_with("--") && word != "--") || word == "init" || word == "another") name += " " + word;
  return name;
}

/// Whether a call that goes on has written its first line, which is a message if it waits for one of its locks.
bool has_said_enough(const Program& program) {
  const std::string messages = program.errors();
  const auto says = [&](const std::string& beginning) {
    const std::size_t begin = messages.find(beginning);
    return begin != std::string::npos && messages.find('\n', begin) != std::string::npos;
  };
  return program.output().ends_with('\n') || says("waiting for r: ") || says("waiting for another: ");
}

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// What this call of that name has written until its end, which may only be printable. A call that goes on is terminated
/// after its first line.
std::string text_of(const std::string& name, Program& program, bool goes_on) {
  if (goes_on) {
    INFO(name);
    REQUIRE(eventually([&] { return has_said_enough(program) || !program.is_running(); }));
    program.signal(SIGTERM);
  }
  const Program::Ending ending = program.wait();
  std::string text = ending.output + ending.errors;
  INFO(name << ": " << text);
  CHECK(std::ranges::all_of(text, is_plain));
  const bool waits = name.starts_with("run") || name.starts_with("elect");
  CHECK((ending.code < 128 || (waits && ending.code == 128 + SIGTERM)));
  return text;
}

/// Runs all these calls, and returns their texts by their names. Six at a time: most of them wait, but each takes a
/// processor to start.
std::map<std::string, std::string> texts_of_calls(const std::vector<std::string>& urls,
                                                  const std::string& sequencer, const std::string& own) {
  constexpr std::size_t at_once = 6;
  std::vector<std::vector<std::string>> calls = calls_about(sequencer, own);
  const std::size_t first_that_goes_on = calls.size();
  const TempFolder folder;
  const std::string metrics = folder.path() / "metrics";
  for (std::vector<std::string>& call : watching_calls(metrics)) calls.push_back(std::move(call));
  std::map<std::string, std::string> texts;
  for (std::size_t begin = 0; begin < calls.size(); begin += at_once) {
    const std::size_t end = std::min(begin + at_once, calls.size());
    std::vector<std::unique_ptr<Program>> programs;
    for (std::size_t which = begin; which < end; ++which)
      programs.push_back(std::make_unique<Program>(tool(calls[which]), std::vector{nodes_variable(urls)}));
    for (std::size_t which = begin; which < end; ++which) {
      const std::string name = name_of(calls[which]);
      texts[name] = text_of(name, *programs[which - begin], which >= first_that_goes_on);
    }
  }
  CHECK(texts.size() == calls.size());
  const std::string written = read_file(metrics);
  INFO(written);
  CHECK_THAT(written, contains("\nredlock_node_ready{resource=\"r\",node=\""));
  CHECK(std::ranges::all_of(written, is_plain));
  return texts;
}

/// Whether the text has the escapes as the command writes them: CSI of C0 and of C1, an override of the direction, and
/// a space of no width.
void check_escaped(const std::string& text, bool is_json) {
  for (const char* const part :
       is_json ? std::array{"\\u001b[2J", "\\u009b3", "\\u202e", "\\u200b"}
               : std::array{"\\x1b[2J", "\\xc2\\x9b3", "\\xe2\\x80\\xae", "\\xe2\\x80\\x8b"})
    CHECK_THAT(text, contains(part));
}

}  // namespace

TEST_CASE("the_command_shows_printable_text_about_a_hostile_node") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  const redlock::LockOptions options{.ttl = std::chrono::seconds{60}};
  const redlock::Lease lease = locks.lock("r", options).value();
  int attacks = 0;
  std::string shown;
  for (const Attack& attack : all_attacks(std::string(40, '0'))) {
    if (!attack.name.starts_with("escapes")) continue;
    CAPTURE(attack.name);
    ++attacks;
    const redlock::Lease own = locks.lock(attack.name, options).value();
    Proxy hostile{nodes.port(0)};
    hostile.rewrite({});
    attack.begin(hostile);
    for (const auto& [call, text] : texts_of_calls({hostile.url(), nodes.url(1), nodes.url(2)},
                                                   lease.sequencer().to_string(), attack.name))
      shown += text;
  }
  CHECK(attacks == 5);
  CHECK_THAT(shown, contains("\\x1b[2J") && contains("\\u001b[2J"));
}

TEST_CASE("the_command_shows_printable_text_about_hostile_holders") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  const redlock::LockOptions options{.ttl = std::chrono::seconds{60}, .label = escapes};
  const redlock::Lease lease = locks.lock("r", options).value();
  const redlock::Lease seat = locks.lock("r#0", options).value();
  const redlock::Lease own = locks.lock("own", options).value();
  const redlock::Lease named = locks.lock(escapes, options).value();
  const redlock::Lease leader =
      redlock::Election{locks, "cron", escapes, {.ttl = std::chrono::seconds{60}}}.campaign().value();
  const std::map<std::string, std::string> texts =
      texts_of_calls(nodes.urls(), named.sequencer().to_string(), "own");
  for (const auto& [call, text] : texts) {
    // Nodes have no holders, seats have many, and the code of `check` says it all.
    if (call.starts_with("nodes") || call == "run --seats" || call == "check") continue;
    CAPTURE(call);
    check_escaped(text, call.ends_with("--json"));
  }
  for (const char* const call : {"run", "run --shared", "run another", "elect"})
    CHECK_THAT(texts.at(call), contains("waiting for r: ") && contains("held by "));
  CHECK_THAT(texts.at("run --seats"), contains("waiting for r: "));
  CHECK_THAT(texts.at("release --force --yes"), contains("Released own, held by "));
}

TEST_CASE("the_command_shows_printable_text_about_hostile_readers_and_requests") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  redlock::Redlock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  const redlock::Lease reader =
      locks.lock("r", {.ttl = std::chrono::seconds{60}, .shared = true, .label = escapes}).value();
  Program job{tool({"run", "--revocable", "-w", "20", "job", "--", "sh", "-c", "echo begun; exec sleep 600"}),
              {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
  CHECK(run_tool({"revoke", "job", escapes}, nodes.urls()).code == 0);
  std::vector<std::string> texts{job.wait().errors};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status", "r"},
                                                {"status", "--json", "r"},
                                                {"list", "--json"},
                                                {"check", escapes},
                                                {"status", escapes},
                                                {"release", "--force", "--yes", "r"}}) {
    const Program::Ending ending = run_tool(words, nodes.urls());
    texts.push_back(ending.output + ending.errors);
  }
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(std::ranges::all_of(text, is_plain));
    check_escaped(text, text.starts_with('{'));
  }
}
