// The command line of redlock. The commands themselves are in run/, locks/, nodes/ and status.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.hpp"
#include "redlock/version.hpp"
#include "tool/command_line/near_miss.hpp"
#include "tool/exit_code.hpp"
#include "tool/locks/list.hpp"
#include "tool/locks/release.hpp"
#include "tool/locks/watch.hpp"
#include "tool/nodes/commands.hpp"
#include "tool/run/command.hpp"
#include "tool/run/run.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/status.hpp"
#include "tool/time_text.hpp"
#include "tool/watch/init_process.hpp"
#include "values/time_text.hpp"

namespace {

using namespace redlock::tool;
namespace detail = redlock::detail;

constexpr const char* about =
    "Runs a command under a distributed lock on a majority of independent Redis nodes.\n\n"
    "Try it on five private servers:\n"
    "  redlock run --local 5 demo -- sh -c 'echo $REDLOCK_OWNER'\n\n"
    "Run one backup at a time across all machines, then see who holds the lock:\n"
    "  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3\n"
    "  redlock run -n backup -- backup.sh\n"
    "  redlock status backup\n";

constexpr const char* about_run =
    "Runs CMD while holding the lock RESOURCE. Extends the lock while CMD runs and releases it afterwards.\n"
    "CMD never outlives the lock: if the lock cannot be extended, CMD's process group gets SIGTERM, and\n"
    "SIGKILL just before the lock's deadline. CMD's environment contains REDLOCK_RESOURCE, REDLOCK_OWNER,\n"
    "REDLOCK_FENCING_TOKEN and REDLOCK_DEADLINE_MS (measured by CLOCK_BOOTTIME).";

constexpr const char* run_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  CMD's own, or 128 + N if signal N ended CMD\n"
    "  1    somebody else has the lock (change this code with -E)\n"
    "  64   wrong usage or configuration\n"
    "  69   no majority of the nodes was available\n"
    "  70   the system refused memory, a process or the like\n"
    "  72   the lock could not be kept, so CMD was terminated\n"
    "  126  CMD is not executable\n"
    "  127  CMD was not found";

constexpr const char* about_status =
    "Asks every node who holds the lock RESOURCE, and prints the answers and the result. Changes nothing.";

constexpr const char* status_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the result is certain: the lock is held or free\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered to tell";

constexpr const char* about_list =
    "Prints what is locked: each resource that begins with PREFIX, or every one. Changes nothing. Goes "
    "through the\n"
    "keys of the nodes in small steps, so it delays no client, and needs little memory. COPIES says how "
    "many\n"
    "nodes have the holder's value: a lock is held if most of them do. Locks that are taken or released\n"
    "meanwhile may be missing.";

constexpr const char* list_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the list is complete\n"
    "  64   wrong usage or configuration\n"
    "  69   too few nodes answered, so locks may be missing";

constexpr const char* about_watch =
    "Prints who holds the lock RESOURCE, and a line whenever that changes: held, free, or unknown because "
    "too few\n"
    "nodes answer. Asks the nodes ten times a second; a change that is undone sooner is not seen. Changes\n"
    "nothing. Ends with Ctrl-C or SIGTERM.";

constexpr const char* watch_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    ended by SIGINT or SIGTERM\n"
    "  64   wrong usage or configuration\n"
    "  128+N  ended by signal N";

constexpr const char* about_release =
    "Ends the lock RESOURCE although another process holds it: deletes its copies on all nodes where they "
    "still\n"
    "belong to that holder. The holder loses the lock, and redlock run kills its command. Without --owner,\n"
    "shows who holds the lock and asks.";

constexpr const char* release_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the lock was released\n"
    "  1    nothing was released: the lock is free, somebody else holds it, or the answer was no\n"
    "  64   wrong usage or configuration; also if there is no terminal to ask on\n"
    "  69   too few nodes answered, so the holder may still have the lock";

constexpr const char* about_nodes =
    "Prints how each node is, what is wrong with the nodes and what to do about it. Changes nothing. Needs "
    "no\n"
    "other rights than locks do, and says what it could not see.\n\n"
    "With --wait, waits until all nodes vote, for scripts that restart one node after the other; tries this\n"
    "with a lock of its own, which has a random name that begins with redlock-nodes-.";

constexpr const char* about_init =
    "Begins a deployment on new nodes, as the first lock would, but only if all nodes are there, so that "
    "none\n"
    "of them has to wait. Locks may then have a ttl of up to --max-ttl. If there is a deployment already, "
    "says so\n"
    "and changes nothing.";

constexpr const char* init_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    there is a deployment, and all nodes vote\n"
    "  64   wrong usage or configuration\n"
    "  69   some nodes are not reachable, or do not vote";

constexpr const char* about_set =
    "Allows locks with a ttl of up to --max-ttl on all nodes. Running clients follow without a restart. All\n"
    "nodes must be reachable and in use. Takes two seconds. The limit is never lowered.";

constexpr const char* set_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    all nodes have the limit\n"
    "  64   wrong usage or configuration\n"
    "  69   some nodes are not reachable or lost their data; run it again when they are well";

constexpr const char* nodes_footer =
    "TIME is a number of seconds, or a number with ms, s, m or h.\n\n"
    "Exit codes:\n"
    "  0    the nodes are healthy; with --wait: all nodes vote\n"
    "  1    degraded: locks can be had, but something should be put right\n"
    "  2    unsafe: no lock can be had, or two may hold the same one\n"
    "  64   wrong usage; with --wait also: the nodes can never vote as they are configured\n"
    "  69   with --wait: some nodes do not vote";

/// Explains a command at length; the list of commands has a short description.
struct CommandFormatter : CLI::Formatter {
  explicit CommandFormatter(const char* text) : text_{text} {}
  std::string make_description(const CLI::App*) const override { return std::string{text_} + '\n'; }

 private:
  const char* text_;
};

/// CLI11 does not see the words after `--`, so it cannot print them in the usage line.
struct RunFormatter : CommandFormatter {
  using CommandFormatter::CommandFormatter;
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: redlock run [OPTIONS] RESOURCE -- CMD...\n";
  }
};

/// Adds an option whose value is parsed by `parse`. An exception from `parse` is reported as wrong usage.
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
      .add_option("--node", nodes.urls,
                  "a node, such as redis://user:password@10.0.0.1:6379/0 or unix:///run/redis.sock; repeat\n"
                  "for each node (default: the comma-separated list in REDLOCK_NODES)")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      .add_option("--nodes-file", nodes.nodes_file,
                  "a file with one node per line, for passwords that must not be seen (default:\n"
                  "REDLOCK_NODES_FILE, else ~/.config/redlock/nodes, else /etc/redlock/nodes)")
      ->type_name("FILE");
  command
      .add_option("--local", nodes.local,
                  "start N private servers for the duration of this command, to try it out")
      ->type_name("N")
      ->check(CLI::Range(1, 31));
  command
      .add_option(
          "--restart-guard", nodes.restart_guard,
          "how to treat nodes that lost their data: automatic: they do not vote until --max-ttl has\n"
          "passed; strict: new nodes wait as well; off: no protection (default:\n"
          "REDLOCK_RESTART_GUARD, else automatic). All users of the nodes with the same key prefix must\n"
          "agree on this and on --durable-nodes")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"automatic", "strict", "off"}));
  command.add_flag("--durable-nodes", nodes.durable_nodes,
                   "the nodes write to disk before they answer (appendfsync always), so they lose nothing\n"
                   "when they restart (also set by REDLOCK_DURABLE_NODES=1)");
  add_time(command, "--max-ttl", detail::parse_time, nodes.max_ttl,
           "the longest ttl of locks on new nodes; once nodes are in use, redlock nodes set raises it. Nodes "
           "that\n"
           "lost their data wait at least this long (default: REDLOCK_MAX_TTL, else 60s)")
      ->type_name("TIME");
  command
      .add_option(
          "--key-prefix", nodes.key_prefix,
          "prefix of every key; each prefix has its own locks and its own record of which nodes lost\n"
          "their data, so all users of a lock need the same one (default: REDLOCK_KEY_PREFIX, else none)")
      ->type_name("PREFIX");
}

CLI::App* add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App* const run = app.add_subcommand("run", "run a command under a lock");
  run->formatter(std::make_shared<RunFormatter>(about_run));
  run->footer(run_footer);
  add_nodes(*run, arguments.nodes);
  add_time(*run, "--ttl", detail::parse_time, arguments.ttl,
           "how long the lock remains if redlock dies, 10ms to --max-ttl (default: 30s)")
      ->type_name("TIME");
  CLI::Option* const nonblock = run->add_flag_function(
      "-n,--nonblock", [&arguments](std::int64_t) { arguments.wait = std::chrono::nanoseconds{0}; },
      "give up at once if somebody else has the lock");
  add_time(*run, "-w,--wait", detail::parse_time, arguments.wait,
           "give up after this time (default: wait as long as somebody else has the lock)")
      ->type_name("TIME")
      ->take_last()
      ->excludes(nonblock);
  add_time(*run, "--node-wait", detail::parse_time, arguments.node_wait,
           "without -w: how long to wait if too few nodes vote but enough of them say when they vote again,\n"
           "because they have restarted; 0 reports this at once (default: no limit)")
      ->type_name("TIME");
  run->add_option("-E,--conflict-exit-code", arguments.conflict_code,
                  "exit code if somebody else has the lock (default: 1)")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
  add_time(*run, "--kill-after", detail::parse_time, arguments.kill_after,
           "how long before the deadline CMD gets SIGTERM, at most half the ttl (default: 5s)")
      ->type_name("TIME");
  add_time(
      *run, "--at-least", detail::parse_time, arguments.at_least,
      "keep the lock for at least this time, even if CMD ends earlier, so that a short job does not run\n"
      "again on a machine whose clock is behind (default: 0)")
      ->type_name("TIME");
  run->add_option(
         "--metrics", arguments.metrics,
         "write metrics in Prometheus' text format to FILE, every 15s and at the end, for node_exporter's\n"
         "textfile collector")
      ->type_name("FILE");
  CLI::Option* const quiet = run->add_flag_function(
      "-q,--quiet", [&arguments](std::int64_t) { arguments.verbosity = Verbosity::quiet; },
      "do not say what redlock waits for");
  run->add_flag_function(
         "-v,--verbose", [&arguments](std::int64_t) { arguments.verbosity = Verbosity::verbose; },
         "also say when the lock was taken")
      ->excludes(quiet);
  run->add_option("--label", arguments.label,
                  "who holds the lock, shown to others (default: host, process and the name of CMD)")
      ->type_name("TEXT");
  run->add_flag("--clean-env", arguments.clean_env,
                "keep REDLOCK_NODES and REDLOCK_NODES_FILE out of CMD's environment");
  run->add_option("RESOURCE", arguments.resource,
                  "name of the lock: 1 to 4096 bytes, not starting with -, ++ or redlock:")
      ->required();
  return run;
}

CLI::App* add_status(CLI::App& app, StatusArguments& arguments) {
  CLI::App* const status = app.add_subcommand("status", "see who holds a lock");
  status->formatter(std::make_shared<CommandFormatter>(about_status));
  status->footer(status_footer);
  add_nodes(*status, arguments.nodes);
  status->add_flag("--json", arguments.json, "print JSON instead of a table");
  status->add_option("RESOURCE", arguments.resource, "name of the lock")->required();
  return status;
}

CLI::App* add_list(CLI::App& app, ListArguments& arguments) {
  CLI::App* const list = app.add_subcommand("list", "see what is locked");
  list->formatter(std::make_shared<CommandFormatter>(about_list));
  list->footer(list_footer);
  add_nodes(*list, arguments.nodes);
  list->add_flag("--json", arguments.json, "print a JSON object in each line instead of a table");
  list->add_option("PREFIX", arguments.prefix, "how the names of the locks begin (default: all locks)");
  return list;
}

CLI::App* add_watch(CLI::App& app, WatchArguments& arguments) {
  CLI::App* const watch = app.add_subcommand("watch", "see who holds a lock, as it changes");
  watch->formatter(std::make_shared<CommandFormatter>(about_watch));
  watch->footer(watch_footer);
  add_nodes(*watch, arguments.nodes);
  watch->add_flag("--json", arguments.json, "print a JSON object in each line");
  watch->add_option("RESOURCE", arguments.resource, "name of the lock")->required();
  return watch;
}

CLI::App* add_release(CLI::App& app, ReleaseArguments& arguments) {
  CLI::App* const release = app.add_subcommand("release", "end a lock that another process holds");
  release->formatter(std::make_shared<CommandFormatter>(about_release));
  release->footer(release_footer);
  add_nodes(*release, arguments.nodes);
  release->add_flag("--force")
      ->description("say that you mean it: the holder may be in the middle of its work")
      ->required();
  release
      ->add_option(
          "--owner", arguments.owner,
          "release only if this is the holder: its owner value, as in REDLOCK_OWNER, or the first 8 or\n"
          "more characters of it, as redlock status shows them")
      ->type_name("VALUE");
  release->add_flag("--yes", arguments.yes, "do not ask, for scripts");
  release->add_option("RESOURCE", arguments.resource, "name of the lock")->required();
  return release;
}

CLI::App* add_nodes_command(CLI::App& app, NodesArguments& arguments) {
  CLI::App* const nodes = app.add_subcommand("nodes", "see how the nodes are, or wait until all vote");
  nodes->formatter(std::make_shared<CommandFormatter>(about_nodes));
  nodes->footer(nodes_footer);
  add_nodes(*nodes, arguments.nodes);
  CLI::Option* const json = nodes->add_flag("--json", arguments.json, "print JSON instead of a table");
  CLI::Option* const resource =
      nodes
          ->add_option("--resource", arguments.resource,
                       "a lock that the user may take, to check its rights on the keys; it is not taken\n"
                       "(default: a made-up name that begins with redlock-nodes-)")
          ->type_name("RESOURCE");
  CLI::Option* const wait = nodes->add_flag("--wait", arguments.wait, "wait until all nodes vote");
  wait->excludes(json)->excludes(resource);
  add_time(*nodes, "--timeout", detail::parse_time, arguments.timeout,
           "with --wait: give up after this time (default: no limit)")
      ->type_name("TIME")
      ->needs(wait);
  return nodes;
}

/// Its options are those of `nodes`.
CLI::App* add_set(CLI::App& nodes) {
  CLI::App* const set =
      nodes.add_subcommand("set", "allow locks with a longer ttl: redlock nodes set --max-ttl TIME");
  set->formatter(std::make_shared<CommandFormatter>(about_set));
  set->footer(set_footer);
  set->fallthrough();
  return set;
}

/// Its options are those of `nodes`.
CLI::App* add_init(CLI::App& nodes) {
  CLI::App* const init = nodes.add_subcommand("init", "begin a deployment on new nodes");
  init->formatter(std::make_shared<CommandFormatter>(about_init));
  init->footer(init_footer);
  init->fallthrough();
  return init;
}

/// The command line's commands with their arguments.
struct Commands {
  explicit Commands(CLI::App& app)
      : run{add_run(app, run_arguments)},
        status{add_status(app, status_arguments)},
        list{add_list(app, list_arguments)},
        watch{add_watch(app, watch_arguments)},
        release{add_release(app, release_arguments)},
        nodes{add_nodes_command(app, nodes_arguments)},
        set{add_set(*nodes)},
        init{add_init(*nodes)} {
    nodes->require_subcommand(0, 1);
  }

  RunArguments run_arguments;
  StatusArguments status_arguments;
  ListArguments list_arguments;
  WatchArguments watch_arguments;
  ReleaseArguments release_arguments;
  NodesArguments nodes_arguments;
  CLI::App* run;
  CLI::App* status;
  CLI::App* list;
  CLI::App* watch;
  CLI::App* release;
  CLI::App* nodes;
  CLI::App* set;
  CLI::App* init;
};

int execute(const Commands& commands) {
  if (commands.status->parsed()) return status(commands.status_arguments);
  if (commands.list->parsed()) return list(commands.list_arguments);
  if (commands.watch->parsed()) return watch_lock(commands.watch_arguments);
  if (commands.release->parsed()) return force_release(commands.release_arguments);
  if (commands.set->parsed()) return set_max_ttl(commands.nodes_arguments);
  if (commands.init->parsed()) return begin_deployment(commands.nodes_arguments);
  if (commands.nodes->parsed()) return nodes(commands.nodes_arguments);
  serve_as_init();
  const Ending ending = run(commands.run_arguments);
  if (ending.signal != 0) die_by_signal(ending.signal);
  return ending.code;
}

/// The words before `--` are parsed here; the words after it are the command, passed on unchanged.
int parse_and_run(const std::vector<std::string>& words) {
  const auto separator = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> own{words.begin(), separator};
  std::reverse(own.begin(), own.end());  // the order that CLI11 expects

  CLI::App app{about, "redlock"};
  app.set_version_flag("--version", "redlock " + std::string{redlock::version()});
  Commands commands{app};
  if (separator != words.end()) commands.run_arguments.command.assign(separator + 1, words.end());
  try {
    app.parse(std::move(own));
    // Checked here, because CLI11 would check this before it reports an unknown word.
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
    if (commands.run->parsed() && commands.run_arguments.command.empty())
      throw CLI::RequiredError{"-- CMD (the command to run)"};
    if (!commands.run->parsed() && separator != words.end()) throw CLI::ExtrasError{{"--"}};
    const NodesArguments& nodes_arguments = commands.nodes_arguments;
    if (commands.set->parsed() && !nodes_arguments.nodes.max_ttl) throw CLI::RequiredError{"--max-ttl"};
    for (const CLI::App* const command : {commands.set, commands.init})
      for (const char* const option : {"--wait", "--json"})
        if (command->parsed() && commands.nodes->count(option) > 0)
          throw CLI::ExcludesError{command->get_name(), option};
    if (commands.set->parsed() && commands.nodes->count("--resource") > 0)
      throw CLI::ExcludesError{"set", "--resource"};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error), success;
    if (const auto explanation = near_miss(app, words)) {
      std::cerr << "redlock: " << *explanation << '\n';
      return usage;
    }
    const bool has_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (!has_extra || separator != words.end() || !commands.run->parsed()) return app.exit(error), usage;
    std::cerr << "redlock: put -- before the command, as in: redlock run RESOURCE -- CMD\n";
    return usage;
  }
  return execute(commands);
}

/// Opens stdin, stdout and stderr if they are closed, so that no other descriptor gets their numbers. They
/// are closed again in the command.
void open_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  ::close(opened);
}

/// Overwrites user and password of the nodes in the command line, which every user of the machine can read.
void hide_credentials(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    const std::string_view word{argv[i]};
    const bool is_node = std::string_view{argv[i - 1]} == "--node" || word.starts_with("--node=");
    const std::size_t scheme = word.find("://");
    if (!is_node || scheme == word.npos) continue;
    const std::size_t begin = scheme + 3;
    const std::size_t end = word.rfind('@');  // a path may have another one behind it: then more is hidden
    if (end != word.npos && end > begin) std::fill(argv[i] + begin, argv[i] + end, '*');
  }
}

int exit_code_of(const std::error_code& code) {
  if (code.category() != redlock::category()) return internal_error;
  const bool is_usage = code == redlock::Errc::invalid_argument || code == redlock::Errc::misconfigured;
  return is_usage ? usage : no_quorum;
}

}  // namespace

int main(int argc, char** argv) try {
  open_standard_descriptors();
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid cannot report how a child ended
  const std::vector<std::string> words{argv + 1, argv + argc};
  hide_credentials(argc, argv);
  return parse_and_run(words);
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
