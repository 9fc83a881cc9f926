// Two workers need the same file. The second waits for the first for at most five seconds. Its std::stop_token can end
// the wait.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;

int main() try {
  auto locks = redlock::Redlock::from_environment();

  redlock::Lease first =
      locks.lock("file/ledger.csv", {.ttl = 10s, .renewal = redlock::Renewal::none}).value();
  bool second_got_it = false;
  {
    std::jthread second([&](std::stop_token stop) {
      if (const auto lease = locks.try_lock_for("file/ledger.csv", 5s, {.ttl = 10s}, stop)) {
        std::cout << "second worker: got the lock\n";
        second_got_it = true;
      } else {
        std::cout << "second worker: " << lease.message() << '\n';
      }
    });
    std::this_thread::sleep_for(200ms);

    // The work takes longer than planned: extend the lock before its deadline, and stop if that fails.
    if (!first.extend()) return 1;
    std::cout << "first worker: done\n";
    first.release();
    second.join();
  }
  return second_got_it ? 0 : 1;
} catch (const redlock::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
