#include "tool/run/run.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <utility>

#include "redlock/redlock.hpp"
#include "tool/run/command.hpp"
#include "tool/run/deadline_reporter.hpp"
#include "tool/run/metrics_file.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/run/terminal.hpp"
#include "tool/run/watchdog.hpp"
#include "tool/time_text.hpp"
#include "values/printable.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// Without a time limit, the wait is cut into pieces of this length: each one fails if there is no quorum.
constexpr std::chrono::seconds one_wait{10};

void warn(std::string_view warning) { std::cerr << "redlock: warning: " << warning << '\n'; }

/// Returns an empty optional if somebody else has the lock or a signal ended the wait.
std::optional<Lease> acquire(Redlock& locks, const RunArguments& arguments, const std::stop_token& stop) try {
  const LockOptions options{.ttl = arguments.ttl, .auto_renew = true};
  if (arguments.wait) return locks.try_lock_for(arguments.resource, *arguments.wait, options, stop);
  // Wait only for a holder to release the lock. A missing quorum is an error that an operator has to look into.
  std::optional<Lease> lease = locks.try_lock(arguments.resource, options);
  while (!lease) lease = locks.try_lock_for(arguments.resource, one_wait, options, stop);
  return lease;
} catch (const Error& error) {
  if (error.code() == Errc::cancelled) return std::nullopt;
  throw;
}

std::vector<std::string> environment_of(const Lease& lease, const std::vector<std::string>& local_urls) {
  const auto deadline = std::chrono::floor<milliseconds>(lease.deadline().time_since_epoch());
  std::vector<std::string> environment{
      "REDLOCK_RESOURCE=" + lease.resource(), "REDLOCK_OWNER=" + lease.owner_value(),
      "REDLOCK_FENCING_TOKEN=" + std::to_string(lease.fencing_token().value()),
      "REDLOCK_DEADLINE_MS=" + std::to_string(deadline.count())};
  // Lets the command find its private servers.
  std::string list;
  for (const std::string& url : local_urls) list += (list.empty() ? "" : ",") + url;
  if (!list.empty()) environment.push_back("REDLOCK_NODES=" + list);
  return environment;
}

/// Handles a command that was stopped by `signal`. If it wants the terminal and this job has it, the command
/// gets the terminal and continues. Otherwise this process stops its whole job, as if the command ran
/// directly in it. While stopped, it extends nothing, so the watchdog may end the command meanwhile. A
/// command stopped by SIGSTOP is left stopped and keeps the lock.
void handle_stop(const Command& command, int signal, const Terminal& terminal, SignalForwarder& signals) {
  if (signal == SIGSTOP) return;
  if (signal == SIGTSTP) signals.consume_stop_request();
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (!wants_terminal || !terminal.lend_to(command.group())) {
    const bool had_terminal = terminal.take_back_from(command.group());
    ::kill(0, SIGSTOP);
    if (had_terminal || wants_terminal) terminal.lend_to(command.group());
  }
  command.signal(SIGCONT);
  // SIGCONT discarded a SIGTSTP that arrived while the command was stopped: send it again.
  if (signals.consume_stop_request()) command.signal(SIGTSTP);
}

struct CommandResult {
  int code = 0;
  bool lock_was_lost = false;
  bool interrupted = false;
};

CommandResult run_under(Lease& lease, const RunArguments& arguments,
                        const std::vector<std::string>& local_urls, SignalForwarder& signals,
                        Watchdog& watchdog) {
  const Clock::duration kill_after = std::min(arguments.kill_after, arguments.ttl / 2);
  const auto arm_watchdog = [&](pid_t group) {
    const Clock::time_point terminate_at = lease.deadline() - kill_after;
    return watchdog.arm(group, terminate_at, lease.deadline()) && Clock::now() < terminate_at;
  };
  const struct Disarm {
    Watchdog& watchdog;
    ~Disarm() { watchdog.disarm(); }
  } at_exit{watchdog};  // even if the command could not be executed and its pid is free again
  const Terminal terminal;
  Command command{{.words = arguments.command,
                   .environment = environment_of(lease, local_urls),
                   .signals = signals.mask_before(),
                   .before_exec = arm_watchdog}};
  DeadlineReporter deadline_reporter{lease, arguments.ttl, kill_after, watchdog, command.group()};
  signals.forward_to(&command);
  while (const int signal = command.wait()) handle_stop(command, signal, terminal, signals);
  const Clock::time_point ended = Clock::now();
  deadline_reporter.stop();
  watchdog.disarm();
  signals.forward_to(nullptr);
  const bool had_terminal = terminal.take_back_from(command.group());
  const int code = command.exit_code();
  const bool interrupted =
      code == killed_by_signal + SIGINT && (had_terminal || signals.has_forwarded(SIGINT));
  // The terminal sent SIGINT to the command only: pass it on to the rest of the job.
  if (interrupted && had_terminal) ::kill(0, SIGINT);
  return {code, deadline_reporter.termination_began_by(ended), interrupted};
}

}  // namespace

Ending run(const RunArguments& arguments) {
  Watchdog watchdog;
  SignalForwarder signals;
  const Nodes nodes = choose_nodes(arguments.nodes);
  const MetricsFile metrics{arguments.metrics, arguments.resource, warn};
  Options options = options_of(arguments.nodes);
  options.on_warning = warn;
  options.observer = metrics.observer();
  Redlock locks{nodes.endpoints, std::move(options)};
  std::optional<Lease> lease = acquire(locks, arguments, signals.stop());
  if (const int signal = signals.stopped_by()) return {killed_by_signal + signal, signal};
  if (!lease) return {arguments.conflict_code};

  const CommandResult result = run_under(*lease, arguments, nodes.local_urls, signals, watchdog);
  lease->release();
  if (result.interrupted) return {result.code, SIGINT};
  if (!result.lock_was_lost) return {result.code};
  std::cerr << "redlock: the lock " << detail::printable(arguments.resource)
            << " could not be kept, so the command was terminated\n";
  return {lock_lost};
}

}  // namespace redlock::tool
