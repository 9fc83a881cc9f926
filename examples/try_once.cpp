// A job that every replica of a service starts, and that one of them should run: ask once, and tell apart why
// not. Uses error codes, so that each outcome is a case and none an exception.
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
    std::cout << "another replica runs it:\n";
    for (const redlock::NodeReport& node : locks.inspect("job/nightly-report"))
      std::cout << "  " << node << '\n';
    return 0;
  }
  std::cerr << "cannot tell: " << why.message() << '\n';
  return 1;
} catch (const redlock::Error& error) {  // from the constructor: a bad endpoint or option
  std::cerr << error.what() << '\n';
  return 1;
}
