#include "benchmark/waiting/waiters.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>

#include "testing/process.hpp"
#include "testing/process_group.hpp"

namespace redlock::benchmark {
namespace {

constexpr std::chrono::milliseconds patience = std::chrono::minutes{5};

template <class Predicate>
void wait_until(Predicate predicate) {
  const auto end = Stopwatch::now() + patience;
  while (!predicate()) {
    if (Stopwatch::now() > end) throw std::runtime_error{"the waiters take longer than five minutes"};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

class Processes final : public Waiters {
 public:
  Processes(const std::vector<std::string>& urls, const Waiting& waiting) : waiting_{waiting} {
    testing::detail::Launch launch{
        .arguments = {WAITING_PROCESS, waiting.resource, "30000", std::to_string(waiting.holds),
                      std::to_string(waiting.hold_time.count()), std::string{to_string(waiting.order)}},
        .output = output_,
        .group = group_.id()};
    launch.arguments.insert(launch.arguments.end(), urls.begin(), urls.end());
    for (unsigned process = 0; process < waiting.waiters; ++process)
      running_.push_back(testing::detail::launch(launch));
  }

  void wait_for_calls() override {
    wait_until([&] {
      std::size_t calls = 0;
      for_each_step([&](pid_t, const std::string& step, auto) { calls += step == "waits" ? 1 : 0; });
      return calls >= waiting_.waiters;
    });
  }
  std::vector<Hold> wait_for_end() override {
    wait_until([&] {
      std::erase_if(running_, [](pid_t process) { return testing::detail::reap(process, WNOHANG); });
      return running_.empty();
    });
    std::map<pid_t, Hold> current;  // the steps of one process are in order
    std::vector<Hold> holds;
    for_each_step([&](pid_t process, const std::string& step, Stopwatch::time_point at) {
      Hold& hold = current[process];
      if (step == "waits") hold.called_at = at;
      if (step == "holds") hold.held_at = at;
      if (step == "released") hold.released_at = at, holds.push_back(hold);
    });
    if (holds.size() != waiting_.waiters * waiting_.holds)
      throw std::runtime_error{"a waiting process failed"};
    return holds;
  }

 private:
  /// What the processes have written so far.
  template <class Use>
  void for_each_step(Use use) const {
    std::ifstream lines{output_};
    pid_t process = 0;
    std::string step;
    Stopwatch::rep at = 0;
    while (lines >> process >> step >> at) use(process, step, Stopwatch::time_point{Stopwatch::duration{at}});
  }

  const Waiting waiting_;
  const testing::detail::ProcessGroup group_;
  const std::string output_ = group_.folder() + "/output";
  std::vector<pid_t> running_;
};

class Threads final : public Waiters {
 public:
  Threads(LockClient& locks, const Waiting& waiting) : locks_{locks}, waiting_{waiting} {
    for (unsigned thread = 0; thread < waiting.waiters; ++thread) threads_.emplace_back([this] { serve(); });
  }

  void wait_for_calls() override {
    wait_until([&] { return calls_ >= waiting_.waiters; });
  }
  std::vector<Hold> wait_for_end() override {
    for (std::jthread& thread : threads_) thread.join();
    if (holds_.size() != waiting_.waiters * waiting_.holds)
      throw std::runtime_error{"a waiting thread got no lock"};
    return holds_;
  }

 private:
  void serve() {
    for (std::size_t round = 0; round < waiting_.holds; ++round) {
      ++calls_;
      const auto called_at = Stopwatch::now();
      LockResult lease = locks_.lock(waiting_.resource, {.order = waiting_.order});
      const auto held_at = Stopwatch::now();
      if (!lease) return;
      std::this_thread::sleep_for(waiting_.hold_time);
      const auto released_at = Stopwatch::now();
      lease->release();
      const std::lock_guard lock{mutex_};
      holds_.push_back({called_at, held_at, released_at});
    }
  }

  LockClient& locks_;
  const Waiting waiting_;
  std::atomic<unsigned> calls_ = 0;
  std::mutex mutex_;
  std::vector<Hold> holds_;
  std::vector<std::jthread> threads_;  // last, as the threads use the other members
};

}  // namespace

std::unique_ptr<Waiters> start_processes(const std::vector<std::string>& urls, const Waiting& waiting) {
  return std::make_unique<Processes>(urls, waiting);
}
std::unique_ptr<Waiters> start_threads(LockClient& locks, const Waiting& waiting) {
  return std::make_unique<Threads>(locks, waiting);
}

}  // namespace redlock::benchmark
