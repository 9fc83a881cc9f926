// Tries to lock on an unreachable node and on nodes in memory: proves that the headers and libraries fit together. With the
// address of a node: prints why there can be no client for it.
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace {

/// Its base class and the library's exceptions cross the border of a shared library.
struct Counter : redlock::Observer {
  void attempted(const Attempt& /*attempt*/) override { ++attempts; }
  int attempts = 0;
};

bool throws_its_own_error(redlock::SingleNodeLock& locks) {
  try {
    (void)locks.try_lock("invoice/42").value();
  } catch (const redlock::Error& error) {
    return error.code() == redlock::Errc::no_quorum;
  }
  return false;
}

std::string refusal_of(const char* node) {
  try {
    redlock::SingleNodeLock locks{node};
  } catch (const redlock::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::cout << refusal_of(argv[1]) << '\n';
    return 0;
  }
  const auto counter = std::make_shared<Counter>();
  {
    redlock::testing::FakeLocks fake{3, {.observer = counter}};
    if (!fake.try_lock("invoice/42").value().valid()) return 2;
  }
  if (counter->attempts != 1) return 3;
  redlock::SingleNodeLock locks{"127.0.0.1:1"};
  if (!throws_its_own_error(locks)) return 4;
  const auto lease = locks.try_lock("invoice/42");
  std::cout << lease.message() << '\n';
  return lease.code() == redlock::Errc::no_quorum ? 0 : 1;
}
