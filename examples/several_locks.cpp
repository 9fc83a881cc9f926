// Several locks at once: all accounts of a transfer, or none.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

int main() try {
  auto locks = redlock::Redlock::from_environment();

  if (const auto both = locks.try_lock_all_for({"account/alice", "account/bob"}, 5s)) {
    if (both->remaining() < 1s) return 1;  // the first deadline of all
    for (const redlock::Lease& lease : *both)
      std::cout << "writing " << lease.resource() << " with token " << lease.fencing_token() << '\n';
  } else {
    std::cout << both.message() << '\n';
  }
} catch (const redlock::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
