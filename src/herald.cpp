#include "herald.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "boot_timer.hpp"
#include "quiet_thread.hpp"
#include "user_code.hpp"

namespace redlock::inline v1::detail {

using core::Time;

namespace {

/// Who waits for a loss lets its callback begin first, but not for longer: all threads may hang in those of other leases.
constexpr core::Span precedence = std::chrono::milliseconds{100};

}  // namespace

void Holding::lost_early() noexcept { herald.lost(shared_from_this()); }

struct Herald::State {
  explicit State(Report to) : report{std::move(to)} {
    running.reserve(most_threads);
    threads.reserve(most_threads);
  }

  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t most_threads = 16;

  void watch(const std::shared_ptr<Holding>& holding, const std::shared_ptr<State>& self) {
    if (!holding->in_force(Clock::now())) return;  // told before, or to nobody
    begin(self);
    vigil.add(holding);
    arm(vigil.wake_up(Clock::now()));
    holding->has_audience = true;
  }
  /// Somebody keeps the watch from now on.
  void begin(const std::shared_ptr<State>& self) {
    if (!timer) timer = Descriptor{timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)};
    if (!timer) throw std::system_error{errno, std::system_category(), "timerfd_create"};
    if (threads.empty()) start_thread(self);
  }
  void start_thread(const std::shared_ptr<State>& self) {
    threads.push_back(prompt_thread([self] { run(self); }));
  }
  /// Sees to it that the watch is relieved when it is given up.
  void find_relief(const std::shared_ptr<State>& self) noexcept try {
    if (idle == 0 && threads.size() < most_threads) start_thread(self);
    relief.notify_one();
  } catch (
      const std::exception&) {  // NOLINT(bugprone-empty-catch): then the watch goes on after the callback
  }

  /// Earlier only: a watch that is woken too early looks again.
  void arm(Time when) {
    if (when >= armed) return;
    armed = when;
    set_boot_timer(timer.get(), when);
  }
  /// Without the mutex, until the timer comes.
  void sleep(Lock& lock) {
    lock.unlock();
    pollfd polled{timer.get(), POLLIN, 0};
    ::poll(&polled, 1, -1);
    lock.lock();
    if (polled.revents == 0) return;  // a signal that was not blocked
    armed = core::never;
    set_boot_timer(timer.get(), core::never);  // and no longer readable
  }
  /// Null: there is a warning, or it is over.
  std::shared_ptr<Holding> keep_watch(Lock& lock) {
    for (;;) {
      if (stopping || !warnings.empty()) return nullptr;
      const Time now = Clock::now();
      if (auto lost = vigil.take_lost(now)) return lost;
      arm(vigil.wake_up(now));
      sleep(lock);
    }
  }
  void tell(Holding& holding, Lock& lock) {
    running.emplace_back(std::this_thread::get_id(), &holding);
    changed.notify_all();
    const std::stop_source to_stop = holding.stop;
    lock.unlock();
    run_user_code([&] { holding.tell(to_stop); }, [&](std::string_view what) { complain(what); });
    lock.lock();
    std::erase(running, std::pair<std::thread::id, const Holding*>{std::this_thread::get_id(), &holding});
    changed.notify_all();
  }
  void complain(std::string_view what) const noexcept try {
    warn("a loss callback threw: " + std::string{what});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory
  }
  void warn(std::string_view what) const noexcept try {
    if (report) report(what);
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody left to tell
  }
  void tell_warnings(Lock& lock) {
    const std::vector<std::string> told = std::exchange(warnings, {});
    lock.unlock();
    for (const std::string& warning : told) warn(warning);
    lock.lock();
  }
  [[nodiscard]] bool runs_elsewhere(const Holding& holding) const {
    return std::any_of(running.begin(), running.end(), [&](const auto& one) {
      return one.second == &holding && one.first != std::this_thread::get_id();
    });
  }

  const Report report;
  std::mutex mutex;
  // All that follows is read and written under it.
  std::condition_variable relief;       // the watch is to be taken over
  std::condition_variable_any changed;  // somebody was lost, released, or told
  core::Vigil<Holding> vigil;
  std::vector<std::pair<std::thread::id, const Holding*>> running;  // whose callbacks
  Descriptor timer;
  Time armed = core::never;
  std::vector<std::thread> threads;
  std::vector<std::string> warnings;  // to be told
  std::size_t idle = 0;
  bool has_watch = false;
  bool stopping = false;
};

Herald::Herald(Report report) : state_{std::make_shared<State>(std::move(report))} {}

void Herald::close_in_child() const noexcept { state_->timer.close_in_child(); }

Herald::~Herald() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopping = true;
    if (state_->timer) state_->arm(Time::min());
    state_->relief.notify_all();
    threads.swap(state_->threads);
  }
  for (std::thread& thread : threads) end_thread(thread);
}

void Herald::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock{state->mutex};
  while (!state->stopping) {
    ++state->idle;
    state->relief.wait(lock, [&] { return state->stopping || !state->has_watch; });
    --state->idle;
    state->has_watch = true;
    const std::shared_ptr<Holding> lost = state->keep_watch(lock);
    state->has_watch = false;
    if (!lost && state->warnings.empty()) break;
    state->find_relief(state);
    if (lost)
      state->tell(*lost, lock);
    else
      state->tell_warnings(lock);
  }
}

void Herald::watch(const std::shared_ptr<Holding>& holding) {
  const std::lock_guard lock{state_->mutex};
  state_->watch(holding, state_);
}

std::stop_token Herald::stop_token(const std::shared_ptr<Holding>& holding) {
  const std::lock_guard lock{state_->mutex};
  if (!holding->stop.stop_possible()) {
    holding->stop = std::stop_source{};
    state_->watch(holding, state_);
    if (holding->loss(Clock::now()) != Loss::none) holding->stop.request_stop();
  }
  return holding->stop.get_token();
}

bool Herald::wait(const std::shared_ptr<Holding>& holding, Time until, const std::stop_token& stop) {
  const auto in_force = [&] { return holding->in_force(Clock::now()); };
  std::unique_lock lock{state_->mutex};
  state_->watch(holding, state_);
  for (Time now = Clock::now(); in_force() && now < until && !stop.stop_requested(); now = Clock::now()) {
    const Time next = std::min(until, core::approach(holding->deadline(), now));
    state_->changed.wait_for(lock, stop, std::min<core::Span>(next - now, std::chrono::hours{1}),
                             [&] { return !in_force(); });
  }
  if (holding->loss(Clock::now()) != Loss::none)
    state_->changed.wait_for(lock, precedence, [&] { return !state_->vigil.watches(*holding); });
  return in_force();
}

void Herald::lost(const std::shared_ptr<Holding>& holding) noexcept {
  const std::lock_guard lock{state_->mutex};
  state_->vigil.lost(holding);
  state_->changed.notify_all();
  if (state_->timer) state_->arm(state_->vigil.timer());
}

void Herald::warn(std::string what) noexcept try {
  const std::lock_guard lock{state_->mutex};
  if (!state_->report) return;
  state_->begin(state_);
  state_->warnings.push_back(std::move(what));
  state_->arm(Time::min());
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no thread, no timer, no memory to tell it
}

void Herald::forget(const std::shared_ptr<Holding>& holding) noexcept {
  if (!holding->has_audience) return;
  std::unique_lock lock{state_->mutex};
  state_->vigil.remove(holding);
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return !state_->runs_elsewhere(*holding); });
}

}  // namespace redlock::inline v1::detail
