// Distributed locks with the standard library's guards: two accounts are locked together without deadlock,
// and a lock within a lock.
#include <chrono>
#include <iostream>
#include <mutex>
#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

namespace {

void restock(redlock::RecursiveMutex& stock) {
  const std::scoped_lock again{stock};  // no I/O if this thread has locked it
  std::cout << "adding lamps with token " << stock.lease()->fencing_token() << '\n';
}

void recount(redlock::RecursiveMutex& stock) {
  const std::scoped_lock counting{stock};
  std::cout << "counting lamps with token " << stock.lease()->fencing_token() << '\n';
  restock(stock);
}

}  // namespace

int main() try {
  auto locks = redlock::Redlock::from_environment();
  redlock::Mutex alice{locks, "account/alice", {.ttl = 10s}};
  redlock::Mutex bob{locks, "account/bob", {.ttl = 10s}};

  {
    const std::scoped_lock both{alice, bob};  // std::lock avoids deadlock with the opposite order
    // A guard cannot report a loss, so check before the critical step.
    if (alice.lease()->remaining() < 1s || bob.lease()->remaining() < 1s) return 1;
    std::cout << "transferring the money\n";
  }
  if (alice.last_release() != redlock::Release::released)
    std::cout << "the lock was lost before its release\n";

  std::unique_lock<redlock::Mutex> later{alice, std::defer_lock};
  if (later.try_lock_for(500ms)) std::cout << "locked again until the guard is destroyed\n";

  redlock::RecursiveMutex stock{locks, "stock/lamps"};
  recount(stock);
} catch (const redlock::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
