// waiting-process RESOURCE TTL_MS HOLDS HOLD_US ORDER NODE…: waits for the lock, holds it for that time and releases it,
// HOLDS times. Zero as time: holds it until the process is killed. Writes a line to stdout at each step, with its process id
// and the time in nanoseconds: "17 waits 123", "17 holds 456", and after the release "17 released 789", the time of the call.
#include <unistd.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redlock/redlock.hpp"

namespace {

using Time = std::chrono::steady_clock::time_point;

/// One write, so that several processes can write to the same file.
void write_line(std::string_view step, Time at) {
  std::string line = std::to_string(::getpid());
  line.append(" ")
      .append(step)
      .append(" ")
      .append(std::to_string(at.time_since_epoch().count()))
      .append("\n");
  std::cout << line << std::flush;
}

void hold_once(redlock::Redlock& locks, const std::string& resource, const redlock::LockOptions& options,
               std::chrono::microseconds hold) {
  write_line("waits", std::chrono::steady_clock::now());
  redlock::Lease lease = locks.lock(resource, options).value();
  write_line("holds", std::chrono::steady_clock::now());
  while (hold.count() == 0) ::pause();
  std::this_thread::sleep_for(hold);
  const Time released_at = std::chrono::steady_clock::now();
  lease.release();
  write_line("released", released_at);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const std::string& resource = arguments.at(0);
  const redlock::LockOptions options{
      .ttl = std::chrono::milliseconds{std::stol(arguments.at(1))},
      .order = arguments.at(4) == "none" ? redlock::Order::none : redlock::Order::fifo};
  const int holds = std::stoi(arguments.at(2));
  const std::chrono::microseconds hold{std::stol(arguments.at(3))};
  redlock::Redlock locks{std::vector<redlock::Endpoint>{arguments.begin() + 5, arguments.end()}};
  for (int round = 0; round < holds; ++round) hold_once(locks, resource, options, hold);
} catch (const std::exception& error) {
  std::cerr << "waiting-process: " << error.what() << '\n';
  return 1;
}
