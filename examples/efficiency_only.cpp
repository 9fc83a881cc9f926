// One Redis is enough if a lock only saves work. In this example, warming the same cache twice only costs time.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  redlock::SingleNodeLock locks{argc > 1 ? argv[1] : "redis://localhost:6379"};

  if (const auto lease = locks.try_lock("cache/front-page", {.ttl = 5s}))
    std::cout << "warming the cache\n";
  else
    std::cout << "not warming the cache: " << lease.message() << '\n';
} catch (const redlock::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
