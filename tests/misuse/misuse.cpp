// Misuses of the interface. The compiler refuses or warns of each, for the reason in the comment behind it (check.sh).
#include <chrono>
#include <redlock/redlock.hpp>
#include <utility>

namespace {

bool right_use(redlock::LockClient& locks) {
  if (auto lease = locks.try_lock("x")) return lease->extend();
  const redlock::Lease lease = locks.lock("x").value();
  return lease.valid();
}

#ifdef MISUSES
bool misuse(redlock::LockClient& locks, redlock::Lease& lease, redlock::Election& election) {
  if (locks.try_lock("x")) return true;                                 // refused: deleted
  while (!locks.try_lock("x")) continue;                                // refused: deleted
  if (locks.try_lock("x").has_value()) return true;                     // refused: deleted
  if (locks.lock("x")->valid()) return true;                            // refused: deleted
  if (locks.lock_all({"x", "y"})) return true;                          // refused: deleted
  for (const auto& report : locks.try_lock("x").nodes()) (void)report;  // refused: deleted
  const redlock::Lease copy = lease;                                    // refused: deleted
  const redlock::Lease from_result = locks.lock("x");                   // refused: conversion|converting
  locks.try_lock("x");                                                  // refused: nodiscard
  locks.try_lock_for("x", std::chrono::seconds{1});                     // refused: nodiscard
  locks.try_lock_until("x", std::chrono::steady_clock::now());          // refused: nodiscard
  locks.lock("x");                                                      // refused: nodiscard
  locks.lock_all({"x", "y"});                                           // refused: nodiscard
  locks.try_lock_all({"x", "y"});                                       // refused: nodiscard
  locks.try_lock_all_for({"x", "y"}, std::chrono::seconds{1});          // refused: nodiscard
  locks.adopt({"x", "an owner"});                                       // refused: nodiscard
  locks.downgrade(std::move(lease));                                    // refused: nodiscard
  election.campaign();                                                  // refused: nodiscard
  election.try_campaign();                                              // refused: nodiscard
  election.leader();                                                    // refused: nodiscard
  election.observe([](const auto&) {});                                 // refused: nodiscard
  locks.lock("x").value();                                              // refused: nodiscard
  lease.extend();                                                       // refused: nodiscard
  lease.orphan();                                                       // refused: nodiscard
  lease.sequencer();                                                    // refused: nodiscard
  locks.check(lease.sequencer());                                       // refused: nodiscard
  return copy.valid() && from_result.valid();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  redlock::Redlock locks{{argv + 1, argv + argc}};
#ifdef MISUSES
  redlock::Lease lease = locks.lock("x").value();
  redlock::Election election{locks, "x"};
  return misuse(locks, lease, election) ? 0 : 1;
#endif
  return right_use(locks) ? 0 : 1;
}
