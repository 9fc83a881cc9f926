// How an observer is called: in which order, on which thread, and what it may do.
#include "notify/event_queue.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/one_shot_event.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Observer;
using redlock::detail::EventQueue;

/// Calls a function for every attempt.
class CallingObserver final : public Observer {
 public:
  using Call = std::function<void(const Attempt&)>;
  explicit CallingObserver(Call call) : call_{std::move(call)} {}
  void attempted(const Attempt& event) override { call_(event); }
  void dropped(std::uint64_t events) override { drops += events; }

  std::atomic<std::uint64_t> drops = 0;

 private:
  Call call_;
};

void note(EventQueue& event_queue, const std::string& resource) {
  event_queue.attempted({.resource = resource});
}

}  // namespace

TEST_CASE("the_queue_delivers_all_events_in_order_before_it_ends") {
  const auto recorder = std::make_shared<RecordingObserver>();
  {
    EventQueue event_queue{recorder, 0, nullptr};
    for (int i = 0; i < 1000; ++i) note(event_queue, std::to_string(i));
  }
  REQUIRE(recorder->attempts().size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) CHECK(recorder->attempts()[i].resource == std::to_string(i));
}

TEST_CASE("events_are_delivered_soon_without_further_calls") {
  const auto recorder = std::make_shared<RecordingObserver>();
  EventQueue event_queue{recorder, 0, nullptr};
  for (std::size_t round = 1; round <= 3; ++round) {
    event_queue.node_changed({.node = "n"});
    REQUIRE(eventually([&] { return recorder->nodes().size() == round; }));
  }
}

TEST_CASE("the_observer_receives_resources_and_not_keys") {
  const auto recorder = std::make_shared<RecordingObserver>();
  {
    EventQueue event_queue{recorder, 4, nullptr};
    event_queue.attempted({.resource = "app:a"});
    event_queue.waited({.resource = "app:b"});
    event_queue.ended({.resource = "app:c"});
    event_queue.extended({.resource = "app:d"});
  }
  CHECK(recorder->attempts().at(0).resource == "a");
  CHECK(recorder->waits().at(0).resource == "b");
  CHECK(recorder->holds().at(0).resource == "c");
  CHECK(recorder->extensions().at(0).resource == "d");
}

TEST_CASE("the_observer_is_called_by_one_thread_of_the_queue") {
  std::vector<std::thread::id> threads;
  {
    EventQueue event_queue{std::make_shared<CallingObserver>(
                               [&](const auto&) { threads.push_back(std::this_thread::get_id()); }),
                           0, nullptr};
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i)
      writers.emplace_back([&] {
        for (int j = 0; j < 100; ++j) note(event_queue, "r");
      });
    for (std::thread& writer : writers) writer.join();
  }
  REQUIRE(threads.size() == 400);
  CHECK(std::count(threads.begin(), threads.end(), threads[0]) == 400);
  CHECK(threads[0] != std::this_thread::get_id());
}

TEST_CASE("events_beyond_the_capacity_are_dropped_and_counted") {
  OneShotEvent event;
  std::atomic<std::size_t> calls = 0;
  const auto observer = std::make_shared<CallingObserver>([&](const auto&) {
    if (calls++ == 0) event.wait();
  });
  {
    EventQueue event_queue{observer, 0, nullptr};
    const SetAtEnd goes_on{event};
    note(event_queue, "first");
    REQUIRE(eventually([&] { return calls == 1; }));
    for (std::size_t i = 0; i < EventQueue::capacity + 17; ++i) note(event_queue, "more");
    CHECK(observer->drops == 0);
    event.set();
    REQUIRE(eventually([&] { return observer->drops == 17; }));
    CHECK(calls == 1 + EventQueue::capacity);
    note(event_queue, "last");
  }
  CHECK(calls == 2 + EventQueue::capacity);
  CHECK(observer->drops == 17);
}

TEST_CASE("a_throwing_observer_is_reported_once_and_receives_the_remaining_events") {
  std::vector<std::string> warnings;
  int calls = 0;
  {
    EventQueue event_queue{std::make_shared<CallingObserver>([&](const auto&) {
                             if (++calls == 2) throw std::runtime_error{"oh no"};
                             if (calls == 3) throw 42;  // NOLINT(hicpp-exception-baseclass)
                           }),
                           0, [&](std::string_view warning) { warnings.emplace_back(warning); }};
    for (int i = 0; i < 5; ++i) note(event_queue, "r");
  }
  CHECK(calls == 5);
  CHECK(warnings ==
        std::vector<std::string>{"the observer threw: oh no (further exceptions are not reported)"});
}

TEST_CASE("a_throwing_or_missing_report_callback_does_no_harm") {
  const bool has_report = GENERATE(false, true);
  int calls = 0;
  {
    const EventQueue::Report report = [](std::string_view) { throw std::runtime_error{"and I, too"}; };
    EventQueue event_queue{std::make_shared<CallingObserver>([&](const auto&) {
                             ++calls;
                             throw std::runtime_error{"oh no"};
                           }),
                           0, has_report ? report : nullptr};
    for (int i = 0; i < 5; ++i) note(event_queue, "r");
  }
  CHECK(calls == 5);
}

TEST_CASE("an_observer_may_destroy_the_queue_and_receives_nothing_more") {
  std::mutex mutex;
  std::unique_ptr<EventQueue> event_queue;
  std::atomic<int> calls = 0;
  std::atomic<bool> ended = false;
  std::weak_ptr<Observer> watched;
  {
    const auto observer = std::make_shared<CallingObserver>([&](const auto&) {
      const std::lock_guard lock{mutex};
      ++calls;
      event_queue.reset();
      ended = true;
    });
    watched = observer;
    const std::lock_guard lock{mutex};
    event_queue = std::make_unique<EventQueue>(observer, 0, nullptr);
    for (int i = 0; i < 10; ++i) note(*event_queue, "r");
  }
  REQUIRE(eventually([&] { return ended.load() && watched.expired(); }));
  CHECK(calls == 1);
}
