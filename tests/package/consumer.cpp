// Tries to lock on an unreachable node: proves that the headers and libraries fit together.
#include <redlock/redlock.hpp>

#include <iostream>
#include <system_error>

int main() {
  redlock::SingleNodeLock locks{"127.0.0.1:1"};
  std::error_code outcome;
  const auto lease = locks.try_lock("invoice/42", {}, outcome);
  std::cout << outcome.message() << '\n';
  return !lease && outcome == redlock::Errc::no_quorum ? 0 : 1;
}
