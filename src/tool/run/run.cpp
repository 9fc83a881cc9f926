#include "tool/run/run.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <utility>

#include "redlock/redlock.hpp"
#include "tool/run/command.hpp"
#include "tool/run/deadline_reporter.hpp"
#include "tool/run/metrics_file.hpp"
#include "tool/run/signal_watch.hpp"
#include "tool/run/terminal.hpp"
#include "tool/run/watchdog.hpp"
#include "tool/time_text.hpp"
#include "values/printable.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// How long one wait lasts before the quorum is judged anew, where nobody said how long to wait.
constexpr std::chrono::seconds one_wait{10};

void warn(std::string_view warning) { std::cerr << "redlock: warning: " << warning << '\n'; }

/// Empty: somebody else has it, or a signal ended the wait.
std::optional<Lease> acquire(Redlock& locks, const RunArguments& arguments, const std::stop_token& stop) try {
  const LockOptions options{.ttl = arguments.ttl, .auto_renew = true};
  if (arguments.wait) return locks.try_lock_for(arguments.resource, *arguments.wait, options, stop);
  // Waiting is for a lock that somebody has. That no majority can be had is for somebody to look at.
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
  // So that the command finds the private servers that exist for it.
  std::string list;
  for (const std::string& url : local_urls) list += (list.empty() ? "" : ",") + url;
  if (!list.empty()) environment.push_back("REDLOCK_NODES=" + list);
  return environment;
}

/// A command that is stopped goes on with the terminal if that is what it wanted and we have it; else the whole job
/// stops with it, as it would without us. Nothing is extended meanwhile: when the job goes on, the guard may have ended
/// the command. Who was stopped by hand (SIGSTOP) keeps the lock.
void stop_with(const Command& command, int signal, const Terminal& terminal, SignalWatch& signals) {
  if (signal == SIGSTOP) return;
  if (signal == SIGTSTP) signals.take_stop_request();
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (!wants_terminal || !terminal.lend_to(command.group())) {
    const bool had_terminal = terminal.take_back_from(command.group());
    ::kill(0, SIGSTOP);
    if (had_terminal || wants_terminal) terminal.lend_to(command.group());
  }
  command.signal(SIGCONT);
  // It swept away a SIGTSTP that came while the command was stopped.
  if (signals.take_stop_request()) command.signal(SIGTSTP);
}

struct End {
  int code = 0;
  bool lock_was_lost = false;
  bool interrupted = false;
};

End run_under(Lease& lease, const RunArguments& arguments, const std::vector<std::string>& local_urls,
              SignalWatch& signals, Watchdog& guard) {
  const Clock::duration kill_after = std::min(arguments.kill_after, arguments.ttl / 2);
  const auto arm_guard = [&](pid_t group) {
    const Clock::time_point terminate_at = lease.deadline() - kill_after;
    return guard.arm(group, terminate_at, lease.deadline()) && Clock::now() < terminate_at;
  };
  const struct Disarm {
    Watchdog& guard;
    ~Disarm() { guard.disarm(); }
  } in_the_end{guard};  // also when the command could not be executed, and its number is free again
  const Terminal terminal;
  Command command{{.words = arguments.command,
                   .environment = environment_of(lease, local_urls),
                   .signals = signals.mask_before(),
                   .before_exec = arm_guard}};
  DeadlineReporter deadline_reporter{lease, arguments.ttl, kill_after, guard, command.group()};
  signals.forward_to(&command);
  while (const int signal = command.wait()) stop_with(command, signal, terminal, signals);
  const Clock::time_point ended = Clock::now();
  deadline_reporter.stop();
  guard.disarm();
  signals.forward_to(nullptr);
  const bool had_terminal = terminal.take_back_from(command.group());
  const int code = command.exit_code();
  const bool interrupted =
      code == killed_by_signal + SIGINT && (had_terminal || signals.has_forwarded(SIGINT));
  // The terminal told the command only; the rest of the job is to hear of it as well.
  if (interrupted && had_terminal) ::kill(0, SIGINT);
  return {code, deadline_reporter.had_given_up(ended), interrupted};
}

}  // namespace

Ending run(const RunArguments& arguments) {
  Watchdog guard;
  SignalWatch signals;
  const Nodes nodes = choose_nodes(arguments.nodes);
  const MetricsFile metrics{arguments.metrics, arguments.resource, warn};
  Options options = options_of(arguments.nodes);
  options.on_warning = warn;
  options.observer = metrics.observer();
  Redlock locks{nodes.endpoints, std::move(options)};
  std::optional<Lease> lease = acquire(locks, arguments, signals.stop());
  if (const int signal = signals.stopped_by()) return {killed_by_signal + signal, signal};
  if (!lease) return {arguments.conflict_code};

  const End end = run_under(*lease, arguments, nodes.local_urls, signals, guard);
  lease->release();
  if (end.interrupted) return {end.code, SIGINT};
  if (!end.lock_was_lost) return {end.code};
  std::cerr << "redlock: the lock " << detail::printable(arguments.resource)
            << " could not be kept, so the command was terminated\n";
  return {lock_lost};
}

}  // namespace redlock::tool
