#include "api/client.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "api/label.hpp"
#include "api/limits.hpp"
#include "api/socket_shell.hpp"
#include "os/fork_guard.hpp"
#include "os/process_label.hpp"
#include "os/quiet_thread.hpp"
#include "os/random.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/line/line_messages.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::Time;

constexpr std::size_t most_nodes = 31;

const std::vector<Endpoint>& checked(const std::vector<Endpoint>& nodes) {
  if (nodes.empty() || nodes.size() > most_nodes)
    throw Error{Errc::invalid_argument, std::to_string(nodes.size()) + " nodes were given; allowed: 1 to 31"};
  std::set<std::string> seen;
  for (const Endpoint& node : nodes) {
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

void warn(const Options& options, const std::vector<Endpoint>& nodes) {
  if (!options.on_warning) return;
  if (nodes.size() % 2 == 0)
    options.on_warning(std::to_string(nodes.size()) + " nodes tolerate no more failures than " +
                       std::to_string(nodes.size() - 1) + "; use an odd number of nodes");
  for (const Endpoint& node : nodes)
    if (node.transport() == Endpoint::Transport::tls && node.tls_options(options.tls).insecure_skip_verify)
      options.on_warning(node.to_string() +
                         ": the certificate is not verified (insecure_skip_verify), so whoever is on the way "
                         "can read and change everything");
}

/// The nodes, each with its TLS options.
std::vector<Endpoint> with_tls_options(std::vector<Endpoint> nodes, const Options& options) {
  for (Endpoint& node : nodes) node = node.with(node.tls_options(options.tls));
  return nodes;
}

std::vector<std::string> names_of(const std::vector<Endpoint>& nodes) {
  std::vector<std::string> names;
  for (const Endpoint& node : nodes) names.push_back(node.to_string());
  return names;
}

/// What a node's report says if no connection was made in time. Redis without TLS does not answer the first message of TLS.
std::string late_message(const Endpoint& node) {
  std::string late = "no connection within the connect timeout";
  if (node.transport() == Endpoint::Transport::tls)
    late += "; the server hangs, or does not speak TLS at this port";
  return late;
}

std::vector<core::Session::Settings> settings_of(const std::vector<Endpoint>& nodes, const Options& options,
                                                 const std::string& turn_channel) {
  std::vector<core::Session::Settings> settings;
  for (const Endpoint& node : nodes) {
    Credentials login =
        options.credentials ? options.credentials(node) : Credentials{node.user(), node.password()};
    settings.push_back({.name = node.to_string(),
                        .login = {std::move(login.user), std::move(login.password), node.db(),
                                  connection_name(), turn_channel},
                        .connect_timeout = options.connect_timeout,
                        .silence = 4 * options.node_timeout.value_or(default_node_timeout).get(),
                        .seed = random_number(),
                        .late = late_message(node)});
  }
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

/// After an adoption that failed, a node that named an empty owner has no value.
void show_free(std::vector<NodeReport>& nodes) {
  for (NodeReport& node : nodes) {
    if (node.status != NodeStatus::held || node.owner != "") continue;
    node.status = NodeStatus::free;
    node.owner.reset();
  }
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
      member_{draw_member(label_)},
      generation_{fork_generation()},
      wall_clock_{std::move(wall_clock)},
      registry_{new LeaseRegistry},
      events_{options_.observer
                  ? new EventQueue{options_.observer, options_.key_prefix.size(), options_.on_warning}
                  : nullptr},
      shell_{make_shell({.nodes = with_tls_options(nodes, options_),
                         .sessions = settings_of(nodes, options_, core::turn_channel(member_)),
                         .connect_timeout = options_.connect_timeout,
                         .credentials = options_.credentials,
                         .credentials_interval = options_.credentials_interval,
                         .guard = guard_of(nodes.size(), options_),
                         .observer = events_.get(),
                         .member = member_,
                         .report = options_.on_warning})} {
  pin_module();  // for name lookups, and for callbacks that destroy their client
  warn(options_, nodes);
}

bool Client::is_of_this_process() const noexcept { return fork_generation() == generation_; }

void Client::check_process() const {
  if (!is_of_this_process())
    throw Error{Errc::invalid_argument,
                "the client was created before fork(); create a new one in the child"};
}

Observer::Kind Client::kind_of(const LockOptions& options) noexcept {
  if (options.shared) return Observer::Kind::shared;
  return options.seats ? Observer::Kind::seat : Observer::Kind::exclusive;
}

/// Makes the claim of a call, without owner value and proposal.
core::Claim Client::claim_of(std::string_view resource, const LockOptions& options) const {
  const Timing times = timing(options_, options);
  check_label(options.label);
  check_shared(options);
  core::Claim claim{.key = lock_key(options_.key_prefix, resource),
                    .owner = {},
                    .ttl = std::chrono::ceil<std::chrono::milliseconds>(times.ttl),
                    .lock_delay = std::chrono::ceil<std::chrono::milliseconds>(times.lock_delay),
                    .at_least = std::chrono::ceil<std::chrono::milliseconds>(times.at_least),
                    .drift = times.drift,
                    .node_timeout = times.node_timeout,
                    .observed_as = kind_of(options)};
  if (options.fencing)
    claim.fence = core::Fence{.counter_key = core::counter_key(claim.key),
                              .memory = std::chrono::ceil<std::chrono::milliseconds>(times.fence_memory)};
  if (options.shared) claim.share();
  claim.heeds_flag = options.order.value_or(Order::fifo) == Order::fifo;
  return claim;
}

// ── acquiring ───────────────────────────────────────────────────────────────────────────────────────────────

/// Draws and reads what the core cannot.
core::LockCall Client::call_of(std::string_view resource, const LockOptions& options, Attempts attempts,
                               Time give_up_at) {
  return {.claim = claim_of(resource, options),
          .attempts = attempts,
          .give_up_at = give_up_at,
          .node_wait = node_wait(options),
          .is_fair = options.order.value_or(Order::fifo) == Order::fifo,
          .insists_on_order = options.order == Order::fifo,
          .owner_values = draw_owner_values(options.label.empty() ? label_ : options.label),
          .time_of_day = wall_clock_(),
          .seed = attempts == Attempts::one ? 0 : shell_->random()};
}

LockResult Client::acquire(std::string_view resource, const LockOptions& options, Attempts attempts,
                           Time give_up_at, const std::stop_token& stop, bool is_election) {
  check_process();
  const Observer::Kind kind = is_election ? Observer::Kind::leader : kind_of(options);
  const Time called = events_ ? now() : Time{};
  std::optional<LockResult> result;
  while (!result) {
    core::LockCall call = call_of(resource, options, attempts, give_up_at);
    call.claim.observed_as = kind;
    if (is_election) call.owner_values.mark_leader();
    call.seats = seats_of(resource, options);
    if (call.seats > 0 && call.seed == 0) call.seed = shell_->random();
    result = run(std::move(call), resource, options, stop);
  }
  if (attempts == Attempts::until_time) tell_of_wait(resource, kind, result->code(), called);
  return std::move(*result);
}

void Client::tell_of_wait(std::string_view resource, Observer::Kind kind, std::error_code code, Time called) {
  if (!events_) return;
  events_->waited({.resource = lock_key(options_.key_prefix, resource),
                   .kind = kind,
                   .failure = code ? std::optional{static_cast<Errc>(code.value())} : std::nullopt,
                   .waited = now() - called});
}

LockResult Client::adopt(const Handover& handover, const LockOptions& options) {
  check_process();
  check_adoption(handover, options);
  core::LockCall call = call_of(handover.resource, options, Attempts::one, core::never);
  call.claim.adopted_owner = handover.owner_value;
  call.claim.heeds_flag = false;  // it takes over a lock that is held
  call.adopted_token = handover.token.value();
  return *run(std::move(call), handover.resource, options, {});
}

LockResult Client::downgrade(Lease&& lease, LockOptions options) {
  check_process();
  const Record record = lease.record_;
  check_downgrade(lease, now());
  const auto is_over = [] {
    return LockResult{Errc::lost, "the lease was over before it could be downgraded", {}};
  };
  if (record->release_outcome) return is_over();  // released, or left to an adopter
  options.shared = true;
  core::LockCall call = call_of(record->resource, options, Attempts::one, core::never);
  call.claim.adopted_owner = record->claim.owner;
  call.claim.heeds_flag = false;  // it goes on with a lock that is held
  call.adopted_token = record->claim.token;
  const bool was_in_force = shell_->let_go(record);
  record->count(now(), was_in_force ? Release::released : Release::already_lost);
  if (was_in_force)
    record->was_used = false;  // its release leaves nothing; that of a lost one keeps the lock_delay
  std::optional<LockResult> result;
  if (was_in_force) result = run(std::move(call), record->resource, options, {});
  record->release_outcome = release(record);
  return result ? std::move(*result) : is_over();
}

void Client::check_downgrade(const Lease& lease, Time now) const {
  const auto refuse = [](const char* why) { throw Error{Errc::invalid_argument, why}; };
  if (!lease.record_ || lease.client_.get() != this) refuse("only a lease of this client can be downgraded");
  if (lease.record_->claim.is_shared())
    refuse("the lease is a shared one; only an exclusive one can be downgraded");
  if (lease.record_->claim.is_kept(now))
    refuse("at_least of the lease is not over yet, so nobody else may have the lock");
}

/// Returns none if the lock was granted, but the lease ended before it could be returned, and the call has time left.
std::optional<LockResult> Client::run(core::LockCall&& call, std::string_view resource,
                                      const LockOptions& options, const std::stop_token& stop) {
  const bool is_adoption = !call.claim.adopted_owner.empty();
  const auto result_of = [this, is_adoption](const core::Pursuit::Failure& why) {
    Failure explained = failed(why);
    if (is_adoption) show_free(explained.nodes);
    return LockResult{explained.code, std::move(explained.details), std::move(explained.nodes)};
  };
  if (is_shut_down_ || stop.stop_requested()) return result_of({Errc::cancelled, std::nullopt});
  const Time tries_until = call.waits() ? call.give_up_at : Time::min();
  auto pursuit = std::make_unique<core::Pursuit>(std::move(call), names_.size());
  std::optional<core::Pursuit::Failure> failure;
  std::optional<Granted> granted;
  shell_->run(std::move(pursuit), stop, [&failure, &granted](core::Pursuit& done) {
    if (core::Acquisition* const attempt = done.granted())
      granted.emplace(*attempt);
    else
      failure.emplace(done.take_failure());
  });
  if (failure) return result_of(*failure);
  Lease lease = make_lease(resource, options, *granted);
  if (begin_leases({&lease.record_, 1}, options)) return lease;
  if (is_shut_down_) return result_of({Errc::cancelled, std::move(granted->tally)});
  if (now() < tries_until) return std::nullopt;
  return result_of({Errc::too_slow, std::move(granted->tally)});
}

Client::Failure Client::failed(const core::Pursuit::Failure& failure) const {
  if (failure.code != Errc::cancelled && failure.tally) return explain(failure.code, *failure.tally);
  if (failure.code == Errc::timed_out)
    return {failure.code, "the call stood in line, and no node has answered its last attempt", {}};
  const std::string why = is_shut_down_ ? "the client was shut down" : "stop was requested";
  if (!failure.tally) return {failure.code, why, {}};
  Failure explained = explain(failure.code, *failure.tally);
  explained.details.insert(0, why + "; ");
  return explained;
}

/// Makes the lease of a granted attempt. Moves the claim out of `granted`.
Lease Client::make_lease(std::string_view resource, const LockOptions& options, Granted& granted) {
  const Time ends_at = options.max_hold ? core::later(granted.begun, options.max_hold->get()) : core::never;
  std::string name =
      granted.claim.is_seat() ? granted.claim.key.substr(options_.key_prefix.size()) : std::string{resource};
  auto record = std::make_shared<LeaseRecord>(std::move(name), std::move(granted.claim), granted.begun,
                                              granted.valid_until, ends_at, options.on_lost, shell_->losses(),
                                              events_.get());
  record->held_leases = shell_->held_leases();
  if (options.on_revoke) {
    record->listen_to_requests();
    record->on_revoke = options.on_revoke;
  }
  return Lease{shared_from_this(), record};
}

/// Has the leases of a call renewed and watched, as its options say, before the caller gets them. Returns false if one of them is
/// over already, or the client has just been shut down: the caller gets none, its callbacks are not called, and the observer does
/// not hear of the leases.
bool Client::begin_leases(std::span<const Record> records, const LockOptions& options) {
  const auto set_returned = [records](bool are_returned) {
    for (const Record& record : records) record->set_returned(are_returned);
  };
  try {
    set_returned(true);
    const bool is_kept = keep(records, options);
    if (!is_kept) set_returned(false);
    return is_kept;
  } catch (...) {  // no thread, timer or memory
    set_returned(false);
    for (const Record& record : records) shell_->losses().forget(record);
    throw;
  }
}

bool Client::keep(std::span<const Record> records, const LockOptions& options) {
  bool is_open = true;
  for (const Record& record : records) {
    if (registry_->add(record)) continue;
    shell_->shut_down({record});
    is_open = false;
  }
  if (!is_open) return false;
  const bool has_callbacks = options.on_lost || options.on_revoke;
  // From then on the caller or the observer hears of a loss, so the caller gets the leases.
  bool is_told = false;
  if (has_callbacks || events_) try {
      is_told = shell_->losses().add(records);
      if (!is_told) return false;
    } catch (const std::system_error&) {  // the observer hears of a loss when the lease is released
      if (has_callbacks) throw;
    }
  for (const Record& record : records) {
    if (options.renewal == Renewal::automatic) shell_->keep(record);
    if (has_callbacks) shell_->watch(record);
  }
  const auto in_force = [now = now()](const Record& record) { return record->in_force(now); };
  return is_told || std::ranges::all_of(records, in_force);
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
  forget(record);
  return outcome;
}

/// After the release of the lease: no callback of it begins any more.
void Client::forget(const Record& record) noexcept {
  if (fork_generation() != generation_) return;
  registry_->remove(*record);
  shell_->losses().forget(record);
  record->retire();
}

bool Client::orphan(const Record& record) noexcept {
  if (fork_generation() != generation_) return false;
  if (!shell_->let_go(record)) return false;        // it is lost, and its release deletes what is left of it
  record->release_outcome = Release::already_lost;  // this lease must not release the lock any more
  record->count(now(), Release::unknown);
  forget(record);
  return true;
}

void Client::shut_down() {
  check_process();
  is_shut_down_ = true;
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

/// How long a call without a ttl waits for a node.
core::Span Client::default_wait() const { return options_.node_timeout.value_or(default_node_timeout).get(); }

}  // namespace redlock::inline v1::detail
