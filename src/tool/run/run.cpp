#include "tool/run/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "redlock/core/base/printable.hpp"
#include "redlock/redlock.hpp"
#include "tool/output.hpp"
#include "tool/run/acquire.hpp"
#include "tool/run/command.hpp"
#include "tool/run/metrics_file.hpp"
#include "tool/run/revocation.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/run/terminal.hpp"
#include "tool/time_text.hpp"
#include "tool/watch/deadline_keeper.hpp"
#include "tool/watch/termination.hpp"
#include "tool/watch/watchdog.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// What the command line says about passwords and TLS.
void add_login(const NodeChoice& nodes, std::vector<std::string>& environment) {
  const auto add = [&](const std::string& variable, const std::optional<std::string>& path) {
    if (path) environment.push_back(variable + '=' + std::filesystem::absolute(*path).string());
  };
  add("REDLOCK_PASSWORD_FILE", nodes.password_file);
  add("REDLOCK_TLS_CACERT", nodes.ca_file);
  add("REDLOCK_TLS_CACERTDIR", nodes.ca_path);
  // One of these replaces both, so the other one goes.
  if (nodes.ca_file && !nodes.ca_path) environment.emplace_back("REDLOCK_TLS_CACERTDIR");
  if (nodes.ca_path && !nodes.ca_file) environment.emplace_back("REDLOCK_TLS_CACERT");
  add("REDLOCK_TLS_CERT", nodes.cert_file);
  add("REDLOCK_TLS_KEY", nodes.key_file);
  const auto add_text = [&](const std::string& variable, const std::optional<std::string>& text) {
    if (text) environment.push_back(variable + '=' + *text);
  };
  add_text("REDLOCK_TLS_SERVER_NAME", nodes.server_name);
  add_text("REDLOCK_TLS_MIN_VERSION", nodes.tls_min_version);
  add_text("REDLOCK_TLS_CIPHERS", nodes.ciphers);
  add_text("REDLOCK_TLS_CIPHERSUITES", nodes.ciphersuites);
  if (nodes.insecure_skip_verify) environment.emplace_back("REDLOCK_TLS_INSECURE_SKIP_VERIFY=1");
}

/// Drops the variables of this process that begin so.
void drop(std::initializer_list<std::string_view> beginnings, std::vector<std::string>& environment) {
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text{*variable};
    for (const std::string_view begin : beginnings)
      if (text.starts_with(begin)) environment.emplace_back(text.substr(0, text.find('=')));
  }
}

/// Which locks the command has. The variables of several are numbered from 1 on, in the order of the command line, so that
/// nothing is written with the token of another resource.
void add_locks(const Leases& leases, std::vector<std::string>& environment) {
  for (std::size_t which = 0; which < leases.size(); ++which) {
    const Lease& lease = leases[which];
    const std::string end = (leases.size() == 1 ? "" : '_' + std::to_string(which + 1)) + '=';
    environment.push_back("REDLOCK_RESOURCE" + end + lease.resource());
    environment.push_back("REDLOCK_OWNER" + end + lease.owner_value());
    environment.push_back("REDLOCK_FENCING_TOKEN" + end + std::to_string(lease.fencing_token().value()));
    environment.push_back("REDLOCK_SEQUENCER" + end + lease.sequencer().to_string());
  }
  const auto deadline = std::chrono::floor<milliseconds>(leases.deadline().time_since_epoch());
  environment.push_back("REDLOCK_DEADLINE_MS=" + std::to_string(deadline.count()));
  drop({"REDLOCK_RESOURCE", "REDLOCK_OWNER", "REDLOCK_FENCING_TOKEN", "REDLOCK_SEQUENCER"},
       environment);  // of a redlock around this one
}

std::vector<std::string> environment_of(const Leases& leases, const Nodes& nodes,
                                        const RunArguments& arguments) {
  std::vector<std::string> environment;
  add_locks(leases, environment);
  if (const auto& key_prefix = arguments.nodes.key_prefix)
    environment.push_back("REDLOCK_KEY_PREFIX=" + *key_prefix);
  if (arguments.clean_env) {  // also those that only other versions of redlock know
    drop({"REDLOCK_NODES", "REDLOCK_PASSWORD", "REDLOCK_TLS_"}, environment);
    return environment;
  }
  // Lets a redlock in the command find the same file, or its private servers. The variable with a list comes before files.
  if (const auto& file = arguments.nodes.nodes_file)
    environment.insert(environment.end(),
                       {"REDLOCK_NODES", "REDLOCK_NODES_FILE=" + std::filesystem::absolute(*file).string()});
  if (nodes.servers) environment.push_back("REDLOCK_NODES=" + nodes.servers->url_list());
  add_login(arguments.nodes, environment);
  return environment;
}

/// Stops this process's whole job, as if the command ran directly in it, and returns when the job continues. If `was_asked`, this
/// process alone: whoever sent it SIGTSTP has sent it to others of the job as well, or did not mean them. If nobody could continue
/// the job, it goes on at once: as the system does, ignores ^Z, and hangs up on a command in the background that wants the
/// terminal.
void stop_job(const Command& command, bool was_asked, bool wants_terminal, const Terminal& terminal) {
  const bool had_terminal = terminal.take_back_from(command.group());
  const bool is_orphaned = is_job_orphaned();
  if (!is_orphaned) ::kill(was_asked ? ::getpid() : 0, SIGSTOP);
  if (had_terminal || wants_terminal) {
    const bool has_terminal = terminal.lend_to(command.group());
    if (is_orphaned && !has_terminal) command.signal(SIGHUP);
  }
}

/// Handles a command that was stopped by `signal`. If it wants the terminal and this job has it, the command
/// gets the terminal and continues. Otherwise this process stops its whole job. While stopped, it extends nothing,
/// so the watchdog may end the command meanwhile. A command stopped by SIGSTOP is left stopped and keeps the lock.
void handle_stop(const Command& command, int signal, const Terminal& terminal, SignalForwarder& signals) {
  if (signal == SIGSTOP) return;
  const bool was_asked = signal == SIGTSTP && signals.consume_stop_request();
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (!wants_terminal || !terminal.lend_to(command.group()))
    stop_job(command, was_asked, wants_terminal, terminal);
  command.signal(SIGCONT);
  // SIGCONT discarded a SIGTSTP that arrived while the command was stopped: send it again.
  if (signals.consume_stop_request()) command.signal(SIGTSTP);
}

/// The resources as one text, for the label of metrics.
std::string joined(const std::vector<std::string>& resources) {
  std::string text = resources.front();
  for (std::size_t which = 1; which < resources.size(); ++which) text.append(",").append(resources[which]);
  return text;
}

struct CommandResult {
  int code = 0;
  Clock::time_point ended;
  bool was_terminated = false;  ///< By this process or its watchdog.
  bool had_watchdog = true;
  bool interrupted = false;
};

CommandResult run_under(const Leases& leases, const RunArguments& arguments, const Nodes& nodes,
                        SignalForwarder& signals, Termination& termination, Watchdog& watchdog,
                        Revocation& revocation) {
  const Clock::duration grace = std::min(arguments.kill_after, arguments.ttl / 2);
  const auto begin_watch = [&](pid_t group) {
    const Clock::time_point kill_at = kill_time(leases, arguments.ttl);
    termination.begin(group, kill_at, grace);
    if (watchdog.wake() && Clock::now() < kill_at - grace) return true;
    termination.kill_now();
    return false;
  };
  const struct Stop {
    Watchdog& watchdog;
    ~Stop() { watchdog.stop(); }
  } at_exit{watchdog};  // even if the command could not be executed and its pid is free again
  const Terminal terminal;
  Command command{{.words = arguments.command,
                   .environment = environment_of(leases, nodes, arguments),
                   .signals = signals.mask_before(),
                   .before_exec = begin_watch}};
  DeadlineKeeper deadline_keeper{leases, arguments.ttl, termination, watchdog};
  revocation.begin();
  signals.forward_to(&command);
  while (const int signal = command.wait()) handle_stop(command, signal, terminal, signals);
  const Clock::time_point ended = Clock::now();
  deadline_keeper.stop();
  revocation.end();
  const bool had_watchdog = !watchdog.is_gone();
  watchdog.stop();
  signals.forward_to(nullptr);
  const bool had_terminal = terminal.take_back_from(command.group());
  const int code = command.exit_code();
  const bool interrupted =
      code == killed_by_signal + SIGINT && (had_terminal || signals.has_forwarded(SIGINT));
  // The terminal sent SIGINT to the command only: pass it on to the rest of the job.
  if (interrupted && had_terminal) ::kill(0, SIGINT);
  return {code, ended, termination.has_begun_by(ended), had_watchdog, interrupted};
}

/// The lease because of which the command was terminated: a lost one, else the one with the first deadline.
const Lease& lost_one(const Leases& leases) {
  for (const Lease& lease : leases)
    if (lease.loss() != Loss::none) return lease;
  return *std::min_element(leases.begin(), leases.end(), [](const Lease& one, const Lease& other) {
    return one.deadline() < other.deadline();
  });
}

/// Why the lease could not be kept; `Loss::none` if the command was killed for another reason.
Loss loss_of(const Lease& lease, const CommandResult& result) {
  if (lease.loss() != Loss::none || !result.had_watchdog) return lease.loss();
  return lease.state() == State::in_doubt ? Loss::no_quorum : Loss::deadline_passed;
}

struct LostLease {
  const Lease& lease;
  Loss loss;
};

/// The lease that was lost before the command ended, although nothing had noticed that before the release of these leases. A lock
/// whose keys are gone counts: nobody knows when that happened.
std::optional<LostLease> lost_unnoticed(Leases& released, Clock::time_point ended) {
  for (Lease& lease : released) {
    const Loss loss = lease.loss();
    const bool was_over = loss == Loss::deadline_passed || loss == Loss::no_quorum;
    if (lease.release() != Release::already_lost || (was_over && lease.deadline() >= ended)) continue;
    return LostLease{lease, loss == Loss::none ? Loss::deleted : loss};
  }
  return std::nullopt;
}

/// Says why the command was terminated, or that it ended without its lock, and asks the nodes for what they say now.
std::string explain(Redlock& locks, const Lease& lease, Loss loss, bool is_terminated) {
  const std::string resource = core::printable(lease.resource());
  std::ostringstream text;
  text << "redlock: ";
  if (loss == Loss::none)
    text << "the watchdog process of the lock " << resource << " ended, so the command was killed";
  else if (is_terminated)
    text << "the lock " << resource
         << " could not be kept, so the command was terminated: " << to_string(loss);
  else
    text << "the lock " << resource << " was lost before it was released: " << to_string(loss);
  text << '\n';
  std::error_code ignored;
  write_reports(text, locks.inspect(lease.resource(), ignored));
  return text.str();
}

}  // namespace

Ending run(const RunArguments& arguments) {
  SignalForwarder signals;
  return run(arguments, signals);
}

Ending run(const RunArguments& arguments, SignalForwarder& signals) {
  Termination termination;
  Watchdog watchdog{termination};
  std::optional<SignalForwarder::Preparation> preparation{std::in_place, signals};
  const Nodes nodes = choose_nodes(arguments.nodes);
  MetricsFile metrics{arguments.metrics, joined(arguments.resources), warn_briefly};
  Options options = nodes.options;
  options.on_warning = warn_briefly;
  const auto progress =
      std::make_shared<Progress>(arguments.resources, arguments.verbosity, metrics.observer());
  options.observer = progress;
  Redlock locks{nodes.endpoints, std::move(options)};
  preparation.reset();
  Revocation revocation{termination, arguments.kill_after};
  const auto on_revoke = arguments.revocable ? revocation.callback() : nullptr;
  Leases leases = acquire(locks, arguments, on_revoke, *progress, signals.stop());
  progress->end(leases);
  if (const int signal = signals.stopped_by()) return {killed_by_signal + signal, signal};
  if (leases.empty()) return {arguments.conflict_code};

  const CommandResult result =
      run_under(leases, arguments, nodes, signals, termination, watchdog, revocation);
  const bool is_lost = result.was_terminated && !(revocation.is_asked() && leases.valid());
  std::string reason;
  if (is_lost) {
    const Lease& lost = lost_one(leases);
    const Loss loss = loss_of(lost, result);
    metrics.count_as_lost(loss);
    reason = explain(locks, lost, loss, true);
  }
  leases.release();
  if (result.interrupted || signals.stopped_by() == SIGINT) return {result.code, SIGINT};
  const std::optional<LostLease> unnoticed = is_lost ? std::nullopt : lost_unnoticed(leases, result.ended);
  if (unnoticed) reason = explain(locks, unnoticed->lease, unnoticed->loss, false);
  tell_at_the_end(reason);
  const int code = is_lost || unnoticed ? lock_lost : result.code;
  if (!result.was_terminated) return {code};
  return {code, 0, !signals.asked_to_end(), revocation.is_asked()};
}

}  // namespace redlock::tool
