// Every replica of a service starts a job, and one of them should run it. Tries once, and distinguishes the outcomes by
// error codes instead of exceptions.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  redlock::Redlock locks{std::vector<redlock::Endpoint>(argv + 1, argv + argc)};

  std::error_code why;
  const auto lease = locks.try_lock("job/nightly-report", {.ttl = 30s}, why);
  if (lease) {
    std::cout << "running the report as owner " << lease->owner_value() << '\n';
    return 0;
  }
  if (why == redlock::Errc::held) {
    std::cout << "another replica is running it:\n";
    for (const redlock::NodeReport& node : locks.inspect("job/nightly-report"))
      std::cout << "  " << node << '\n';
    return 0;
  }
  std::cerr << "cannot lock: " << why.message() << '\n';
  return 1;
} catch (const redlock::Error& error) {  // from the constructor: an invalid endpoint or option
  std::cerr << error.what() << '\n';
  return 1;
}
