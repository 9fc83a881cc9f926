#include "io/reactor.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "os/fork_guard.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

using core::Span;
using core::Time;

/// How long work that no caller waits for may stay undone before the background handles it. Busy callers do that work on
/// the way; waking the background whenever a caller leaves would cost two context switches each time.
constexpr Span delay_after_callers = std::chrono::milliseconds{5};
/// The same if the background was woken beside busy callers the last time, which delays them.
constexpr Span delay_beside_callers = std::chrono::milliseconds{20};
/// A caller that drove less than this ago is expected to come again.
constexpr Span return_time = std::chrono::milliseconds{1};
/// How long the background ignores the sockets after it was woken for data that a caller is reading.
constexpr Span socket_pause = std::chrono::milliseconds{1};
/// How long the background waits after it ran out of memory or descriptors.
constexpr Span pause_after_failure = std::chrono::milliseconds{100};
/// How long a client that is destroyed may take to leave the nodes as they should be.
constexpr Span time_to_finish = std::chrono::milliseconds{250};
/// With up to this many active operations, a caller sends its own commands while another thread polls. With more, the
/// driver sends them together.
constexpr std::size_t most_sent_directly = 3;

// What ends a poll besides connections: `wake_`, and a call of the background.
constexpr PollSet::Tag of_wake_event = std::numeric_limits<PollSet::Tag>::max();
constexpr PollSet::Tag of_background = of_wake_event - 1;

}  // namespace

Reactor::Reactor(const std::vector<Endpoint>& endpoints, std::vector<core::Session::Settings> sessions,
                 Span connect_timeout, std::uint64_t seed,
                 const std::optional<core::RestartGuard::Settings>& guard, Observer* observer,
                 std::string member, Calls calls)
    : engine_{std::move(sessions), connect_timeout, seed, guard, observer, std::move(member)},
      connections_{engine_, poller_, endpoints, connect_timeout},
      poll_{engine_.connections() + 1},
      background_poll_{engine_.connections() + 1},
      calls_{std::move(calls)},
      generation_{fork_generation()} {
  background_idle_.reserve(2);  // for a pause after memory has run out
  is_wake_watched_ = poller_.watch(wake_.fd(), of_wake_event);
}

void Reactor::close_in_child() const noexcept {
  poller_.close_in_child();
  connections_.close_in_child();
  wake_.close_in_child();
  background_.close_in_child();
}

Reactor::~Reactor() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    background_.call();
  }
  background_.join();
  const Time until = Clock::now() + time_to_finish;
  try {
    leave_nodes(until);
  } catch (const std::exception&) {  // no memory: flags and copies expire
  }
  try {
    connections_.finish(until);
  } catch (const std::exception&) {  // no memory: the copies expire
  }
}

/// Waits for the gates' answers, which tell whether this client was the last one in line, and has to take the flag down. Waits for
/// connections that replace lost ones, on which releases are to be sent.
void Reactor::leave_nodes(Time until) {
  const auto is_done = [this] { return engine_.has_left_lines() && !engine_.expects_to_release(); };
  wake_.clear();  // it may have been set after the last poll
  for (Time now = Clock::now(); !is_done() && now < until; now = Clock::now()) {
    connections_.prepare(poll_, now);
    poller_.wait(poll_, std::min({until, engine_.timer(), connections_.timer()}), now);
    connections_.handle(poll_, Clock::now(), true);
    engine_.on_time(Clock::now());
  }
}

// ── callers ─────────────────────────────────────────────────────────────────────────────────────────────────

/// One call's stay in the reactor, and its parked thread's interest in the end of the operation. However it ends, the
/// parking slot goes back to the pool and, if this thread drove, another one takes over.
class Reactor::Visit final : public core::Completion {
 public:
  Visit(Reactor& reactor, const Operation& operation, Lock& lock, Successor& successor)
      : slot{reactor.slots_.take()},
        reactor_{reactor},
        operation_{operation},
        lock_{lock},
        successor_{successor} {
    operation->completion = this;
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() override {
    if (!lock_.owns_lock()) lock_.lock();
    reactor_.leave(operation_, slot, successor_);
  }
  void completed(core::Operation&) noexcept override {
    if (reactor_.parked_.remove(slot) || reactor_.asleep_.remove(slot)) reactor_.waking_->add(slot);
  }
  ParkingSlot& slot;

 private:
  Reactor& reactor_;
  const Operation& operation_;
  Lock& lock_;
  Successor& successor_;
};

/// Abandons an operation on a stop request. The callback takes the mutex. It may run while it is registered, and
/// deregistering it blocks while it runs; so both happen without the mutex.
class Reactor::OnStop {
 public:
  OnStop(Reactor& reactor, const Operation& operation, const std::stop_token& token, Lock& lock)
      : lock_{lock} {
    if (!token.stop_possible() || operation->done()) return;
    lock_.unlock();
    callback_.emplace(token, Stop{reactor, operation});
    lock_.lock();
  }
  OnStop(const OnStop&) = delete;
  OnStop& operator=(const OnStop&) = delete;
  ~OnStop() {
    if (!callback_) return;
    if (lock_.owns_lock()) lock_.unlock();
    callback_.reset();
    lock_.lock();
  }

 private:
  struct Stop {
    Reactor& reactor;
    const Operation& operation;
    void operator()() const { reactor.stop(operation); }
  };
  Lock& lock_;
  std::optional<std::stop_callback<Stop>> callback_;
};

void Reactor::wait_for(const Operation& operation, const std::stop_token& stop_token, Lock& lock,
                       Successor& successor) {
  const Visit visit{*this, operation, lock, successor};
  submit(operation, visit.slot);
  wake_finished(lock);
  const OnStop on_stop{*this, operation, stop_token, lock};
  while (!operation->done()) {
    if (const Time until = operation->pauses_until(); until > Time::min() && Clock::now() < until) {
      sleep_until(until, visit.slot, lock);
      continue;
    }
    if (can_drive()) take_over(visit.slot);
    if (driver_ == &visit.slot) {
      if (engine_.active() > most_sent_directly) {  // let other callers submit, so that all is sent together
        lock.unlock();
        ::sched_yield();
        lock.lock();
        if (operation->done()) break;
      }
      drive(lock, visit.slot, operation.get());
    } else {
      parked_.add(visit.slot);
      lock.unlock();
      visit.slot.park();
      lock.lock();
    }
  }
}

/// There is no driver, or it is the background, which gives way to callers.
bool Reactor::can_drive() const noexcept { return !driver_ || is_background(*driver_); }

void Reactor::take_over(ParkingSlot& me) {
  if (polling_) background_.call();
  polling_ = false;
  driver_ = &me;
}

/// Gives up the driver's role. Returns the thread that gets it, to be unparked without the mutex; null if there is none.
ParkingSlot* Reactor::stop_driving(const ParkingSlot& me) noexcept {
  if (driver_ != &me) return nullptr;
  polling_ = false;
  driver_ = parked_.take_first();
  return driver_;
}

/// If no thread drives, sends what is queued and leaves the rest to the background.
void Reactor::leave_to_background(Time now) {
  if (driver_) return;
  connections_.flush(now);
  schedule_background(now);
}

/// Blocks during a pause of this thread's call, or until the call is done.
void Reactor::sleep_until(Time until, ParkingSlot& me, Lock& lock) {
  ParkingSlot* const successor = stop_driving(me);
  const Time now = Clock::now();
  leave_to_background(now);
  asleep_.add(me);
  lock.unlock();
  if (successor) successor->unpark();
  me.park_for(until - now);
  lock.lock();
  asleep_.remove(me);
}

void Reactor::submit(const Operation& operation, ParkingSlot& me) {
  Time now = Clock::now();
  if (can_drive()) {
    take_over(me);
    connections_.read_stale(now);
    now = Clock::now();
  }
  engine_.submit(operation, now);
  if (!polling_) return;  // the driver, perhaps this thread, sends before it polls
  if (engine_.active() <= most_sent_directly) connections_.flush(now);
  if (engine_.timer() < polls_until_ || connections_.need_more_than_polled()) kick();
}

void Reactor::stop(const Operation& operation) {
  if (fork_generation() != generation_) return;  // operation and mutex belong to the parent
  Lock lock{mutex_};
  engine_.abandon(operation, Errc::cancelled, Clock::now());
  if (polling_) kick();  // the driver sends the releases, and may itself be the thread to stop
  wake_finished(lock);
}

void Reactor::leave(const Operation& operation, ParkingSlot& me, Successor& successor) noexcept {
  parked_.remove(me);
  successor.slot = stop_driving(me);
  try {
    const Time now = Clock::now();
    engine_.abandon(operation, Errc::cancelled, now);  // has an effect only if an exception ended the wait
    leave_to_background(now);
  } catch (const std::exception&) {  // no memory: the remaining work waits for the next caller
  }
  operation->completion = nullptr;  // it may still be among the engine's finished ones
  slots_.give(me);
}

void Reactor::keep(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  background_.start([this] { background(); });
  const Time now = Clock::now();
  engine_.keep(lease, now);
  engine_.watch(lease, now, core::a_moment);
  wake_for_timers(now);
}

void Reactor::watch(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  background_.start([this] { background(); });
  const Time now = Clock::now();
  engine_.watch(lease, now);
  wake_for_timers(now);
}

void Reactor::watch_holder(std::unique_ptr<core::HolderWatch> watch) {
  const Lock lock{mutex_};
  background_.start([this] { background(); });
  const Time now = Clock::now();
  engine_.watch_holder(core::Ref<core::HolderWatch>{watch.release()}, now);
  wake_for_timers(now);
}

void Reactor::stop_watching(const core::HolderWatch* watch) {
  const Lock lock{mutex_};
  engine_.stop_watching(watch);
}

/// Makes sure that a thread wakes up when the engine's next timer is due.
void Reactor::wake_for_timers(Time now) {
  if (!driver_) return schedule_background(now);
  if (polling_ && engine_.timer() < polls_until_) kick();
}

bool Reactor::let_go(const std::shared_ptr<core::LeaseState>& lease) {
  const Lock lock{mutex_};
  return core::Engine::let_go(lease, Clock::now());
}

void Reactor::log_in(core::NodeIndex node, const Credentials& credentials) {
  const Lock lock{mutex_};
  const Time now = Clock::now();
  engine_.log_in(node, credentials, now);
  if (polling_ && connections_.need_more_than_polled()) kick();
  leave_to_background(now);
}

void Reactor::shut_down(const std::vector<std::shared_ptr<core::LeaseState>>& leases) {
  Lock lock{mutex_};
  engine_.shut_down(leases, Clock::now());
  if (polling_) kick();  // the driver's own operation may have been cancelled
  wake_finished(lock);
}

// ── the background ──────────────────────────────────────────────────────────────────────────────────────────

void Reactor::schedule_background(Time now) {
  Time when = background_timer(now);
  if (!watches_for_ends_ && is_lease_in_force(now)) when = std::min(when, now + delay_after_callers);
  if (when != core::never) background_.wake_by(when, [this] { background(); });
}

/// When the background has something to do, unless callers do it before.
Time Reactor::background_timer(Time now) const noexcept {
  const Time timer = engine_.background_timer();
  return needs_attention() ? std::min(timer, now + background_delay()) : timer;
}

/// For how long the background leaves to callers what they do on the way.
Span Reactor::background_delay() const noexcept {
  return is_beside_callers_ ? delay_beside_callers : delay_after_callers;
}

void Reactor::background() {
  Lock lock{mutex_};
  while (!stopping_) {
    try {
      run_background(lock);
    } catch (const std::exception&) {  // no memory or descriptors: callers get the error; try again later
      if (!lock.owns_lock()) lock.lock();
      if (driver_ == &background_slot_) {
        driver_ = nullptr;
        polling_ = false;
      }
      background_.arm(Clock::now() + pause_after_failure);
      sleep_in_background(lock, Sockets::ignored);
    }
  }
}

void Reactor::run_background(Lock& lock) {
  bool heard = false;  // a socket needs a driver
  while (!stopping_) {
    const Time now = Clock::now();
    is_beside_callers_ = driver_ ? !is_background(*driver_) : now < last_driven_ + return_time;
    const bool is_due =
        heard || (needs_attention() && !is_beside_callers_) || engine_.background_timer() <= now;
    if (!driver_ && is_due) driver_ = &background_slot_;
    if (driver_ == &background_slot_) {
      drive(lock, background_slot_, nullptr);
      if (driver_ == &background_slot_ && !needs_attention()) driver_ = nullptr;
      heard = false;
      continue;
    }
    // A driving caller schedules the background when it leaves, and reads the sockets itself.
    const Time wake_at = heard ? now + socket_pause : core::never;
    background_.arm(driver_ ? wake_at : background_timer(now));
    const bool may_ignore = heard || (!driver_ && engine_.may_ignore_listeners() && !is_lease_in_force(now));
    heard = sleep_in_background(lock, may_ignore ? Sockets::ignored : Sockets::polled);
  }
}

bool Reactor::is_lease_in_force(Time now) noexcept {
  const core::HeldLeases* const held = engine_.held_leases();
  return held && now < held->until();
}

/// Returns true if a listener has received data, or if a connection for commands has ended while a lease is in force.
/// Replies to commands do not end the sleep. Once started, the watch for ends continues between leases, so that clients
/// that take many short locks do not wake the background. It stops when a connection ends and no lease is in force.
bool Reactor::sleep_in_background(Lock& lock, Sockets sockets) {
  background_idle_.clear();
  std::ptrdiff_t for_commands = 0;
  if (sockets == Sockets::polled) {
    watches_for_ends_ = watches_for_ends_ || is_lease_in_force(Clock::now());
    for_commands = connections_.append_idle_to(background_idle_, watches_for_ends_);
  }
  lock.unlock();
  const bool heard = background_.sleep(background_idle_);
  lock.lock();
  background_.awake(background_idle_);
  if (!heard || is_lease_in_force(Clock::now())) return heard;
  watches_for_ends_ = false;
  return std::any_of(background_idle_.begin() + for_commands, background_idle_.end() - 2,
                     [](const pollfd& listener) { return listener.revents != 0; });
}

// ── the driver ──────────────────────────────────────────────────────────────────────────────────────────────

void Reactor::drive(Lock& lock, ParkingSlot& me, const core::Operation* awaited) {
  PollSet& poll = is_background(me) ? background_poll_ : poll_;
  const Time before = Clock::now();
  connections_.prepare(poll, before);
  if (!is_wake_watched_) poll.add(wake_.fd(), POLLIN, of_wake_event);
  if (is_background(me)) poll.add(background_.called().fd(), POLLIN, of_background);
  polls_until_ = std::min(engine_.timer(), connections_.timer());
  const Time until = engine_.finished().empty() ? polls_until_ : before;
  tell_background_of_changes();
  polling_ = true;
  lock.unlock();
  poller_.wait(poll, until, before);
  lock.lock();
  if (poll.has_found(of_background)) background_.called().clear();
  if (driver_ != &me) return;  // a caller took over from the background and polls itself
  if (poll.has_found(of_wake_event)) {
    wake_.clear();
    kicked_ = false;
  }
  polling_ = false;
  const Time now = Clock::now();
  if (!is_background(me)) last_driven_ = now;
  connections_.handle(poll, now, now >= polls_until_, awaited);
  engine_.on_time(now);  // only after reading everything
  tell_background_of_changes();
  if (auto warning = engine_.take_warning(); warning && calls_.warn) calls_.warn(std::move(*warning));
  wake_finished(lock);
}

/// Wakes the background if a connection has changed that it may poll, because it polls the descriptors that were open
/// before. Reports logins that were refused.
void Reactor::tell_background_of_changes() {
  const Connections::Changes changed = connections_.take_changes();
  if (changed.logins && calls_.login_refused) calls_.login_refused();
  if (is_background(*driver_)) return;
  if (changed.listeners || (changed.commands && watches_for_ends_)) background_.call();
}

// ── waking ──────────────────────────────────────────────────────────────────────────────────────────────────

/// Wakes the threads whose operations are done. Releases the mutex for that.
void Reactor::wake_finished(Lock& lock) {
  if (engine_.finished().empty()) return;
  WakeUp awake;
  waking_ = &awake;
  for (const Operation& operation : engine_.finished())
    if (operation->completion) operation->completion->completed(*operation);
  waking_ = nullptr;
  engine_.finished().clear();
  if (awake.empty()) return;
  lock.unlock();
  awake.send();
  lock.lock();
}

/// Ends the poll under way. It does not know all events then, also if it has ended by itself. Precondition: `polling_`.
void Reactor::kick() {
  polls_until_ = Time::min();
  if (is_background(*driver_)) return background_.call();
  if (std::exchange(kicked_, true)) return;
  wake_.set();
}

}  // namespace redlock::inline v1::detail
