// Takes a lock on the Redis nodes that the environment names, works for two seconds, and releases the lock.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <thread>

using namespace std::chrono_literals;

namespace {

void pay_invoice(const redlock::Lease& lease) {
  std::cout << "got the lock for " << lease.remaining() / 1ms << " ms\n" << std::flush;
  std::this_thread::sleep_for(2s);  // the work
  // Before each step that must not overlap with the next holder's work, check that enough time remains.
  if (lease.remaining() > 1s) std::cout << "done, " << lease.remaining() / 1ms << " ms left\n";
}

}  // namespace

int main() try {
  auto locks = redlock::Redlock::from_environment();  // REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,…
  if (const auto lease = locks.try_lock("invoice/42", {.ttl = 10s}))
    pay_invoice(*lease);  // the lock is released when lease goes out of scope
  else
    std::cout << lease.message() << '\n';  // says why, with a line for each node
} catch (const redlock::Error& error) {    // from the first line: no nodes, or an invalid one
  std::cerr << error.what() << '\n';
  return 1;
}
