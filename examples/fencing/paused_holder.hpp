// Shows what a pause does to a lock. Two processes withdraw money from one account, under one lock. The first is stopped
// between its read and its write, and resumes when the second is done.
#pragma once

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <redlock/redlock.hpp>
#include <stdexcept>
#include <string>

#include "child_process.hpp"

namespace paused_holder {

/// Thrown by a store that refuses a token because it is too small.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Guard : bool { off, on };
enum ExitCode { withdrew = 0, failed = 1, was_refused = 2 };

struct Withdrawal {
  std::string name;
  int amount = 0;
  bool is_paused = false;
};

/// Runs once per process. A store has `read()` and `write(amount)`, and for its guard `read(token)` and
/// `write(amount, token)`.
template <class Store>
void withdraw(const Withdrawal& who, Store store, Guard guard) {
  auto locks = redlock::Redlock::from_environment();  // after fork(): every process needs its own client
  const redlock::Lease lease = locks.lock("account/alice", {.ttl = std::chrono::seconds{1}}).value();

  // The read presents the token as well. Otherwise an earlier holder could still write between this read and this write.
  const bool guarded = guard == Guard::on;
  const int balance = guarded ? store.read(lease.fencing_token()) : store.read();
  std::cout << who.name << ": token " << lease.fencing_token() << ", reads " << balance << '\n';

  // The lease is valid here. Checking it again would not help: a pause can come between the check and the write.
  if (who.is_paused) {
    std::cout << who.name << ": pauses with " << lease.remaining() / std::chrono::milliseconds{1}
              << " ms left\n"
              << std::flush;
    std::raise(SIGSTOP);
    std::cout << who.name << ": resumes\n";
  }

  const int rest = balance - who.amount;
  guarded ? store.write(rest, lease.fencing_token()) : store.write(rest);
  std::cout << who.name << ": writes " << rest << '\n';
}

/// As `withdraw`, but returns its outcome as an exit code.
template <class Open>
ExitCode run(const Withdrawal& who, Open open, Guard guard) try {
  withdraw(who, open(), guard);
  return withdrew;
} catch (const Refused& refusal) {
  std::cout << who.name << ": refused: " << refusal.what() << '\n';
  return was_refused;
} catch (const std::exception& error) {
  std::cerr << who.name << ": " << error.what() << '\n';
  return failed;
}

/// Runs both withdrawals and returns the final balance. `open()` connects to the store; each process calls it for itself.
template <class Open>
int play(Open open, Guard guard) {
  open().write(100);

  ChildProcess first{[&] { return run({"first", 30, true}, open, guard); }};
  if (!first.wait_until_stopped()) throw std::runtime_error{"the first holder did not pause"};

  // Waits until the first holder's lock expires.
  ChildProcess second{[&] { return run({"second", 50}, open, guard); }};
  if (second.wait_for_end() != withdrew) throw std::runtime_error{"the second holder did not withdraw"};

  first.resume();
  if (first.wait_for_end() != (guard == Guard::on ? was_refused : withdrew))
    throw std::runtime_error{"the first holder did not end as expected"};

  const int balance = open().read();
  std::cout << "final balance: " << balance << "\n\n";
  return balance;
}

/// Runs without a guard and then with one. Returns main()'s exit code: 0 if the damage happened first and was then prevented.
template <class Open>
int show(Open open) {
  std::cout << "Without a guard\n";
  const int damaged = play(open, Guard::off);
  std::cout << "With a guard\n";
  const int sound = play(open, Guard::on);

  if (damaged == 70 && sound == 50) return 0;
  std::cerr << "expected a balance of 70, because the second withdrawal is lost, and then 50\n";
  return 1;
}

}  // namespace paused_holder
