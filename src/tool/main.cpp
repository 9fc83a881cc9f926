// redlock: locks for commands. What it does is in run.hpp and status.hpp; here is what it understands.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "redlock/error.hpp"
#include "tool/exit_code.hpp"
#include "tool/run/command.hpp"
#include "tool/run/run.hpp"
#include "tool/run/signal_watch.hpp"
#include "tool/status.hpp"
#include "tool/time_text.hpp"

namespace {

using namespace redlock::tool;

constexpr const char* about =
    "Locks on a majority of independent Redis nodes, for commands.\n\n"
    "  redlock run --local 5 demo -- sh -c 'echo $REDLOCK_OWNER'   to try it: five private servers\n"
    "  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3\n"
    "  redlock run -n backup -- backup.sh      one backup at a time, whatever machine it starts on\n"
    "  redlock status backup                   who holds it";

constexpr const char* about_run =
    "Takes the lock RESOURCE, runs CMD under it, extends the lock while CMD runs, and releases it.\n"
    "CMD never runs on past the lock: when it cannot be kept, CMD's process group gets SIGTERM, and\n"
    "SIGKILL at the lock's deadline. CMD finds REDLOCK_RESOURCE, REDLOCK_OWNER, REDLOCK_FENCING_TOKEN and\n"
    "REDLOCK_DEADLINE_MS (CLOCK_BOOTTIME) in its environment.";

constexpr const char* run_exit_codes =
    "Exit codes: CMD's own (128 + N when signal N ended it); 1 somebody else has the lock (-E); 64 bad\n"
    "usage or configuration; 69 no majority of the nodes; 72 the lock was lost and CMD ended; 126 CMD is\n"
    "not executable; 127 CMD was not found.";

constexpr const char* about_status = "Asks every node who holds RESOURCE, and says what that means.";

constexpr const char* status_exit_codes =
    "Exit codes: 0 a majority of the nodes answered alike; 64 bad usage or configuration; 69 no majority can "
    "tell.";

/// CLI11 knows nothing of what stands behind `--`.
struct RunFormatter : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: redlock run [OPTIONS] RESOURCE -- CMD...\n";
  }
};

/// An option whose value `parse` understands; what it throws is bad usage.
template <class Parse, class Value>
CLI::Option* add_time(CLI::App& command, const std::string& name, Parse parse, Value& value,
                      const std::string& text) {
  return command.add_option_function<std::string>(
      name,
      [&value, parse, name](const std::string& given) {
        try {
          value = parse(given);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError{name, error.what()};
        }
      },
      text);
}

void add_nodes(CLI::App& command, NodeChoice& nodes) {
  command
      .add_option(
          "--node", nodes.urls,
          "a node, such as redis://user:password@10.0.0.1:6379/0 or unix:///run/redis.sock; once for\n"
          "each. Without any, REDLOCK_NODES is used: a list with commas")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      .add_option("--local", nodes.local,
                  "start N private servers for the time of this command, to try it out")
      ->type_name("N")
      ->check(CLI::Range(1, 31));
  command
      .add_option("--restart-guard", nodes.restart_guard,
                  "what becomes of nodes that lost their data: automatic (default), strict, where new nodes\n"
                  "wait as well, or off. Without it REDLOCK_RESTART_GUARD is used")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"automatic", "strict", "off"}));
  command.add_flag("--durable-nodes", nodes.durable_nodes,
                   "the nodes write to disk before they answer (appendfsync always), so a restart loses\n"
                   "nothing. The same: REDLOCK_DURABLE_NODES=1");
  add_time(command, "--max-ttl", parse_time, nodes.max_ttl,
           "the longest ttl of any lock on these nodes, which a node that lost its data waits for (default\n"
           "60s). Without it REDLOCK_MAX_TTL is used. All users of the nodes must agree on these three")
      ->type_name("TIME");
}

CLI::App* add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App* const run = app.add_subcommand("run", about_run);
  run->formatter(std::make_shared<RunFormatter>());
  run->footer(run_exit_codes);
  add_nodes(*run, arguments.nodes);
  add_time(*run, "--ttl", parse_time, arguments.ttl,
           "how long the lock outlives a holder that died, 10ms to --max-ttl (default 30s)")
      ->type_name("TIME");
  CLI::Option* const nonblock = run->add_flag_function(
      "-n,--nonblock", [&arguments](std::int64_t) { arguments.wait = std::chrono::nanoseconds{0}; },
      "give up at once when somebody else has the lock");
  add_time(*run, "-w,--wait", parse_seconds, arguments.wait,
           "give up after so many seconds; without -n and -w it waits as long as somebody has the lock")
      ->type_name("SECS")
      ->take_last()
      ->excludes(nonblock);
  run->add_option("-E,--conflict-exit-code", arguments.conflict_code,
                  "exit code when somebody else has the lock (default 1)")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
  add_time(*run, "--kill-after", parse_time, arguments.kill_after,
           "how long before the deadline CMD is asked to end, at most half of the ttl (default 5s)")
      ->type_name("TIME");
  run->add_option(
         "--metrics", arguments.metrics,
         "write counts and times there, for node_exporter's textfile collector: every 15s, and at the end")
      ->type_name("FILE");
  run->add_option("RESOURCE", arguments.resource,
                  "what to lock: 1 to 4096 bytes, not beginning with -, ++ or redlock:")
      ->required();
  return run;
}

CLI::App* add_status(CLI::App& app, StatusArguments& arguments) {
  CLI::App* const status = app.add_subcommand("status", about_status);
  status->footer(status_exit_codes);
  add_nodes(*status, arguments.nodes);
  status->add_flag("--json", arguments.json, "print JSON instead of a table");
  status->add_option("RESOURCE", arguments.resource, "the lock")->required();
  return status;
}

/// What stands before `--` is ours, what stands behind it the command's, word for word.
int parse_and_run(const std::vector<std::string>& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> ours{words.begin(), mark};
  std::reverse(ours.begin(), ours.end());  // as CLI11 takes them

  CLI::App app{about, "redlock"};
  app.set_version_flag("--version", "redlock " REDLOCK_VERSION);
  RunArguments run_arguments;
  StatusArguments status_arguments;
  CLI::App* const run_command = add_run(app, run_arguments);
  CLI::App* const status_command = add_status(app, status_arguments);
  if (mark != words.end()) run_arguments.command.assign(mark + 1, words.end());
  try {
    app.parse(std::move(ours));
    // Asked for here: CLI11 would ask before it tells which word it does not know.
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
    if (run_command->parsed() && run_arguments.command.empty())
      throw CLI::RequiredError{"-- CMD (the command to run)"};
    if (status_command->parsed() && mark != words.end()) throw CLI::ExtrasError{{"--"}};
  } catch (const CLI::ExtrasError& error) {
    if (mark != words.end() || !run_command->parsed()) return app.exit(error), usage;
    std::cerr << "redlock: put -- before the command, as in: redlock run RESOURCE -- CMD\n";
    return usage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? success : usage;
  }
  if (status_command->parsed()) return status(status_arguments);
  const Ending ending = run(run_arguments);
  if (ending.signal != 0) die_of(ending.signal);
  return ending.code;
}

/// So that no descriptor of ours becomes stdin, stdout or stderr; for the command they stay closed.
void open_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  ::close(opened);
}

int exit_code_of(const std::error_code& code) {
  return code == redlock::Errc::misconfigured ? usage : no_quorum;
}

}  // namespace

int main(int argc, char** argv) try {
  open_standard_descriptors();
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody hears how a child ended
  return parse_and_run({argv + 1, argv + argc});
} catch (const NotExecuted& error) {
  std::cerr << "redlock: " << error.what() << '\n';
  return error.code() == std::errc::no_such_file_or_directory ? not_found : not_executable;
} catch (const redlock::Error& error) {
  std::cerr << "redlock: " << error.what() << '\n';
  return exit_code_of(error.code());
} catch (const std::exception& error) {
  std::cerr << "redlock: " << error.what() << '\n';
  return internal_error;
}
