// What a pause does to a lock, played by two processes. Both want to withdraw money from one account, under one lock.
// The first is stopped when it has made up its mind, and wakes up when the second is done.
#pragma once

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <redlock/redlock.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "child_process.hpp"

namespace paused_holder {

using Nodes = std::vector<redlock::Endpoint>;

/// What a store throws at those who come with a token that is too small.
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

/// Once per process. Its store is anything that can `read()` and `write(amount)`, and `read(token)` and
/// `write(amount, token)` where it has a guard.
template <class Store>
void withdraw(const Withdrawal& who, const Nodes& nodes, Store store, Guard guard) {
  redlock::Redlock locks{nodes};  // after fork(): every process has a client of its own
  const redlock::Lease lease = locks.lock("account/alice", {.ttl = std::chrono::seconds{1}});

  // The read shows the token as well. Else an earlier holder could still write between our read and our write.
  const bool guarded = guard == Guard::on;
  const int balance = guarded ? store.read(lease.fencing_token()) : store.read();
  std::cout << who.name << ": token " << lease.fencing_token() << ", reads " << balance << '\n';

  // The lock is ours, and asking it once more would help nobody: a pause fits between the answer and the write.
  if (who.is_paused) {
    std::cout << who.name << ": has " << lease.remaining() / std::chrono::milliseconds{1}
              << " ms left when it falls asleep\n"
              << std::flush;
    std::raise(SIGSTOP);
    std::cout << who.name << ": goes on where it was\n";
  }

  const int rest = balance - who.amount;
  guarded ? store.write(rest, lease.fencing_token()) : store.write(rest);
  std::cout << who.name << ": writes " << rest << '\n';
}

/// The same, with its end as an exit code.
template <class Open>
ExitCode run(const Withdrawal& who, const Nodes& nodes, Open open, Guard guard) try {
  withdraw(who, nodes, open(), guard);
  return withdrew;
} catch (const Refused& refusal) {
  std::cout << who.name << ": refused: " << refusal.what() << '\n';
  return was_refused;
} catch (const std::exception& error) {
  std::cerr << who.name << ": " << error.what() << '\n';
  return failed;
}

/// The balance in the end. `open()` makes a connection to the store, for each process its own.
template <class Open>
int play(const Nodes& nodes, Open open, Guard guard) {
  open().write(100);

  ChildProcess first{[&] { return run({"first", 30, true}, nodes, open, guard); }};
  if (!first.wait_until_stopped()) throw std::runtime_error{"the first holder did not come to its pause"};

  // It waits for the first one's lock to expire.
  ChildProcess second{[&] { return run({"second", 50}, nodes, open, guard); }};
  if (second.wait_for_end() != withdrew) throw std::runtime_error{"the second holder did not withdraw"};

  first.wake();
  if (first.wait_for_end() != (guard == Guard::on ? was_refused : withdrew))
    throw std::runtime_error{"the first holder did not end as it should have"};

  const int balance = open().read();
  std::cout << "100 less 50 is " << balance << "\n\n";
  return balance;
}

/// First without a guard and then with one. For main(): 0 when the damage was seen, and then prevented.
template <class Open>
int show(const Nodes& nodes, Open open) {
  std::cout << "Without a guard\n";
  const int damaged = play(nodes, open, Guard::off);
  std::cout << "With a guard\n";
  const int sound = play(nodes, open, Guard::on);

  if (damaged == 70 && sound == 50) return 0;
  std::cerr << "expected 70, where the second withdrawal is lost, and then 50\n";
  return 1;
}

}  // namespace paused_holder
