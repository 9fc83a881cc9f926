// One misuse of the interface at a time, chosen by MISUSE, each of which the compiler refuses or warns of.
#include <chrono>
#include <redlock/redlock.hpp>

#ifndef MISUSE
#define MISUSE NONE
#endif
#define NONE 0
#define IF_WITHOUT_A_NAME 1
#define NEGATED_WITHOUT_A_NAME 2
#define HAS_VALUE_WITHOUT_A_NAME 3
#define ARROW_WITHOUT_A_NAME 4
#define TRY_LOCK_UNUSED 5
#define LOCK_UNUSED 6
#define ADOPT_UNUSED 7
#define VALUE_UNUSED 8
#define EXTEND_UNUSED 9
#define RESULT_AS_LEASE 10
#define COPY_OF_A_LEASE 11
#define NODES_WITHOUT_A_NAME 12
#define TRY_LOCK_FOR_UNUSED 13
#define TRY_LOCK_UNTIL_UNUSED 14
#define ORPHAN_UNUSED 15

namespace {

bool use(redlock::LockClient& locks) {
#if MISUSE == NONE
  if (auto lease = locks.try_lock("x")) return lease->extend();
  const redlock::Lease lease = locks.lock("x").value();
  return lease.valid();
#elif MISUSE == IF_WITHOUT_A_NAME
  if (locks.try_lock("x")) return true;
#elif MISUSE == NEGATED_WITHOUT_A_NAME
  while (!locks.try_lock("x")) continue;
#elif MISUSE == HAS_VALUE_WITHOUT_A_NAME
  if (locks.try_lock("x").has_value()) return true;
#elif MISUSE == ARROW_WITHOUT_A_NAME
  if (locks.lock("x")->valid()) return true;
#elif MISUSE == TRY_LOCK_UNUSED
  locks.try_lock("x");
#elif MISUSE == LOCK_UNUSED
  locks.lock("x");
#elif MISUSE == ADOPT_UNUSED
  locks.adopt({"x", "an owner"});
#elif MISUSE == VALUE_UNUSED
  locks.lock("x").value();
#elif MISUSE == EXTEND_UNUSED
  redlock::Lease lease = locks.lock("x").value();
  lease.extend();
#elif MISUSE == RESULT_AS_LEASE
  const redlock::Lease lease = locks.lock("x");
#elif MISUSE == COPY_OF_A_LEASE
  const redlock::Lease lease = locks.lock("x").value();
  const redlock::Lease copy = lease;
#elif MISUSE == NODES_WITHOUT_A_NAME
  for (const redlock::NodeReport& report : locks.try_lock("x").nodes()) return report.owner.has_value();
#elif MISUSE == TRY_LOCK_FOR_UNUSED
  locks.try_lock_for("x", std::chrono::seconds{1});
#elif MISUSE == TRY_LOCK_UNTIL_UNUSED
  locks.try_lock_until("x", std::chrono::steady_clock::now());
#elif MISUSE == ORPHAN_UNUSED
  redlock::Lease lease = locks.lock("x").value();
  lease.orphan();
#endif
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  redlock::Redlock locks{{argv + 1, argv + argc}};
  return use(locks) ? 0 : 1;
}
