#include "notify/loss_notifier.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <new>
#include <utility>

#include "notify/user_code.hpp"
#include "os/boot_timer.hpp"
#include "os/quiet_thread.hpp"
#include "os/system_error.hpp"

namespace redlock::inline v1::detail {

using core::Time;

namespace {

/// How long a thread that waits for a loss lets the callback begin first. Not longer, because all notifier threads may
/// hang in the callbacks of other leases.
constexpr core::Span callback_head_start = std::chrono::milliseconds{100};

}  // namespace

struct LossNotifier::State {
  explicit State(Report to) : report{std::move(to)} {
    running.reserve(most_threads);
    threads.reserve(most_threads);
  }

  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t most_threads = 16;
  struct Request {
    std::shared_ptr<LeaseRecord> to;
    std::string why;
  };

  bool add(std::span<const std::shared_ptr<LeaseRecord>> records, const std::shared_ptr<State>& self) {
    const auto all_in_force = [records] {
      return std::ranges::all_of(records,
                                 [now = Clock::now()](const auto& each) { return each->in_force(now); });
    };
    if (!all_in_force()) return false;
    begin(self);  // may take long on a busy machine
    if (!all_in_force()) return false;
    try {
      for (const std::shared_ptr<LeaseRecord>& record : records) loss_queue.add(record);
    } catch (const std::bad_alloc&) {
      for (const std::shared_ptr<LeaseRecord>& record : records) loss_queue.remove(record);
      throw;
    }
    for (const std::shared_ptr<LeaseRecord>& record : records) record->is_in_loss_notifier = true;
    arm(loss_queue.wake_up(Clock::now()));
    return true;
  }
  /// Makes sure that there are a timer and a thread.
  void begin(const std::shared_ptr<State>& self) {
    if (!timer) timer = Descriptor{timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)};
    if (!timer) throw_errno("timerfd_create");
    if (threads.empty()) start_thread(self);
  }
  void start_thread(const std::shared_ptr<State>& self) {
    threads.push_back(prompt_thread([self] { run(self); }));
  }
  /// Makes sure that another thread waits for the next deadline while this one runs a callback.
  void hand_over_waiting(const std::shared_ptr<State>& self) noexcept try {
    if (idle == 0 && threads.size() < most_threads) start_thread(self);
    may_take_over.notify_one();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the wait continues after the callback
  }

  /// Sets the timer to `when`, unless it is set to an earlier time: a thread that wakes up too early waits again.
  void arm(Time when) {
    if (when >= armed) return;
    armed = when;
    set_boot_timer(timer.get(), when);
  }
  /// Blocks without the mutex until the timer fires.
  void sleep(Lock& lock) {
    lock.unlock();
    pollfd polled{timer.get(), POLLIN, 0};
    ::poll(&polled, 1, -1);
    lock.lock();
    if (polled.revents == 0) return;  // interrupted by a signal
    armed = core::never;
    set_boot_timer(timer.get(), core::never);  // so that it is no longer readable
  }
  /// Blocks until a lease is lost. Returns null if there is something else to call, or if the notifier is being destroyed.
  std::shared_ptr<LeaseRecord> wait_for_loss(Lock& lock) {
    for (;;) {
      if (stopping || !requests.empty() || !calls.empty()) return nullptr;
      const Time now = Clock::now();
      if (auto lost = loss_queue.take_lost(now)) return lost;
      arm(loss_queue.wake_up(now));
      sleep(lock);
    }
  }
  void report_loss(LeaseRecord& record, Lock& lock) {
    run_for(record, record.take_callback(Clock::now()), "a loss callback", lock);
  }
  void report_first_request(Lock& lock) {
    Request request = std::move(requests.front());
    requests.pop_front();
    run_for(*request.to, request.to->take_request(std::move(request.why)), "a revocation callback", lock);
  }
  /// Runs a callback of the lease without the mutex, so that `forget` waits for its end.
  template <class Callback>
  void run_for(const LeaseRecord& record, Callback callback, std::string_view name, Lock& lock) {
    running.emplace_back(std::this_thread::get_id(), &record);
    changed.notify_all();
    lock.unlock();
    run_callback(std::move(callback), name, report);
    lock.lock();
    std::erase(running, std::pair<std::thread::id, const LeaseRecord*>{std::this_thread::get_id(), &record});
    changed.notify_all();
  }
  void call_first(Lock& lock) {
    std::function<void()> call = std::move(calls.front());
    calls.pop_front();
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
  }
  [[nodiscard]] bool runs_elsewhere(const LeaseRecord& record) const {
    return std::any_of(running.begin(), running.end(), [&](const auto& one) {
      return one.second == &record && one.first != std::this_thread::get_id();
    });
  }

  const Report report;
  std::mutex mutex;
  // The mutex guards all members below.
  std::condition_variable may_take_over;  // no thread waits for the next deadline
  std::condition_variable_any changed;    // a lease was lost or released, or a callback has begun or ended
  core::LossQueue<LeaseRecord> loss_queue;
  std::vector<std::pair<std::thread::id, const LeaseRecord*>> running;  // callbacks that run, by thread
  Descriptor timer;
  Time armed = core::never;
  std::vector<std::thread> threads;
  std::deque<Request> requests;             // to be told
  std::deque<std::function<void()>> calls;  // to be made, besides the callbacks of leases
  std::size_t idle = 0;                     // threads that could take over
  bool has_waiter = false;                  // a thread waits for the next deadline
  bool stopping = false;
};

LossNotifier::LossNotifier(Report report) : state_{std::make_shared<State>(std::move(report))} {}

void LossNotifier::close_in_child() const noexcept { state_->timer.close_in_child(); }

LossNotifier::~LossNotifier() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopping = true;
    if (state_->timer) state_->arm(Time::min());
    state_->may_take_over.notify_all();
    threads.swap(state_->threads);
  }
  for (std::thread& thread : threads) end_callback_thread(thread);
}

void LossNotifier::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock{state->mutex};
  while (!state->stopping) {
    ++state->idle;
    state->may_take_over.wait(lock, [&] { return state->stopping || !state->has_waiter; });
    --state->idle;
    state->has_waiter = true;
    const std::shared_ptr<LeaseRecord> lost = state->wait_for_loss(lock);
    state->has_waiter = false;
    if (state->stopping) break;  // what is still to be called is dropped
    state->hand_over_waiting(state);
    if (lost)
      state->report_loss(*lost, lock);
    else if (!state->requests.empty())
      state->report_first_request(lock);
    else
      state->call_first(lock);
  }
}

bool LossNotifier::add(std::span<const std::shared_ptr<LeaseRecord>> records) {
  const std::lock_guard lock{state_->mutex};
  return state_->add(records, state_);
}

std::stop_token LossNotifier::stop_token(const std::shared_ptr<LeaseRecord>& record) {
  const std::lock_guard lock{state_->mutex};
  if (!record->stop.stop_possible()) {
    std::stop_source stop;
    state_->add({&record, 1}, state_);  // may throw
    record->stop = std::move(stop);
    if (record->loss(Clock::now()) != Loss::none) record->stop.request_stop();
  }
  return record->stop.get_token();
}

bool LossNotifier::wait(const std::shared_ptr<LeaseRecord>& record, Time until, const std::stop_token& stop) {
  const auto in_force = [&] { return record->in_force(Clock::now()); };
  std::unique_lock lock{state_->mutex};
  state_->add({&record, 1}, state_);
  for (Time now = Clock::now(); in_force() && now < until && !stop.stop_requested(); now = Clock::now()) {
    const Time next = std::min(until, core::next_wake_up(record->deadline(), now));
    state_->changed.wait_for(lock, stop, std::min<core::Span>(next - now, std::chrono::hours{1}),
                             [&] { return !in_force(); });
  }
  if (record->loss(Clock::now()) != Loss::none)
    state_->changed.wait_for(lock, callback_head_start,
                             [&] { return !state_->loss_queue.contains(*record); });
  return in_force();
}

void LossNotifier::lost(const std::shared_ptr<LeaseRecord>& record) noexcept {
  const std::lock_guard lock{state_->mutex};
  state_->loss_queue.lost(record);
  state_->changed.notify_all();
  if (state_->timer) state_->arm(state_->loss_queue.timer());
}

void LossNotifier::asked(const std::shared_ptr<LeaseRecord>& record, std::string_view why) noexcept try {
  const std::lock_guard lock{state_->mutex};
  if (!record->in_force(Clock::now())) return;  // over: there is nothing to give up any more
  state_->requests.push_back({record, std::string{why}});
  state_->arm(Time::min());
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory: the holder is not told
}

void LossNotifier::begin() {
  const std::lock_guard lock{state_->mutex};
  state_->begin(state_);
}

bool LossNotifier::call_soon(std::function<void()> call) noexcept try {
  const std::lock_guard lock{state_->mutex};
  state_->begin(state_);
  state_->calls.push_back(std::move(call));
  state_->arm(Time::min());
  return true;
} catch (const std::exception&) {  // no thread, timer or memory for it
  return false;
}

const LossNotifier::Report& LossNotifier::report() const noexcept { return state_->report; }

void LossNotifier::warn(std::string what) noexcept {
  if (!state_->report) return;
  call_soon([report = state_->report, warning = std::move(what)] {
    const auto ignore = [](std::string_view) {};  // there is nowhere to report an exception
    run_user_code([&] { report(warning); }, ignore);
  });
}

void LossNotifier::forget(const std::shared_ptr<LeaseRecord>& record) noexcept {
  if (!record->is_in_loss_notifier) return;
  std::unique_lock lock{state_->mutex};
  state_->loss_queue.remove(record);
  std::erase_if(state_->requests, [&](const auto& request) { return request.to == record; });
  state_->changed.notify_all();
  if (!runs_user_code) state_->changed.wait(lock, [&] { return !state_->runs_elsewhere(*record); });
}

}  // namespace redlock::inline v1::detail
