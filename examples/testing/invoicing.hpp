// A service that uses redlock, as the code under test.
#pragma once

#include <chrono>
#include <functional>
#include <redlock/redlock.hpp>
#include <string>
#include <utility>

/// Pays invoices, each of them from one process at a time.
class Invoicing {
 public:
  Invoicing(redlock::Redlock& locks, std::function<void(int)> pay) : locks_{locks}, pay_{std::move(pay)} {}

  /// False: somebody else is at this invoice just now.
  bool settle(int number) {
    const auto lease =
        locks_.try_lock("invoice/" + std::to_string(number), {.ttl = std::chrono::seconds{10}});
    if (!lease) return false;
    pay_(number);
    return true;
  }

 private:
  redlock::Redlock& locks_;
  std::function<void(int)> pay_;
};
