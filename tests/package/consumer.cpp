// Tries to lock on an unreachable node and on nodes in memory: proves that the headers and libraries fit together.
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>

#include <iostream>

int main() {
  redlock::testing::FakeLocks fake;
  if (!fake.try_lock("invoice/42").value().valid()) return 2;
  redlock::SingleNodeLock locks{"127.0.0.1:1"};
  const auto lease = locks.try_lock("invoice/42");
  std::cout << lease.message() << '\n';
  return lease.code() == redlock::Errc::no_quorum ? 0 : 1;
}
