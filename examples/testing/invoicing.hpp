// The code under test: a service that uses redlock.
#pragma once

#include <chrono>
#include <functional>
#include <redlock/redlock.hpp>
#include <string>
#include <utility>

/// Pays invoices. Only one process at a time works on an invoice.
class Invoicing {
 public:
  /// `locks`: a `redlock::Redlock`, or in unit tests a `redlock::testing::FakeLocks`.
  Invoicing(redlock::LockClient& locks, std::function<void(int)> pay) : locks_{locks}, pay_{std::move(pay)} {}

  /// Returns false if another process is working on this invoice. Throws `redlock::Error` if too few servers vote.
  bool settle(int number) {
    auto attempt = locks_.try_lock("invoice/" + std::to_string(number), {.ttl = std::chrono::seconds{10}});
    if (attempt.code() == redlock::Errc::held) return false;
    const redlock::Lease lease = std::move(attempt).value();
    pay_(number);
    return true;
  }

 private:
  redlock::LockClient& locks_;
  std::function<void(int)> pay_;
};
