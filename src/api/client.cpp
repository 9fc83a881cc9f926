#include "api/client.hpp"

#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "api/label.hpp"
#include "api/limits.hpp"
#include "api/socket_shell.hpp"
#include "os/fork_guard.hpp"
#include "os/process_label.hpp"
#include "os/quiet_thread.hpp"
#include "os/random.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/restart_guard/ceiling_raise.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::NodeIndex;
using core::Tally;
using core::Time;

constexpr std::size_t most_nodes = 31;

const std::vector<Endpoint>& checked(const std::vector<Endpoint>& nodes) {
  if (nodes.empty() || nodes.size() > most_nodes)
    throw Error{Errc::invalid_argument, std::to_string(nodes.size()) + " nodes were given; allowed: 1 to 31"};
  std::set<std::string> seen;
  for (const Endpoint& node : nodes) {
    if (node.transport() == Endpoint::Transport::tls)
      throw Error{Errc::invalid_argument,
                  node.to_string() + ": this build has no TLS; use redis:// or unix://"};
    if (!seen.insert(node.to_string()).second)
      throw Error{Errc::invalid_argument,
                  node.to_string() + " was given twice; every node must be a different server"};
  }
  return nodes;
}

Options checked(Options options) {
  check(options);
  return options;
}

void warn(const Options& options, std::size_t nodes) {
  if (nodes % 2 != 0 || !options.on_warning) return;
  options.on_warning(std::to_string(nodes) + " nodes tolerate no more failures than " +
                     std::to_string(nodes - 1) + "; use an odd number of nodes");
}

std::vector<std::string> names_of(const std::vector<Endpoint>& nodes) {
  std::vector<std::string> names;
  for (const Endpoint& node : nodes) names.push_back(node.to_string());
  return names;
}

std::vector<core::Session::Settings> settings_of(const std::vector<Endpoint>& nodes, const Options& options) {
  std::vector<core::Session::Settings> settings;
  for (const Endpoint& node : nodes)
    settings.push_back({.name = node.to_string(),
                        .login = {node.user(), node.password(), node.db(), connection_name()},
                        .connect_timeout = options.connect_timeout,
                        .silence = 4 * options.node_timeout.value_or(default_node_timeout).get(),
                        .seed = random_number()});
  return settings;
}

std::optional<core::RestartGuard::Settings> guard_of(std::size_t nodes, const Options& options) {
  if (options.restart_guard == RestartGuard::off) return std::nullopt;
  return core::RestartGuard::Settings{
      .nodes = nodes,
      .max_ttl = std::chrono::ceil<std::chrono::milliseconds>(options.max_ttl.get()),
      .drift = options.drift ? std::optional{options.drift->get()} : std::nullopt,
      .discovery_time = options.connect_timeout,
      .strict = options.restart_guard == RestartGuard::strict,
      .durable = options.durable_nodes,
      .keys = core::MarkerKeys{options.key_prefix}};
}

}  // namespace

std::chrono::microseconds system_wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now);
}

OwnProcessPtr<Shell> Client::make_socket_shell(Shell::Parts parts) {
  return OwnProcessPtr<Shell>{new SocketShell{std::move(parts)}};
}

Client::Client(const std::vector<Endpoint>& nodes, Options options, WallClock wall_clock,
               const MakeShell& make_shell)
    : options_{checked(std::move(options))},
      names_{names_of(checked(nodes))},
      label_{process_label(::program_invocation_short_name)},
      generation_{fork_generation()},
      wall_clock_{std::move(wall_clock)},
      registry_{new LeaseRegistry},
      events_{options_.observer
                  ? new EventQueue{options_.observer, options_.key_prefix.size(), options_.on_warning}
                  : nullptr},
      shell_{make_shell({.nodes = nodes,
                         .sessions = settings_of(nodes, options_),
                         .connect_timeout = options_.connect_timeout,
                         .guard = guard_of(nodes.size(), options_),
                         .observer = events_.get(),
                         .report = options_.on_warning})} {
  pin_module();  // for name lookups, and for callbacks that destroy their client
  warn(options_, nodes.size());
}

void Client::check_process() const {
  if (fork_generation() != generation_)
    throw Error{Errc::invalid_argument,
                "the client was created before fork(); create a new one in the child"};
}

/// Makes the claim of a call, without owner value and proposal.
core::Claim Client::claim_of(std::string_view resource, const LockOptions& options) const {
  const Timing times = timing(options_, options);
  check_label(options.label);
  core::Claim claim{.key = lock_key(options_.key_prefix, resource),
                    .owner = {},
                    .ttl = std::chrono::ceil<std::chrono::milliseconds>(times.ttl),
                    .drift = times.drift,
                    .node_timeout = times.node_timeout};
  if (options.fencing)
    claim.fence = core::Fence{.counter_key = core::counter_key(claim.key),
                              .memory = std::chrono::ceil<std::chrono::milliseconds>(times.fence_memory)};
  return claim;
}

// ── acquiring ───────────────────────────────────────────────────────────────────────────────────────────────

struct Client::Attempt {
  std::optional<Errc> failure;  // none: granted
  core::Claim claim;            // if granted
  Tally tally;
  Time begun{};
  Time valid_until{};
};

/// Makes the next attempt of the pursuit.
Client::Attempt Client::attempt(core::Pursuit& pursuit, const std::string& label,
                                const std::stop_token& stop) {
  const std::uint64_t proposed = pursuit.is_fenced() ? proposal() : 0;
  core::Claim claim = pursuit.claim(new_owner_value(label, wall_clock_()), proposed);
  auto acquisition = std::make_unique<core::Acquisition>(std::move(claim), names_.size(), pursuit.purpose());
  acquisition->give_up_at = pursuit.give_up_at();
  return shell_->run(std::move(acquisition), stop, [](core::Acquisition& ended) {
    const Time valid_until = ended.valid_until();
    return Attempt{ended.failure(), ended.granted() ? ended.take_claim() : core::Claim{}, ended.take_tally(),
                   ended.begun(), valid_until};
  });
}

LockResult Client::acquire(std::string_view resource, const LockOptions& options, Attempts attempts,
                           Time give_up_at, const std::stop_token& stop) {
  check_process();
  core::Pursuit pursuit{claim_of(resource, options), attempts, give_up_at, node_wait(options)};
  if (!events_ || attempts == Attempts::one) return run(pursuit, resource, options, stop);
  const Time called = now();
  LockResult result = run(pursuit, resource, options, stop);
  events_->waited({.resource = lock_key(options_.key_prefix, resource),
                   .failure = result ? std::nullopt : std::optional{static_cast<Errc>(result.code().value())},
                   .waited = now() - called});
  return result;
}

LockResult Client::adopt(const Handover& handover, const LockOptions& options) {
  check_process();
  check_adoption(handover, options);
  core::Claim claim = claim_of(handover.resource, options);
  claim.adopted_owner = handover.owner_value;
  core::Pursuit pursuit{std::move(claim), Attempts::one, core::never, node_wait(options),
                        handover.token.value()};
  return run(pursuit, handover.resource, options, {});
}

LockResult Client::run(core::Pursuit& pursuit, std::string_view resource, const LockOptions& options,
                       const std::stop_token& stop) {
  for (;;) {
    if (shutting_down_.stop_requested()) return LockResult{Errc::cancelled, "the client was shut down"};
    if (stop.stop_requested()) return LockResult{Errc::cancelled, "stop was requested"};
    Attempt ended = attempt(pursuit, options.label.empty() ? label_ : options.label, stop);
    if (!ended.failure) {
      // Check the validity here, because this thread may have slept since the last grant.
      Lease lease = make_lease(resource, options, ended);
      if (lease.valid()) return lease;
    }
    auto next = pursuit.failed(why_not(ended), std::move(ended.tally), ended.begun, now(),
                               pursuit.waits() ? shell_->random() : 0);
    if (next == core::Pursuit::Next::pause) {
      pause(pursuit.pause_until(), stop);
      next = pursuit.pause_over(now());
    }
    if (next == core::Pursuit::Next::end) {
      Failure failure = explain(pursuit.code(), pursuit.tally());
      return LockResult{failure.code, std::move(failure.details), std::move(failure.nodes)};
    }
  }
}

/// Why an attempt gave no lease, or gave one whose validity ended before the call could return it.
Errc Client::why_not(const Attempt& ended) const noexcept {
  if (shutting_down_.stop_requested()) return Errc::cancelled;
  return ended.failure.value_or(Errc::too_slow);
}

/// Sleeps until `until`, a stop request or the client's shutdown.
void Client::pause(Time until, const std::stop_token& stop) const {
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback by_caller{stop, end};
  const std::stop_callback by_all{shutting_down_.get_token(), end};
  shell_->pause(until, either.get_token());
}

/// Proposes the time of day as the fencing counter. This realigns counters that drifted apart, and lets counters that
/// were lost continue near their old value. Safety does not depend on it.
std::uint64_t Client::proposal() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(wall_clock_().count(), 0));
}

/// Makes the lease of a granted attempt. Moves the claim out of `granted`.
Lease Client::make_lease(std::string_view resource, const LockOptions& options, Attempt& granted) {
  const Time ends_at = options.max_hold ? core::later(granted.begun, options.max_hold->get()) : core::never;
  auto record = std::make_shared<LeaseRecord>(std::string{resource}, std::move(granted.claim), granted.begun,
                                              granted.valid_until, ends_at, options.on_lost, shell_->losses(),
                                              events_.get());
  record->held_leases = shell_->held_leases();
  Lease lease{shared_from_this(), record};
  if (!registry_->add(record)) {  // the client has just been shut down
    shell_->shut_down({record});
    return lease;
  }
  if (options.on_lost)
    shell_->losses().add(record);
  else if (events_)
    report_loss_if_possible(record);
  if (options.renewal == Renewal::automatic) shell_->keep(record);
  if (options.on_lost) shell_->watch(record);
  return lease;
}

/// Has the loss reported for the observer's sake. If that fails, the lock is kept, and its loss is reported
/// to the observer when the lease is released.
void Client::report_loss_if_possible(const Record& record) try {
  shell_->losses().add(record);
} catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
}

// ── leases ──────────────────────────────────────────────────────────────────────────────────────────────────

std::optional<Client::Failure> Client::extend(const Record& record) {
  check_process();
  if (record->state(now()) == State::released)
    return Failure{Errc::lost, "the lease has already been released", {}};
  auto extension = std::make_unique<core::Extension>(record, names_.size());
  return shell_->run(std::move(extension), {}, [&](const core::Extension& ended) -> std::optional<Failure> {
    switch (ended.outcome()) {
      case core::Extension::Outcome::extended:
        return std::nullopt;
      case core::Extension::Outcome::lost:
        return explain(Errc::lost, ended.tally());
      case core::Extension::Outcome::in_doubt:
        break;
    }
    return explain(ended.tally().is_hopeless() ? Errc::misconfigured : Errc::no_quorum, ended.tally());
  });
}

Release Client::release(const Record& record) noexcept {
  Release outcome = Release::unknown;
  try {
    check_process();
    auto release_operation = std::make_unique<core::ReleaseOperation>(record, names_.size());
    outcome = shell_->run(std::move(release_operation), {}, [&](const core::ReleaseOperation& ended) {
      record->count(ended.begun(), ended.outcome());
      return ended.outcome();
    });
  } catch (const std::exception&) {  // no memory, or in a child of fork(): the copies expire by themselves
    record->release(now());
  }
  if (fork_generation() != generation_) return outcome;
  registry_->remove(*record);
  shell_->losses().forget(record);
  record->retire();
  return outcome;
}

bool Client::orphan(const Record& record) noexcept {
  if (fork_generation() != generation_) return false;
  record->release_outcome = Release::already_lost;  // this lease must not release the lock any more
  registry_->remove(*record);
  const bool was_in_force = shell_->let_go(record);
  record->count(now(), was_in_force ? Release::unknown : Release::already_lost);
  shell_->losses().forget(record);
  record->retire();
  return was_in_force;
}

void Client::shut_down() {
  check_process();
  shutting_down_.request_stop();
  shell_->shut_down(registry_->close());
}

std::stop_token Client::stop_token(const Record& record) {
  check_process();
  std::stop_token token = shell_->losses().stop_token(record);
  shell_->watch(record);
  return token;
}

bool Client::wait_lost(const Record& record, Time until, const std::stop_token& stop) {
  check_process();
  shell_->watch(record);
  return shell_->losses().wait(record, until, stop);
}

// ── reports ─────────────────────────────────────────────────────────────────────────────────────────────────

std::vector<NodeReport> Client::inspect(std::string_view resource) {
  check_process();
  auto inspection =
      std::make_unique<core::Inspection>(lock_key(options_.key_prefix, resource), names_.size(),
                                         options_.node_timeout.value_or(default_node_timeout).get());
  return shell_->run(std::move(inspection), {}, [this](const core::Inspection& ended) {
    return reports(ended.tally(), NodeStatus::free);
  });
}

std::chrono::nanoseconds Client::raise_max_ttl(Duration max_ttl) {
  check_process();
  check_max_ttl(max_ttl);
  if (options_.restart_guard == RestartGuard::off)
    throw Error{Errc::invalid_argument, "restart_guard is off, so the nodes have no max_ttl"};
  auto raise = std::make_unique<core::CeilingRaise>(
      std::chrono::ceil<std::chrono::milliseconds>(max_ttl.get()), names_.size(), options_.durable_nodes,
      options_.node_timeout.value_or(default_node_timeout).get());
  return shell_->run(std::move(raise), {}, [&](const core::CeilingRaise& ended) -> std::chrono::nanoseconds {
    const Tally& tally = ended.tally();
    if (tally.count(Tally::Mark::yes) == tally.nodes()) return ended.max_ttl();
    const std::vector<NodeReport> all = reports(tally, NodeStatus::granted);
    std::vector<NodeReport> failed;
    for (NodeIndex node = 0; node < all.size(); ++node)
      if (tally.is(node, Tally::Mark::unknown)) failed.push_back(all[node]);
    throw Error{tally.misconfigured() > 0 ? Errc::misconfigured : Errc::no_quorum,
                "max_ttl was not raised, because that takes all " + std::to_string(tally.nodes()) +
                    " nodes with their markers; try again when these are well",
                std::move(failed)};
  });
}

Client::Failure Client::explain(Errc code, const Tally& tally) const {
  std::string details = std::to_string(tally.votes()) + " of " + std::to_string(tally.nodes()) +
                        " nodes voted, " + std::to_string(core::quorum(tally.nodes())) + " needed";
  const std::optional<core::Span> wait = code == Errc::no_quorum ? tally.majority_votes_in() : std::nullopt;
  if (wait && *wait > core::Span::zero())
    details.append("; enough nodes vote again in ")
        .append(core::readable(std::chrono::ceil<std::chrono::milliseconds>(*wait)))
        .append(": wait, or let calls wait with node_wait");
  return {code, details, reports(tally, NodeStatus::granted)};
}

std::vector<NodeReport> Client::reports(const Tally& tally, NodeStatus yes) const {
  std::vector<NodeReport> reports;
  reports.reserve(tally.nodes());
  for (NodeIndex node = 0; node < tally.nodes(); ++node) {
    const Tally::Ballot& ballot = tally[node];
    NodeReport& report = reports.emplace_back(NodeReport{names_[node], yes, {}, ballot.owner, ballot.ttl});
    if (ballot.counter) report.counter = FencingToken{*ballot.counter};
    if (ballot.mark == Tally::Mark::no) report.status = NodeStatus::held;
    if (ballot.mark == Tally::Mark::unknown) report.status = ballot.trouble.status;
    report.message = ballot.trouble.message;
    report.votes_in = ballot.trouble.votes_in;
    if (ballot.mark != Tally::Mark::pending) continue;
    report.status = NodeStatus::not_awaited;
    report.message = "the call ended before the node answered";
  }
  return reports;
}

}  // namespace redlock::inline v1::detail
