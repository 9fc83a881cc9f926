// At most three workers use the graphics cards at a time, and each has one card of its own.
#include <iostream>
#include <redlock/redlock.hpp>
#include <vector>

int main() {
  auto locks = redlock::Redlock::from_environment();
  const redlock::LockOptions one_of_three{.seats = 3};
  std::vector<redlock::Lease> workers;
  while (workers.size() < 3) workers.push_back(locks.lock("gpu", one_of_three).value());
  for (const redlock::Lease& worker : workers)
    std::cout << "rendering on " << worker.resource() << " with token " << worker.fencing_token() << '\n';

  if (locks.try_lock("gpu", one_of_three).is_held()) std::cout << "all cards are in use\n";

  workers.pop_back();  // releases its seat
  const redlock::Lease next = locks.lock("gpu", one_of_three).value();
  std::cout << "rendering on " << next.resource() << '\n';
}
