// Every replica of a service starts a job, and one of them should run it. Tries once, and distinguishes the outcomes
// without exceptions.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

int main() try {
  auto locks = redlock::Redlock::from_environment();

  const auto lease = locks.try_lock("job/nightly-report", {.ttl = 30s});
  if (lease) {
    std::cout << "running the report as owner " << lease->owner_value() << '\n';
    return 0;
  }
  if (lease.is_held()) {
    std::cout << "another replica is running it\n"
              << lease.message() << '\n';  // says who, as the nodes report it
    return 0;
  }
  std::cerr << "cannot lock: " << lease.message() << '\n';  // includes a line for each node
  return 1;
} catch (const redlock::Error& error) {  // from the first line: no nodes, or an invalid one
  std::cerr << error.what() << '\n';
  return 1;
}
