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

/// How long the first note of a batch waits for others.
constexpr std::chrono::milliseconds gathering{10};

}  // namespace

struct EventQueue::State {
  using Lock = std::unique_lock<std::mutex>;
  using Note = std::variant<Attempt, Wait, Hold, Extension, Node>;

  State(std::shared_ptr<Observer> to, Report complaints)
      : observer{std::move(to)}, report{std::move(complaints)} {}

  void run() {
    for (Lock lock{mutex};;) {
      called.wait(lock, [&] { return stopping || has_news(); });
      called.wait_for(lock, gathering, [&] { return stopping || notes.size() >= capacity / 2; });
      if (abandoned || !has_news()) return;
      const std::vector<Note> batch = std::exchange(notes, {});
      const std::uint64_t left_out = std::exchange(dropped, 0);
      lock.unlock();
      for (const Note& note : batch) tell(note);
      if (left_out > 0) call_observer([&] { observer->dropped(left_out); });
      lock.lock();
    }
  }
  [[nodiscard]] bool has_news() const noexcept { return !notes.empty() || dropped > 0; }

  void tell(const Note& note) {
    struct Call {
      Observer& to;
      void operator()(const Attempt& event) const { to.attempted(event); }
      void operator()(const Wait& event) const { to.waited(event); }
      void operator()(const Hold& event) const { to.ended(event); }
      void operator()(const Extension& event) const { to.extended(event); }
      void operator()(const Node& event) const { to.node_changed(event); }
    };
    call_observer([&] { std::visit(Call{*observer}, note); });
  }
  template <class Call>
  void call_observer(const Call& call) {
    if (!abandoned) run_user_code(call, [&](std::string_view what) { complain(what); });
  }
  void complain(std::string_view what) noexcept try {
    if (!std::exchange(has_complained, true) && report)
      report("the observer threw: " + std::string{what} + " (further exceptions are not reported)");
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody left to tell
  }

  const std::shared_ptr<Observer> observer;
  const Report report;
  // Of the thread that tells.
  bool abandoned = false;  // the event_queue was destroyed in a call of that thread
  bool has_complained = false;

  std::mutex mutex;
  // All that follows is read and written under it.
  std::condition_variable called;
  std::vector<Note> notes;
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
  end_thread(thread);
}

template <class Event>
void EventQueue::note(const Event& event) noexcept {
  const std::lock_guard lock{state_->mutex};
  State& state = *state_;
  const std::size_t before = state.notes.size();
  if (before < capacity) try {
      Event copy = event;
      if constexpr (requires { copy.resource; }) copy.resource.erase(0, key_prefix_);
      if (!state.thread.joinable()) state.thread = quiet_thread([kept = state_] { kept->run(); });
      state.notes.emplace_back(std::move(copy));
      if (before == 0 || before + 1 == capacity / 2) state.called.notify_one();
      return;
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory, or no thread: counted below
    }
  ++state.dropped;
}

void EventQueue::attempted(const Attempt& event) { note(event); }
void EventQueue::waited(const Wait& event) { note(event); }
void EventQueue::ended(const Hold& event) { note(event); }
void EventQueue::extended(const Extension& event) { note(event); }
void EventQueue::node_changed(const Node& event) { note(event); }

}  // namespace redlock::inline v1::detail
