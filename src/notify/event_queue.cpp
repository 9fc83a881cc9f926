#include "notify/event_queue.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "notify/user_code.hpp"
#include "os/quiet_thread.hpp"

namespace redlock::inline v1::detail {
namespace {

/// How long the first event of a batch waits for others.
constexpr std::chrono::milliseconds batch_delay{10};

}  // namespace

struct EventQueue::State {
  using Lock = std::unique_lock<std::mutex>;
  using Event = std::variant<Attempt, Wait, Line, Hold, Extension, Break, Node, Certificate>;

  State(std::shared_ptr<Observer> to, Report complaints)
      : observer{std::move(to)}, report{std::move(complaints)} {}

  void run() {
    for (Lock lock{mutex};;) {
      called.wait(lock, [&] { return stopping || has_events(); });
      called.wait_for(lock, batch_delay, [&] { return stopping || events.size() >= capacity / 2; });
      if (abandoned || !has_events()) return;
      const std::vector<Event> batch = std::exchange(events, {});
      const std::uint64_t left_out = std::exchange(dropped, 0);
      lock.unlock();
      for (const Event& event : batch) deliver(event);
      if (left_out > 0) call_observer([&] { observer->dropped(left_out); });
      lock.lock();
    }
  }
  [[nodiscard]] bool has_events() const noexcept { return !events.empty() || dropped > 0; }

  void deliver(const Event& event) {
    struct Call {
      Observer& to;
      void operator()(const Attempt& attempt) const { to.attempted(attempt); }
      void operator()(const Wait& wait) const { to.waited(wait); }
      void operator()(const Line& line) const { to.lined_up(line); }
      void operator()(const Hold& hold) const { to.ended(hold); }
      void operator()(const Extension& extension) const { to.extended(extension); }
      void operator()(const Break& taken) const { to.broken(taken); }
      void operator()(const Node& node) const { to.node_changed(node); }
      void operator()(const Certificate& certificate) const { to.certificate_seen(certificate); }
    };
    call_observer([&] { std::visit(Call{*observer}, event); });
  }
  template <class Call>
  void call_observer(const Call& call) {
    if (!abandoned) run_user_code(call, [&](std::string_view what) { complain(what); });
  }
  void complain(std::string_view what) noexcept try {
    if (!std::exchange(has_complained, true) && report)
      report("the observer threw: " + std::string{what} + " (further exceptions are not reported)");
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nowhere to report it
  }

  const std::shared_ptr<Observer> observer;
  const Report report;
  // Only for the thread that delivers the events.
  bool abandoned = false;  // the queue was destroyed on that thread, by the observer
  bool has_complained = false;

  std::mutex mutex;
  // The mutex guards all members below.
  std::condition_variable called;
  std::vector<Event> events;
  std::uint64_t dropped = 0;
  std::thread thread;
  bool stopping = false;
};

EventQueue::EventQueue(std::shared_ptr<Observer> observer, std::size_t key_prefix, Report report)
    : state_{std::make_shared<State>(std::move(observer), std::move(report))}, key_prefix_{key_prefix} {}

EventQueue::~EventQueue() {
  std::thread thread;
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopping = true;
    thread.swap(state_->thread);
    state_->called.notify_one();
  }
  if (thread.get_id() == std::this_thread::get_id()) state_->abandoned = true;
  end_callback_thread(thread);
}

template <class Event>
void EventQueue::push(const Event& event) noexcept {
  const std::lock_guard lock{state_->mutex};
  State& state = *state_;
  const std::size_t before = state.events.size();
  if (before < capacity) try {
      Event copy = event;
      if constexpr (requires { copy.resource; }) copy.resource.erase(0, key_prefix_);
      if (!state.thread.joinable()) state.thread = quiet_thread([kept = state_] { kept->run(); });
      state.events.emplace_back(std::move(copy));
      if (before == 0 || before + 1 == capacity / 2) state.called.notify_one();
      return;
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory or thread: dropped
    }
  ++state.dropped;
}

void EventQueue::attempted(const Attempt& event) { push(event); }
void EventQueue::waited(const Wait& event) { push(event); }
void EventQueue::lined_up(const Line& event) { push(event); }
void EventQueue::ended(const Hold& event) { push(event); }
void EventQueue::extended(const Extension& event) { push(event); }
void EventQueue::broken(const Break& event) { push(event); }
void EventQueue::node_changed(const Node& event) { push(event); }
void EventQueue::certificate_seen(const Certificate& event) { push(event); }

}  // namespace redlock::inline v1::detail
