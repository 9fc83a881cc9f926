// Takes a lock on the Redis nodes given as arguments, holds it while it works, and lets it go.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  try {
    redlock::Redlock locks{std::vector<redlock::Endpoint>(argv + 1, argv + argc)};

    if (auto lease = locks.try_lock("invoice/42", {.ttl = 10s})) {
      std::cout << "got the lock, " << lease->remaining() / 1ms << " ms are ours\n" << std::flush;
      std::this_thread::sleep_for(
          2s);  // the work; ask lease->remaining() before a step that must not overlap
      std::cout << "done, " << lease->remaining() / 1ms << " ms were left\n";
    } else {
      std::cout << "somebody else is at work on it\n";
    }  // the lease releases the lock on every node when it goes
  } catch (const redlock::Error& error) {
    std::cerr << error.what() << '\n';  // with a line for every node
    return 1;
  }
}
