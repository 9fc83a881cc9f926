// Several locks at once: all accounts of a transfer, or none.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

namespace {

void close_all(redlock::LockClient& locks, const std::vector<std::string>& accounts) {
  const std::vector<std::string_view> names{accounts.begin(), accounts.end()};
  const redlock::Leases all = locks.lock_all(names).value();
  std::cout << "closing " << all.size() << " accounts\n";
}

}  // namespace

int main() try {
  auto locks = redlock::Redlock::from_environment();

  if (const auto both = locks.try_lock_all_for({"account/alice", "account/bob"}, 5s)) {
    if (both->remaining() < 1s) return 1;  // the first deadline of all
    for (const redlock::Lease& lease : *both)
      std::cout << "writing " << lease.resource() << " with token " << lease.fencing_token() << '\n';
  } else {
    std::cout << both.message() << '\n';
  }
  close_all(locks, {"account/carol", "account/dave", "account/erin"});
} catch (const redlock::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
