#include "simulation/world/process.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "redlock/core/base/hex.hpp"
#include "simulation/world/application.hpp"

namespace redlock::simulation {

using core::Span;
using core::Time;

namespace {

/// The name of a process in lines (`client_of`). Its successor has another one.
std::string member_of(int client, Instant begun) {
  std::string digits(15, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, begun /= 16)
    *digit = core::lower_hex[static_cast<std::size_t>(begun % 16)];
  return digits.append(1, static_cast<char>('a' + client)).append(".client");
}

std::vector<core::Session::Settings> settings_of(int client, const Schedule& schedule,
                                                 const std::string& member, const Mutant* mutant,
                                                 Random& random) {
  const bool gives_up = !mutant || mutant->gives_up_deaf_nodes();
  std::vector<core::Session::Settings> settings;
  for (int node = 0; node < nodes_of(client, schedule); ++node)
    settings.push_back({.name = "node " + std::to_string(node + 1),
                        .login = {.turn_channel = core::turn_channel(member)},
                        .connect_timeout = Process::connect_timeout,
                        .silence = (gives_up ? 4 : 100) * Span{schedule.node_timeout},
                        .seed = random.next()});
  return settings;
}

core::LineTimes line_times_of(const Schedule& schedule, const Mutant* mutant) {
  core::LineTimes times = schedule.line_times;
  if (mutant) mutant->before_start(times);
  return times;
}

std::optional<core::RestartGuard::Settings> guard_of(int client, const Schedule& schedule,
                                                     const Mutant* mutant) {
  if (!schedule.guarded) return std::nullopt;
  const auto index = static_cast<std::size_t>(client);
  core::RestartGuard::Settings guard{
      .nodes = static_cast<std::size_t>(nodes_of(client, schedule)),
      .max_ttl = index < schedule.max_ttls.size() ? schedule.max_ttls[index] : schedule.ttl,
      .drift = schedule.drift,
      .discovery_time = Process::connect_timeout,
      .strict = !schedule.automatic || client == schedule.strict_client,
      .keys = marker_keys_of(team_of(client, schedule))};
  if (mutant) mutant->before_start(guard);
  return guard;
}

}  // namespace

Process::Process(int index, const Schedule& schedule, const Mutant* mutant, Random random,
                 Surroundings& world, Judge& judge)
    : index_{index},
      schedule_{schedule},
      mutant_{mutant},
      reads_on_demand_{schedule.reads_on_demand},
      random_{random},
      world_{world},
      judge_{judge},
      engine_{settings_of(index, schedule, member_of(index, world.now()), mutant, random_),
              connect_timeout,
              random_.next(),
              guard_of(index, schedule, mutant),
              nullptr,
              member_of(index, world.now()),
              line_times_of(schedule, mutant)},
      lost_at_(engine_.nodes()) {
  for (int thread = 0; thread < schedule.threads; ++thread) {
    threads_.push_back(std::make_unique<Thread>(*this));
    threads_.back()->index = thread;
  }
}

Process::~Process() {
  judge_.lines().died(index_);
  for (const auto& thread : threads_)
    if (thread->lease) world_.lease_over(*thread->lease, LeaseEnd::death);
}

void Process::start() {
  if (index_ == schedule_.observer) return;
  for (const auto& thread : threads_) await_next_call(*thread);
}

void Process::connect(Time now) {
  note_dial();
  for (std::size_t node = 0; node < engine_.nodes(); ++node) engine_.session(node).wake(now);
}

void Process::watch(Time now) {
  note_dial();
  judge_.watches().began(index_, world_.now());
  const auto report = [this](const core::Holding& seen) {
    ++judge_.figures().holders_told;
    world_.note(index_, seen.owner ? "sees a holder" : "sees no holder");
    judge_.watches().told(index_, seen, world_.now());
  };
  core::Ref<core::HolderWatch> watch{new core::HolderWatch{key_of(watched_lock(schedule_), schedule_),
                                                           engine_.nodes(), report, watch_times}};
  watch_ = watch.get();
  engine_.watch_holder(watch, now);
  settle(now);
}

/// Until all nodes are reached, calls of this process may stand in line at another node than those of other processes.
void Process::note_dial() {
  if (!std::exchange(has_dialled_, true)) judge_.lines().client_began(world_.now());
}

// ── the shell ───────────────────────────────────────────────────────────────────────────────────────────────

void Process::answered(int line, const std::vector<core::Reply>& replies, Time now) {
  for (const core::Reply& reply : replies) engine_.answered(static_cast<std::size_t>(line), reply, now);
  settle(now);
}

void Process::connected(int line, Time now) {
  engine_.connected(static_cast<std::size_t>(line));
  settle(now);
}

void Process::disconnected(int line, Time now) {
  if (static_cast<std::size_t>(line) < engine_.nodes()) lost_at_[static_cast<std::size_t>(line)] = now;
  engine_.disconnected(static_cast<std::size_t>(line), {NodeStatus::unreachable, "the connection was lost"},
                       now);
  settle(now);
}

void Process::on_time(Time now) {
  if (reads(now)) engine_.on_time(now);
  settle(now);
}

Time Process::timer(Time now) const noexcept {
  Time first = std::min(reads(now) ? engine_.timer() : engine_.background_timer(), loss_queue_.timer());
  for (const auto& thread : threads_)
    if (thread->pauses(now)) first = std::min(first, thread->operation->pauses_until());
  return first;
}

bool Process::reads(Time now) const noexcept {
  const auto waits = [now](const std::unique_ptr<Thread>& thread) {
    return thread->operation && !thread->operation->done() && !thread->pauses(now);
  };
  return !reads_on_demand_ || std::any_of(threads_.begin(), threads_.end(), waits) ||
         engine_.needs_attention() || engine_.background_timer() <= now;
}

bool Process::notices_ends(Time now) noexcept {
  const core::HeldLeases* const held = engine_.held_leases();
  return held && now < held->until() && (!mutant_ || mutant_->holders_look());
}

/// Called after every event. Wakes threads whose operations are finished a little later; renewals belong to no thread.
void Process::settle(Time now) {
  for (const core::Ref<core::Operation>& done : engine_.finished()) {
    if (!done->completion) {
      if (const auto* const renewal = dynamic_cast<const core::Extension*>(done.get()))
        judge_renewal(*renewal, now);
      continue;
    }
    done->completion->completed(*done);
    Thread& thread = *std::exchange(ended_, nullptr);
    if (thread.state == Thread::State::asking && thread.pursuit->granted())
      judge_grant(*thread.pursuit->granted());
    if (thread.state == Thread::State::asking_for_all && thread.joint_pursuit->granted())
      judge_.lines().granted_together({index_, thread.index}, world_.now());
    // A writer that becomes a reader takes no turn.
    if (thread.state == Thread::State::asking && thread.pursuit->granted() && !thread.writer)
      judge_.lines().granted({index_, thread.index}, world_.now());
    if (thread.state == Thread::State::extending) judge_extension(thread, *thread.extension, now);
    wake_later(thread, random_.between(1, 30) * microsecond);
  }
  engine_.finished().clear();
  for (const auto& thread : threads_) {
    const LineJudge::Caller caller{index_, thread->index};
    if (thread->state == Thread::State::asking)
      judge_.lines().stands(caller, !thread->finished() && thread->pursuit->is_standing(), world_.now());
    if (thread->state == Thread::State::asking_for_all)
      judge_.lines().stands_for_all(caller, !thread->finished() && thread->joint_pursuit->is_standing(),
                                    world_.now());
  }
  while (const std::shared_ptr<Held> lost = loss_queue_.take_lost(now)) report_loss(lost, now);
  heed_requests(now);
}

/// Reports the loss to the application.
void Process::report_loss(const std::shared_ptr<Held>& lost, Time now) {
  for (const auto& thread : threads_)
    if (thread->held == lost && thread->lease) {
      world_.note(index_, "is told that the lock is lost");
      judge_.loss_reported(*thread->lease, world_.now());
      if (mutant_ && !mutant_->keeps_copies_of_lost())
        engine_.submit(core::Ref<core::Operation>{new core::ReleaseOperation{lost, engine_.nodes()}}, now);
      call_back(*thread, now);
    }
}

/// Whether the majority includes votes from connections that were lost before the decision: these nodes may have forgotten
/// what they granted.
bool Process::rests_on_lost_connections(const core::Tally& tally, Time begun) const {
  std::size_t worth = 0;
  for (core::NodeIndex node = 0; node < tally.nodes(); ++node)
    worth += tally.is(node, core::Tally::Mark::yes) && lost_at_[node] <= begun ? 1 : 0;
  return worth < core::quorum(tally.nodes());
}

void Process::judge_grant(const core::Acquisition& granted) {
  if (rests_on_lost_connections(granted.tally(), granted.begun()))
    judge_.report(Rule::honesty, world_.now(),
                  "a grant counts although its connection was lost before the decision");
}

void Process::judge_renewal(const core::Extension& extension, Time now) {
  for (const auto& thread : threads_)
    if (thread->held.get() == &extension.lease() && thread->lease) judge_extension(*thread, extension, now);
}

void Process::judge_extension(const Thread& thread, const core::Extension& extension, Time now) {
  if (extension.outcome() != core::Extension::Outcome::extended) return;
  if (now.time_since_epoch().count() >= judge_.lease(*thread.lease).deadline)
    judge_.report(Rule::honesty, world_.now(), "a lease was extended after its deadline");
  if (rests_on_lost_connections(extension.tally(), extension.begun()))
    judge_.report(Rule::honesty, world_.now(),
                  "an extension counts although its connection was lost before the decision");
  std::vector<bool> votes;
  for (core::NodeIndex node = 0; node < engine_.nodes(); ++node)
    votes.push_back(extension.tally().is(node, core::Tally::Mark::yes));
  const Instant deadline = extension.lease().deadline().time_since_epoch().count();
  judge_.prolong(*thread.lease, deadline, votes, world_.now());
  world_.lease_prolonged(*thread.lease);
  if (!mutant_ || mutant_->looks_at_all_deadlines()) return;
  for (const Judge::LeaseIndex other : thread.got_together)
    if (!judge_.lease(other).over) judge_.prolong(other, deadline, votes, world_.now());
}

void Process::flush() {
  for (core::ConnectionIndex line = 0; line < engine_.connections(); ++line) {
    core::Session& session = engine_.session(line);
    while (session.has_errand()) {
      if (auto closing = session.take_closing())
        world_.disconnect(index_, static_cast<int>(line), closing->graceful, closing->unsent);
      if (session.take_dial()) world_.dial(index_, static_cast<int>(line));
    }
    if (session.unsent().empty()) continue;
    world_.send(index_, static_cast<int>(line), session.unsent());
    session.sent(session.unsent().size());
  }
}

std::optional<std::string> Process::left_over() const {
  if (engine_.active() > 0) return "operations that nobody waits for";
  if (loss_queue_.timer() != core::never) return "a lease whose loss was not reported";
  for (std::size_t node = 0; node < engine_.nodes(); ++node) {
    const core::Session& session = engine_.session(node);
    if (session.pending() > 0 || session.must_read()) return "pending replies from " + session.name();
    if (!session.unsent().empty()) return "unsent bytes for " + session.name();
  }
  if (engine_.timer() != core::never) return "a timer";
  return std::nullopt;
}

}  // namespace redlock::simulation
