// Pays invoices until all are paid. Start as many of these as you like, on as many machines; the environment names the
// nodes: REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3 invoice_worker DATABASE
#include <chrono>
#include <exception>
#include <iostream>
#include <random>
#include <redlock/redlock.hpp>
#include <string>
#include <thread>

#include "ledger.hpp"

using namespace std::chrono_literals;

namespace {

/// Pays the invoice unless another worker does.
void settle(int number, redlock::LockClient& locks, Ledger& ledger) {
  const auto lease = locks.try_lock("invoice/" + std::to_string(number), {.ttl = 2s});
  if (lease.is_held()) return;
  if (!lease) {
    std::cerr << lease.message() << '\n';
    std::this_thread::sleep_for(100ms);
    return;
  }
  if (!ledger.begin(number, lease->fencing_token())) return;  // another worker was faster
  std::this_thread::sleep_for(50ms);                          // the bank takes its time
  if (!ledger.pay(number, lease->fencing_token()))
    std::cerr << "invoice " << number << ": the lock was lost\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument{"usage: invoice_worker DATABASE"};
  auto locks = redlock::Redlock::from_environment();
  Ledger ledger{argv[1]};
  std::mt19937 random{std::random_device{}()};
  for (auto unpaid = ledger.unpaid(); !unpaid.empty(); unpaid = ledger.unpaid())
    settle(unpaid[random() % unpaid.size()], locks, ledger);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
