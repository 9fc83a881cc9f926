#include "simulation/world/application.hpp"

#include <algorithm>
#include <utility>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/restart_guard/ceiling_raise.hpp"

namespace redlock::simulation {

using core::Acquisition;
using core::Extension;
using core::Pursuit;
using core::ReleaseOperation;
using core::Span;
using core::Time;

/// A number of a thread with that of its wake, or the complement of the former, which cancels its call.
void Process::wake(int what, Time now) {
  if (const int cancelled = ~what; cancelled >= 0)
    return cancel(*threads_[static_cast<std::size_t>(cancelled)], now);
  Thread& thread = *threads_[static_cast<std::size_t>(what % most_threads)];
  if (what / most_threads != thread.wakes) return;
  switch (thread.state) {
    case Thread::State::thinking:
      return begin_call(thread, now);
    case Thread::State::asking:
      if (thread.finished()) call_done(thread, now);
      return;
    case Thread::State::asking_for_all:
      if (thread.finished()) joint_call_done(thread, now);
      return;
    case Thread::State::holding:
      return hold(thread, now);
    case Thread::State::writing:
      return end_hold(thread, now);
    case Thread::State::extending:
      if (thread.finished()) extension_ended(thread, now);
      return;
    case Thread::State::releasing:
      if (thread.finished()) released(thread, now);
      return;
    case Thread::State::raising:
      if (thread.finished()) rest(thread);
      return;
    case Thread::State::checking:
      if (!thread.finished()) return;
      judge_.check_ended({index_, thread.index}, thread.check->state(), world_.now());
      return rest(thread);
    case Thread::State::requesting:
      if (!thread.finished()) return;
      judge_.figures().requests += thread.asking->tally().count(core::Tally::Mark::no) > 0 ? 1 : 0;
      return rest(thread);
    case Thread::State::breaking:
      if (!thread.finished()) return;
      judge_.figures().breaks += thread.breaking->tally().count(core::Tally::Mark::no) > 0 ? 1 : 0;
      return rest(thread);
  }
}

/// What the thread was to do until then is void: it does something else.
void Process::wake_later(Thread& thread, Instant after) {
  ++thread.wakes;
  world_.wake_in(index_, thread.index + most_threads * thread.wakes, after);
}

/// Has no effect on an operation that is already finished. While the world waits for somebody to get the lock, nobody cancels.
void Process::cancel(Thread& thread, Time now) {
  if (world_.awaits_grant()) return;
  const bool asks = thread.state == Thread::State::asking || thread.state == Thread::State::asking_for_all;
  if (!asks || thread.finished()) return;
  engine_.abandon(thread.operation, Errc::cancelled, now);
  settle(now);
}

/// Puts the mutant between the engine and the operation.
std::unique_ptr<core::Operation> Process::wrapped(std::unique_ptr<core::Operation> operation) {
  if (!mutant_) return operation;
  return mutant_->wrap(std::move(operation), engine_.nodes(),
                       [this](core::NodeIndex node, std::string_view command) {
                         world_.send_separately(index_, static_cast<int>(node), command);
                       });
}

void Process::submit(Thread& thread, std::unique_ptr<core::Operation> operation, Time now) {
  thread.operation = core::Ref<core::Operation>{wrapped(std::move(operation)).release()};
  thread.operation->completion = &thread;
  note_dial();
  engine_.submit(thread.operation, now);
  settle(now);
}

void Process::rest(Thread& thread) {
  judge_.lines().ended({index_, thread.index});
  thread.operation = {};
  thread.writer.reset();
  thread.state = Thread::State::thinking;
  thread.got_together.clear();
  if (thread.is_companion) return;
  world_.call_ended(index_);
  await_next_call(thread);
}

void Process::await_next_call(Thread& thread) {
  if (schedule_.calls.empty()) return wake_later(thread, random_.between(0, schedule_.workload.think));
  const auto mine = [&](const ScheduledCall& call) {
    return call.client == index_ && call.at >= world_.now();
  };
  const auto next = std::find_if(schedule_.calls.begin(), schedule_.calls.end(), mine);
  thread.scheduled_call = next == schedule_.calls.end() ? nullptr : &*next;
  if (thread.scheduled_call) wake_later(thread, thread.scheduled_call->at - world_.now());
}

/// Returns false if the thread is to ask for a lock.
bool Process::begin_other_call(Thread& thread, Time now) {
  if (schedule_.workload.checks > 0 && random_.chance(schedule_.workload.checks) && begin_check(thread, now))
    return true;
  if (schedule_.workload.requests > 0 && random_.chance(schedule_.workload.requests)) {
    request(thread, now);
    return true;
  }
  return schedule_.workload.breaks > 0 && random_.chance(schedule_.workload.breaks) &&
         break_lock(thread, now);
}

/// Works like `Client::acquire`.
void Process::begin_call(Thread& thread, Time now) {
  if (!world_.is_open()) return;
  if (thread.scheduled_call && thread.scheduled_call->raises) {
    thread.state = Thread::State::raising;
    return submit(thread,
                  std::make_unique<core::CeilingRaise>(schedule_.ttl, engine_.nodes(), false,
                                                       Span{schedule_.node_timeout}),
                  now);
  }
  if (!world_.awaits_grant() && begin_other_call(thread, now)) return;
  thread.resource = static_cast<int>(random_.between(0, schedule_.resources - 1));
  thread.resource = world_.most_wanted().value_or(thread.resource);
  if (schedule_.two_teams) thread.resource = team_of(index_, schedule_);
  const auto* const orphan = world_.orphan(thread.resource);
  const bool adopts = orphan && random_.chance(schedule_.workload.adopts);
  thread.adopted = adopts ? *orphan : Surroundings::Orphan{};
  thread.is_reader = thread.scheduled_call ? thread.scheduled_call->shared
                                           : schedule_.workload.reads > 0 && !adopts &&
                                                 is_for_readers(thread.resource, schedule_) &&
                                                 random_.chance(schedule_.workload.reads);
  const bool waits = !adopts && (thread.scheduled_call ? thread.scheduled_call->waits
                                                       : random_.chance(schedule_.workload.waits));
  const Instant longest =
      thread.scheduled_call ? second : random_.skewed(5 * millisecond, schedule_.workload.longest_wait);
  thread.gives_up_at = waits ? now + Span{longest} : Time::min();
  if (!thread.scheduled_call && random_.chance(schedule_.workload.cancels))
    world_.wake_in(index_, ~thread.index, random_.skewed(0, longest));
  if (schedule_.workload.together > 0 && !adopts && random_.chance(schedule_.workload.together))
    return pursue_all(thread, now);
  pursue(thread, now);
}

/// One of the last leases, of which the holder has told this client, and which may be over since.
std::optional<Judge::LeaseIndex> Process::known_lease() {
  const auto& leases = judge_.leases();
  const auto back = static_cast<std::size_t>(random_.between(1, 3));
  if (back > leases.size()) return std::nullopt;
  const Judge::LeaseIndex index = leases.size() - back;
  const Judge::Lease& lease = leases[index];
  if (lease.client < 0 || team_of(lease.resource, schedule_) != team_of(index_, schedule_))
    return std::nullopt;
  return index;
}

/// Returns false if the client does not know of any lease.
bool Process::begin_check(Thread& thread, Time now) {
  const std::optional<Judge::LeaseIndex> index = known_lease();
  if (!index) return false;
  const Judge::Lease& lease = judge_.lease(*index);
  core::LeaseCheck::Subject subject{key_of(lease.resource, schedule_),
                                    std::string{core::holder_id(lease.owner)}, lease.shared};
  if (mutant_) mutant_->before_check(subject);
  auto check =
      std::make_unique<core::LeaseCheck>(std::move(subject), engine_.nodes(), Span{schedule_.node_timeout});
  thread.check = check.get();
  thread.state = Thread::State::checking;
  judge_.check_begins({index_, thread.index}, *index);
  world_.note(index_, "checks a lease");
  submit(thread, std::move(check), now);
  return true;
}

/// What is the same for all locks of a call.
core::Claim Process::terms_of(const Thread& thread) {
  core::Claim claim{.key = {},
                    .owner = {},
                    .ttl = schedule_.ttl - schedule_.lock_delay,
                    .lock_delay = schedule_.lock_delay,
                    .drift = schedule_.drift,
                    .node_timeout = schedule_.node_timeout,
                    .adopted_owner = thread.adopted.owner};
  if (schedule_.at_least.count() > 0 && !thread.is_reader)
    claim.at_least = std::chrono::milliseconds{random_.between(0, schedule_.at_least.count())};
  if (thread.scheduled_call && thread.scheduled_call->ttl.count() > 0) claim.ttl = thread.scheduled_call->ttl;
  if (thread.is_reader && random_.chance(schedule_.workload.short_reads)) claim.ttl /= 2;
  return claim;
}

core::Claim Process::claim_on(std::string key, core::Claim terms, const Thread& thread) const {
  terms.key = std::move(key);
  if (schedule_.fencing)
    terms.fence = core::Fence{.counter_key = core::counter_key(terms.key), .memory = schedule_.fence_memory};
  if (thread.is_reader) terms.share();
  return terms;
}

/// What is the same for one lock and for several.
core::LockCall Process::call_for(const Thread& thread, Time now) {
  const bool waits = now < thread.gives_up_at;
  return {.claim = {},
          .attempts = waits ? core::Attempts::until_time : core::Attempts::one,
          .give_up_at = waits ? thread.gives_up_at : core::never,
          .owner_values = draw_owner_values(),
          .time_of_day = std::chrono::microseconds{world_.wall_clock_us(index_)},
          .seed = random_.next()};
}

void Process::pursue(Thread& thread, Time now) {
  const bool is_for_any_seat = is_seat(thread.resource, schedule_) && thread.adopted.owner.empty();
  core::Claim claim = claim_on(is_for_any_seat ? std::string{semaphore} : key_of(thread.resource, schedule_),
                               terms_of(thread), thread);
  const bool is_fair = schedule_.stands_in_line && thread.adopted.owner.empty();
  claim.heeds_flag = is_fair;
  thread.state = Thread::State::asking;
  if (mutant_ && !mutant_->gives_up_deaf_nodes()) claim.node_timeout = std::chrono::hours{1};
  core::LockCall call = call_for(thread, now);
  call.claim = std::move(claim);
  call.adopted_token = thread.adopted.token;
  call.seats = static_cast<std::size_t>(is_for_any_seat ? schedule_.seats : 0);
  call.is_fair = is_fair;
  auto pursuit = std::make_unique<ObservedPursuit>(std::move(call), thread);
  thread.pursuit = pursuit.get();
  const int line = line_of(thread.resource, schedule_);
  judge_.lines().called({index_, thread.index}, line, world_.flag_stands(line), world_.now(),
                        thread.is_reader);
  submit(thread, std::move(pursuit), now);
}

Process::ObservedPursuit::ObservedPursuit(Call call, Thread& thread)
    : Pursuit{std::move(call), thread.process.engine_.nodes()}, thread_{thread} {}

Pursuit::Attempt Process::ObservedPursuit::make_attempt(core::Claim&& claim) {
  thread_.process.attempt_begins(thread_, claim);
  auto acquisition = std::make_unique<Acquisition>(std::move(claim), nodes(), purpose());
  Acquisition* const inner = acquisition.get();
  return {core::Ref<core::Operation>{thread_.process.wrapped(std::move(acquisition)).release()}, inner};
}

void Process::ObservedPursuit::child_ended(core::Operation& child, Time now, core::Outbox& outbox) {
  Pursuit::child_ended(child, now, outbox);
  if (!granted()) thread_.process.world_.note(thread_.process.index_, "does not get it");
}

void Process::ObservedPursuit::attempt_in_line(Turn turn, Time now, core::Outbox& outbox) {
  Process& process = thread_.process;
  if (turn == Turn::own) process.judge_.lines().asks({process.index_, thread_.index}, process.world_.now());
  Pursuit::attempt_in_line(turn, now, outbox);
}

void Process::attempt_begins(Thread& thread, core::Claim& claim) {
  if (mutant_) {
    claim.node_timeout = schedule_.node_timeout;  // that of the call may be another one
    mutant_->before_attempt(claim, thread.claim.owner);
  }
  thread.claim = claim;
  ++judge_.figures().attempts;
  world_.asked(claim.owner);
  thread.invoked = world_.now();
  const std::string what = claim.is_seat() ? claim.key : claim.is_shared() ? "a shared lock" : "the lock";
  const std::string how = thread.writer                  ? "goes on with "
                          : thread.adopted.owner.empty() ? "asks for "
                                                         : "adopts ";
  world_.note(index_, how + what);
  if (!thread.scheduled_call && random_.chance(4))
    world_.wake_in(index_, ~thread.index, random_.skewed(0, 2 * Span{schedule_.node_timeout}.count()));
}

void Process::call_done(Thread& thread, Time now) {
  Acquisition* const granted = thread.pursuit->granted();
  const bool is_downgrade = thread.writer != nullptr;
  if (is_downgrade) {
    engine_.submit(core::Ref<core::Operation>{new ReleaseOperation{thread.writer, engine_.nodes()}}, now);
    settle(now);
  }
  if (!granted) return rest(thread);
  judge_.figures().second_rounds += granted->had_second_round() ? 1 : 0;
  judge_.figures().adoptions += thread.adopted.owner.empty() || is_downgrade ? 0 : 1;
  judge_.figures().downgrades += is_downgrade ? 1 : 0;
  const Time deadline = mutant_ ? mutant_->deadline(*granted, now, schedule_) : granted->valid_until();
  thread.claim = granted->take_claim();
  if (thread.claim.is_seat()) name_seat(thread);
  this->granted(thread, deadline, now);
}

/// The thread has the lock `thread.claim`.
void Process::granted(Thread& thread, Time deadline, Time now) {
  if (mutant_) mutant_->before_hold(thread.claim);
  thread.held = std::make_shared<Held>(thread.claim, deadline, loss_queue_);
  thread.held->held_leases = engine_.held_leases();
  if (thread.held->in_force(now) || (mutant_ && !mutant_->looks_at_deadline())) return acquired(thread, now);
  thread.is_too_late = true;
  thread.held->was_used = false;
  release(thread, now);  // the caller does not get this lease
}

/// The call was for any seat. Now it has one.
void Process::name_seat(Thread& thread) {
  const auto seat = core::seat_of(thread.claim.key);
  if (seat && seat->line_key == line_key_of(0, schedule_) && is_seat(static_cast<int>(seat->seat), schedule_))
    thread.resource = static_cast<int>(seat->seat);
  else
    judge_.report(Rule::seats, world_.now(), thread.claim.key + " was granted, which is no seat");
}

void Process::acquired(Thread& thread, Time now) {
  thread.lease = judge_.begin({.resource = thread.resource,
                               .client = index_,
                               .owner = thread.claim.owner,
                               .token = thread.claim.token,
                               .invoked = thread.invoked,
                               .begun = world_.now(),
                               .deadline = thread.held->deadline().time_since_epoch().count(),
                               .at_least = thread.claim.at_least,
                               .adopted = !thread.adopted.owner.empty(),
                               .shared = thread.claim.is_shared(),
                               .downgraded = std::exchange(thread.writer, nullptr) != nullptr},
                              world_.now());
  world_.lease_prolonged(*thread.lease);
  world_.note(index_,
              thread.claim.token == 0 ? "acquired" : "acquired, token " + std::to_string(thread.claim.token));
  Stores& stores = judge_.stores(thread.resource);
  const std::uint64_t token = thread.claim.token;
  thread.seen = thread.claim.is_shared() ? stores.read_shared(token) : stores.read(token);
  thread.extensions_left =
      random_.chance(schedule_.workload.extends) ? static_cast<int>(random_.between(1, 4)) : 0;
  thread.writes_at = now + Span{random_.skewed(0, schedule_.workload.hold)};
  if (thread.scheduled_call) {
    thread.extensions_left = 0;
    thread.writes_at = now + Span{thread.scheduled_call->hold};
  }
  const bool renews = thread.scheduled_call
                          ? thread.scheduled_call->renews
                          : thread.extensions_left == 0 && random_.chance(schedule_.workload.renews);
  if (renews) {
    listen_to_requests(thread);
    engine_.keep(thread.held, now);
    engine_.watch(thread.held, now);
    judge_.watched(*thread.lease);
  }
  loss_queue_.add(thread.held);
  thread.state = Thread::State::holding;
  hold(thread, now);
}

/// Extends some times, then writes, or as a reader reads again, once if the lease is valid.
void Process::hold(Thread& thread, Time now) {
  if (thread.extensions_left > 0) {
    --thread.extensions_left;
    thread.state = Thread::State::extending;
    if (mutant_) apply_mutant(thread, now);
    auto extension = std::make_unique<Extension>(thread.held, engine_.nodes());
    thread.extension = extension.get();
    return submit(thread, std::move(extension), now);
  }
  if (now < thread.writes_at) return wake_later(thread, (thread.writes_at - now).count());
  if (!thread.held->in_force(now)) return release(thread, now);
  thread.state = Thread::State::writing;
  if (thread.claim.is_shared()) {
    judge_.stores(thread.resource).read_again(thread.claim.token, thread.seen);
    return wake_later(thread, random_.between(1, 100) * microsecond);
  }
  const Instant taken = world_.write(index_, thread.resource, thread.claim.token, thread.seen);
  wake_later(thread, taken + random_.between(1, 100) * microsecond);
}

void Process::extension_ended(Thread& thread, Time now) {
  const Extension& ended = *thread.extension;
  if (ended.outcome() == Extension::Outcome::lost) return release(thread, now);
  thread.state = Thread::State::holding;
  const Instant left = std::max<Instant>((thread.held->deadline() - now).count(), 0);
  wake_later(thread, random_.skewed(0, left));
}

void Process::apply_mutant(Thread& thread, Time now) {
  const Time limit = mutant_->extension_limit(thread.held->deadline(), now);
  if (limit != thread.held->deadline()) {
    const core::Copies copies = thread.held->copies;
    core::HeldLeases* const held_leases = thread.held->held_leases;
    loss_queue_.remove(thread.held);
    thread.held = std::make_shared<Held>(thread.claim, limit, loss_queue_);
    thread.held->copies = copies;
    thread.held->held_leases = held_leases;
    loss_queue_.add(thread.held);
  }
  mutant_->before_extension(*thread.held);
}

/// Releases or orphans the lock, or goes on as a reader.
void Process::end_hold(Thread& thread, Time now) {
  if (thread.claim.is_shared()) return release(thread, now);
  const bool may_read = schedule_.workload.reads > 0 && is_for_readers(thread.resource, schedule_);
  if (may_read && !thread.claim.is_kept(now) && random_.chance(30)) return downgrade(thread, now);
  if (thread.scheduled_call || !world_.may_orphan() || !random_.chance(schedule_.workload.orphans))
    return release(thread, now);
  world_.lease_over(*std::exchange(thread.lease, std::nullopt), LeaseEnd::given_back);
  loss_queue_.remove(thread.held);
  if (core::let_go(thread.held, now))
    world_.orphaned(thread.resource, {thread.claim.owner, thread.claim.token});
  world_.note(index_, "leaves the lock");
  rest(thread);
}

/// Works like `Client::downgrade`.
void Process::downgrade(Thread& thread, Time now) {
  const Judge::LeaseIndex writers = *std::exchange(thread.lease, std::nullopt);
  if (!mutant_ || mutant_->downgrade_ends_lease()) world_.lease_over(writers, LeaseEnd::given_back);
  loss_queue_.remove(thread.held);
  if (!core::let_go(thread.held, now)) return release(thread, now);
  thread.held->was_used = false;
  thread.writer = thread.held;
  thread.adopted = {thread.claim.owner, thread.claim.token};
  thread.is_reader = true;
  thread.gives_up_at = Time::min();
  pursue(thread, now);
}

void Process::release(Thread& thread, Time now) {
  if (thread.lease) world_.lease_over(*std::exchange(thread.lease, std::nullopt), LeaseEnd::given_back);
  loss_queue_.remove(thread.held);
  thread.state = Thread::State::releasing;
  judge_.figures().kept += thread.held->claim.is_kept(now) ? 1 : 0;
  if (mutant_ && !mutant_->release_ends_lease())
    thread.held = std::make_shared<Held>(thread.claim, thread.held->deadline(), loss_queue_);
  auto release_operation = std::make_unique<ReleaseOperation>(thread.held, engine_.nodes());
  thread.release_operation = release_operation.get();
  submit(thread, std::move(release_operation), now);
}

/// The application's callback for a loss. It releases leases of other threads, if any, while these do something else.
void Process::call_back(const Thread& told, Time now) {
  if (schedule_.workload.releases_others == 0 || !random_.chance(schedule_.workload.releases_others)) return;
  for (const auto& other : threads_) {
    if (other.get() == &told || other->state != Thread::State::holding || !other->lease) continue;
    ++judge_.figures().releases_in_callbacks;
    world_.note(index_, "releases the other lock in the callback");
    release(*other, now);
  }
}

void Process::released(Thread& thread, Time now) {
  if (thread.release_operation->outcome() == Release::released)
    judge_.released(thread.claim.owner, world_.now());
  const bool has_time = now < thread.gives_up_at && world_.is_open();
  if (std::exchange(thread.is_too_late, false) && has_time && !thread.is_companion)
    return pursue(thread, now);
  rest(thread);
}

/// From the random numbers of the world.
core::OwnerValues Process::draw_owner_values() {
  std::string digits(40, '0');
  digits[0] = static_cast<char>('A' + index_);  // for timelines
  for (std::size_t at = 1; at < 17; ++at) digits[at] = core::lower_hex[random_.next() % 16];
  return {std::move(digits), "thread"};
}

}  // namespace redlock::simulation
