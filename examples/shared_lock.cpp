// Reports are made beside each other, but not while the stock is counted.
#include <iostream>
#include <mutex>
#include <redlock/redlock.hpp>
#include <shared_mutex>

int main() {
  auto locks = redlock::Redlock::from_environment();
  const redlock::LockOptions reading{.shared = true};
  {
    const redlock::Lease sales = locks.lock("stock", reading).value();
    const redlock::Lease taxes = locks.lock("stock", reading).value();
    std::cout << "two reports, with the tokens " << sales.fencing_token() << " and " << taxes.fencing_token()
              << '\n';
    if (locks.try_lock("stock").is_held()) std::cout << "the count has to wait\n";
  }

  redlock::SharedMutex stock{locks, "stock"};
  std::unique_lock counting{stock};
  std::cout << "counting alone, with token " << stock.lease()->fencing_token() << '\n';

  counting.release()->unlock_and_lock_shared();  // nobody counts again before this thread has reported
  const std::shared_lock reporting{stock, std::adopt_lock};
  std::cout << "reporting what was counted, beside other reports\n";
  std::cout << "a count meanwhile: " << std::boolalpha << !locks.try_lock("stock").is_held() << '\n';
}
