// Two candidates for one task, of which one leads at a time, and an observer who wants to know which.
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <redlock/redlock.hpp>
#include <string>
#include <utility>

/// The leader that the observer knows of.
class Shown {
 public:
  void set(const std::optional<redlock::Leader>& leader) {
    const std::lock_guard lock{mutex_};
    candidate_ = leader ? leader->candidate : std::string{};
    changed_.notify_all();
  }
  void wait_for(const std::string& candidate) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return candidate_ == candidate; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string candidate_;
};

int main() {
  auto locks = redlock::Redlock::from_environment();
  redlock::Election first{locks, "scheduler", "first", {.ttl = std::chrono::seconds{10}}};
  redlock::Election second{locks, "scheduler", "second", {.ttl = std::chrono::seconds{10}}};

  Shown shown;
  const auto observation =
      first.observe([&shown](const std::optional<redlock::Leader>& leader) { shown.set(leader); });

  redlock::Lease leadership = first.campaign().value();  // blocks until it leads
  shown.wait_for("first");
  std::cout << "first leads with token " << leadership.fencing_token() << '\n';
  if (second.try_campaign().is_held()) std::cout << "second has to wait\n";

  // What the leader does must end when it is lost: check `leadership.valid()`, or pass on `leadership.stop_token()`.
  leadership.release();  // resigns
  leadership = second.campaign().value();
  shown.wait_for("second");
  std::cout << "now it is " << first.leader().value() << '\n';
}
