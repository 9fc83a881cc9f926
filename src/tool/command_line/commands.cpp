#include "tool/command_line/commands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tool/command_line/help_texts.hpp"
#include "tool/command_line/options.hpp"

namespace redlock::tool {
namespace {

/// Explains a command at length; the list of commands has a short description.
struct CommandFormatter : CLI::Formatter {
  explicit CommandFormatter(const char* text) : text_{text} {}
  std::string make_description(const CLI::App*) const override { return std::string{text_} + '\n'; }

 private:
  const char* text_;
};

/// CLI11 does not see the words after `--`, so it cannot print them in the usage line.
struct RunFormatter : CommandFormatter {
  RunFormatter(const char* text, const char* usage) : CommandFormatter{text}, usage_{usage} {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return std::string{"Usage: redlock "} + usage_ + " -- CMD...\n";
  }

 private:
  const char* usage_;
};

void add_verbosity(CLI::App& command, Verbosity& verbosity) {
  CLI::Option* const quiet = command.add_flag_function(
      "-q,--quiet", [&verbosity](std::int64_t) { verbosity = Verbosity::quiet; },
      "do not say what redlock waits for");
  command
      .add_flag_function(
          "-v,--verbose", [&verbosity](std::int64_t) { verbosity = Verbosity::verbose; },
          "also say when the lock was taken")
      ->excludes(quiet);
}

/// How the command is run, whatever the lock is for.
void add_running(CLI::App& command, RunArguments& arguments) {
  add_time(command, "--kill-after", arguments.kill_after,
           "how long before the deadline CMD gets SIGTERM, at most half the ttl (default: 5s)");
  command
      .add_option(
          "--metrics", arguments.metrics,
          "write metrics in Prometheus' text format to FILE, every 15s and at the end, for node_exporter's\n"
          "textfile collector")
      ->type_name("FILE");
  add_verbosity(command, arguments.verbosity);
  command.add_flag("--revocable", arguments.revocable,
                   "redlock revoke ends CMD: with SIGTERM, and with SIGKILL after the time of --kill-after");
  command.add_flag(
      "--clean-env", arguments.clean_env,
      "keep REDLOCK_NODES, REDLOCK_NODES_FILE, REDLOCK_PASSWORD_FILE and REDLOCK_TLS_... out of CMD's\n"
      "environment");
}

/// For how long the nodes keep the lock.
void add_lifetime(CLI::App& run, RunArguments& arguments) {
  add_time(
      run, "--ttl", arguments.ttl,
      "how long the lock remains if redlock dies, 10ms to --max-ttl (default: 30s, or --at-least if that is\n"
      "longer)");
  add_time(
      run, "--lock-delay", arguments.lock_delay,
      "for how long nobody gets the lock after it was lost, or after redlock died; together with --ttl at "
      "most\n--max-ttl (default: 0)");
  add_time(
      run, "--at-least", arguments.at_least,
      "the nodes keep the lock for at least this time, at most the ttl, even if CMD ends earlier, so that a\n"
      "short job does not run again on a machine whose clock is behind (default: 0)");
  run.parse_complete_callback([&run, &arguments] {
    if (run.count("--ttl") == 0) arguments.ttl = std::max(arguments.ttl, arguments.at_least);
  });
}

CLI::Option* add_seats(CLI::App& command, std::size_t& seats, const char* description) {
  return command.add_option("--seats", seats, description)->type_name("N")->check(CLI::Range(1, 1000));
}

/// How many may hold the lock.
void add_company(CLI::App& run, RunArguments& arguments) {
  CLI::Option* const seats =
      run.add_option(
             "--seats", arguments.seats,
             "so many may hold RESOURCE at the same time, each a seat RESOURCE#0, RESOURCE#1 and so on: 1 to "
             "1000.\nAll users should agree (default: one holder, of RESOURCE itself)")
          ->type_name("N")
          ->check(CLI::Range(1, 1000));
  run.add_flag("--shared", arguments.is_shared,
               "CMD only reads: any number of readers hold RESOURCE at the same time, but nobody beside a\n"
               "holder without --shared, the writer")
      ->excludes(seats)
      ->excludes(run.get_option("--at-least"));
}

CLI::App* add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App* const run = app.add_subcommand("run", "run a command under a lock");
  run->formatter(std::make_shared<RunFormatter>(about_run, "run [OPTIONS] RESOURCE..."));
  run->footer(run_footer);
  add_nodes(*run, arguments.nodes);
  add_lifetime(*run, arguments);
  add_company(*run, arguments);
  CLI::Option* const nonblock = run->add_flag_function(
      "-n,--nonblock", [&arguments](std::int64_t) { arguments.wait = std::chrono::nanoseconds{0}; },
      "give up at once if somebody else has the lock");
  add_time(*run, "-w,--wait", arguments.wait,
           "give up after this time; 0 is the same as -n (default: wait as long as somebody else has the\n"
           "lock)")
      ->take_last()
      ->excludes(nonblock);
  add_time(
      *run, "--node-wait", arguments.node_wait,
      "how long to wait if too few nodes vote but enough of them say when they vote again, because they\n"
      "have restarted; 0 reports this at once (default: no limit but -w)");
  run->add_option_function<std::string>(
         "--order",
         [&arguments](const std::string& given) {
           arguments.order = given == "fifo" ? Order::fifo : Order::none;
         },
         "who gets the lock next: fifo: whoever has waited longest; none: whoever asks at the right moment. "
         "All\n"
         "users should agree (default: fifo, or none if the nodes do not grant the rights for it)")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"fifo", "none"}));
  run->add_option("-E,--conflict-exit-code", arguments.conflict_code,
                  "exit code if somebody else has the lock (default: 1)")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255));
  add_running(*run, arguments);
  run->add_option("--label", arguments.label,
                  "who holds the lock, shown to others (default: host, process and the name of CMD)")
      ->type_name("TEXT");
  run->add_option("RESOURCE", arguments.resources,
                  "name of the lock: 1 to 4096 bytes, not ++, not starting with - or redlock:.\n"
                  "With up to 64 different ones, CMD runs while it has all of these locks")
      ->required();
  return run;
}

CLI::App* add_elect(CLI::App& app, RunArguments& arguments) {
  arguments.is_election = true;
  CLI::App* const elect = app.add_subcommand("elect", "run a command while this candidate leads");
  elect->formatter(std::make_shared<RunFormatter>(about_elect, "elect [OPTIONS] NAME"));
  elect->footer(elect_footer);
  add_nodes(*elect, arguments.nodes);
  elect
      ->add_option(
          "--candidate", arguments.label,
          "what this candidate is called, shown to others (default: host, process and the name of CMD)")
      ->type_name("TEXT");
  add_time(*elect, "--ttl", arguments.ttl,
           "after what time another candidate leads if redlock dies, 10ms to --max-ttl (default: 30s)");
  add_time(
      *elect, "--lock-delay", arguments.lock_delay,
      "for how long nobody leads after the lock was lost, or after redlock died; together with --ttl at\n"
      "most --max-ttl (default: 0)");
  add_running(*elect, arguments);
  elect
      ->add_option_function<std::string>(
          "NAME", [&arguments](const std::string& given) { arguments.resources = {given}; },
          "name of the election, which is that of its lock")
      ->required();
  return elect;
}

CLI::App* add_leader(CLI::App& app, LeaderArguments& arguments) {
  CLI::App* const leader = app.add_subcommand("leader", "see who leads");
  leader->formatter(std::make_shared<CommandFormatter>(about_leader));
  leader->footer(leader_footer);
  add_nodes(*leader, arguments.nodes);
  leader->add_flag("--json", arguments.json, "print a JSON object in each line");
  leader->add_flag("--watch", arguments.watch, "print a line for each new leader, until Ctrl-C or SIGTERM");
  leader->add_option("NAME", arguments.election, "name of the election")->required();
  return leader;
}

CLI::App* add_status(CLI::App& app, StatusArguments& arguments) {
  CLI::App* const status = app.add_subcommand("status", "see who holds a lock");
  status->formatter(std::make_shared<CommandFormatter>(about_status));
  status->footer(status_footer);
  add_nodes(*status, arguments.nodes);
  status->add_flag("--json", arguments.json, "print JSON instead of a table");
  add_seats(*status, arguments.seats,
            "RESOURCE is a semaphore with N seats: print which are taken, and by whom");
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
  add_seats(*watch, arguments.seats, "RESOURCE is a semaphore with N seats: watch all of them");
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
          "release only if this is the holder, or this reader: its owner value, as in REDLOCK_OWNER, or the\n"
          "first 8 or more characters of it, as redlock status shows them")
      ->type_name("VALUE");
  release->add_flag("--yes", arguments.yes, "do not ask, for scripts");
  release->add_option("RESOURCE", arguments.resource, "name of the lock")->required();
  return release;
}

CLI::App* add_revoke(CLI::App& app, RevokeArguments& arguments) {
  CLI::App* const revoke = app.add_subcommand("revoke", "ask the holder of a lock to give it up");
  revoke->formatter(std::make_shared<CommandFormatter>(about_revoke));
  revoke->footer(revoke_footer);
  add_nodes(*revoke, arguments.nodes);
  revoke->add_option("RESOURCE", arguments.resource, "name of the lock")->required();
  revoke->add_option("WHY", arguments.why, "the reason, for the holder: 1 to 200 bytes (default: revoked)");
  return revoke;
}

CLI::App* add_check(CLI::App& app, CheckArguments& arguments) {
  CLI::App* const check = app.add_subcommand("check", "see whether a sequencer is valid");
  check->formatter(std::make_shared<CommandFormatter>(about_check));
  check->footer(check_footer);
  add_nodes(*check, arguments.nodes);
  check->add_flag("--json", arguments.json, "print a JSON object");
  check
      ->add_option("SEQUENCER", arguments.sequencer,
                   "what names the lease: the value of REDLOCK_SEQUENCER in a command of redlock run")
      ->required();
  return check;
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
  add_time(*nodes, "--timeout", arguments.timeout, "with --wait: give up after this time (default: no limit)")
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

/// Returns why a server would not take the text for the name of a user, else an empty text.
std::string can_name_user(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isgraph(c) != 0 && c != '"' && c != '\'' && c != '\\';
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return {};
  return "the name of a user consists of visible ASCII characters without quotes and backslashes";
}

/// Has no nodes.
CLI::App* add_acl(CLI::App& app, AclArguments& arguments) {
  CLI::App* const acl = app.add_subcommand("acl", "print the rights that a user of the nodes needs");
  acl->formatter(std::make_shared<CommandFormatter>(about_acl));
  acl->footer(acl_footer);
  std::vector<std::string> names;
  for (const Feature feature : all_features) names.emplace_back(name_of(feature));
  acl->add_option_function<std::vector<std::string>>(
         "--for",
         [&arguments](const std::vector<std::string>& given) {
           arguments.features.clear();
           for (const Feature feature : all_features)
             if (std::ranges::find(given, name_of(feature)) != given.end())
               arguments.features.push_back(feature);
         },
         "what the user may do: plain: take locks without token and order; fenced: with fencing\n"
         "tokens; renewed: extend leases, and learn at once of their loss; waiting: stand in line, as\n"
         "all do by default; shared: take shared locks; operator: all commands of redlock (default: all but\n"
         "operator)")
      ->type_name("FEATURE[,FEATURE]")
      ->delimiter(',')
      ->check(CLI::IsMember(names).description(""));
  acl->add_option("--key-prefix", arguments.key_prefix,
                  "the prefix of the keys: without one, the user may use all keys (default: none)")
      ->type_name("PREFIX");
  acl->add_option("--user", arguments.user, "the name of the user (default: locks)")
      ->type_name("NAME")
      ->check(can_name_user);
  return acl;
}

}  // namespace

Commands::Commands(CLI::App& app)
    : run{add_run(app, run_arguments)},
      elect{add_elect(app, elect_arguments)},
      leader{add_leader(app, leader_arguments)},
      status{add_status(app, status_arguments)},
      list{add_list(app, list_arguments)},
      watch{add_watch(app, watch_arguments)},
      release{add_release(app, release_arguments)},
      revoke{add_revoke(app, revoke_arguments)},
      check{add_check(app, check_arguments)},
      nodes{add_nodes_command(app, nodes_arguments)},
      set{add_set(*nodes)},
      init{add_init(*nodes)},
      acl{add_acl(app, acl_arguments)} {
  nodes->require_subcommand(0, 1);
}

void Commands::set_logins(std::vector<Secret> logins) {
  const auto shared = std::make_shared<const std::vector<Secret>>(std::move(logins));
  for (NodeChoice* const choice :
       {&run_arguments.nodes, &elect_arguments.nodes, &leader_arguments.nodes, &status_arguments.nodes,
        &list_arguments.nodes, &watch_arguments.nodes, &release_arguments.nodes, &revoke_arguments.nodes,
        &check_arguments.nodes, &nodes_arguments.nodes})
    choice->logins = shared;
}

CommandName Commands::chosen() const {
  if (elect->parsed()) return CommandName::elect;
  if (leader->parsed()) return CommandName::leader;
  if (status->parsed()) return CommandName::status;
  if (list->parsed()) return CommandName::list;
  if (watch->parsed()) return CommandName::watch;
  if (release->parsed()) return CommandName::release;
  if (revoke->parsed()) return CommandName::revoke;
  if (check->parsed()) return CommandName::check;
  if (set->parsed()) return CommandName::set;
  if (init->parsed()) return CommandName::init;
  if (acl->parsed()) return CommandName::acl;
  return nodes->parsed() ? CommandName::nodes : CommandName::run;
}

}  // namespace redlock::tool
