// What hostile servers and clients say does not reach the terminal as it is.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
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
          {"nodes", "--wait", "--timeout", "2s"},
          {"nodes", "init"},
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
/// Those that go on until they are terminated.
const std::vector<std::vector<std::string>> watching_calls{{"run", "r", "--", "true"},
                                                           {"run", "--shared", "r", "--", "true"},
                                                           {"run", "--seats", "1", "r", "--", "true"},
                                                           {"run", "r", "another", "--", "true"},
                                                           {"elect", "r", "--", "true"},
                                                           {"watch", "r"},
                                                           {"watch", "--json", "r"},
                                                           {"leader", "--watch", "cron"},
                                                           {"leader", "--watch", "--json", "cron"}};

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

/// All these calls at the same time.
struct Calls {
  Calls(std::string subject, const std::vector<std::string>& urls, const std::string& sequencer,
        const std::string& own)
      : name{std::move(subject)} {
    for (const auto& words : calls_about(sequencer, own)) start(words, urls);
    first_watching = programs.size();
    for (const auto& words : watching_calls) start(words, urls);
  }
  void start(const std::vector<std::string>& words, const std::vector<std::string>& urls) {
    names.push_back(name_of(words));
    programs.push_back(std::make_unique<Program>(tool(words), std::vector{nodes_variable(urls)}));
  }
  /// What each call has written until its end; that of a watching one follows its first line.
  std::map<std::string, std::string> texts() {
    std::map<std::string, std::string> all;
    for (std::size_t which = 0; which < programs.size(); ++which) {
      Program& program = *programs[which];
      if (which >= first_watching) {
        INFO(name << ", " << names[which]);
        REQUIRE(eventually([&] { return has_said_enough(program) || !program.is_running(); }));
        program.signal(SIGTERM);
      }
      const Program::Ending ending = program.wait();
      const std::string text = ending.output + ending.errors;
      INFO(name << ", " << names[which] << ": " << text);
      CHECK(std::ranges::all_of(text, is_plain));
      const bool waits = names[which].starts_with("run") || names[which].starts_with("elect");
      CHECK((ending.code < 128 || (waits && ending.code == 128 + SIGTERM)));
      all[names[which]] = text;
    }
    return all;
  }

  std::string name;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Program>> programs;
  std::size_t first_watching = 0;
};

/// Calls of the command whose first node is hostile.
struct BesetCalls {
  BesetCalls(const Attack& attack, const LocalNodes& nodes, const std::string& sequencer,
             const std::string& own)
      : proxy{nodes.port(0)}, calls{attack.name, beset(attack, nodes), sequencer, own} {}
  std::vector<std::string> beset(const Attack& attack, const LocalNodes& nodes) {
    proxy.rewrite({});
    attack.begin(proxy);
    std::vector<std::string> urls = nodes.urls();
    urls.front() = proxy.url();
    return urls;
  }

  Proxy proxy;
  Calls calls;
};

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
  std::vector<redlock::Lease> own;
  std::vector<std::unique_ptr<BesetCalls>> all;
  for (const Attack& attack : all_attacks(std::string(40, '0'))) {
    if (!attack.name.starts_with("escapes")) continue;
    own.push_back(locks.lock(attack.name, options).value());
    all.push_back(std::make_unique<BesetCalls>(attack, nodes, lease.sequencer().to_string(), attack.name));
  }
  REQUIRE(all.size() == 5);
  std::string shown;
  for (const auto& beset : all)
    for (const auto& [call, text] : beset->calls.texts()) shown += text;
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
  Calls calls{"holders", nodes.urls(), named.sequencer().to_string(), "own"};
  const std::map<std::string, std::string> texts = calls.texts();
  CHECK(texts.size() == calls.names.size());
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
