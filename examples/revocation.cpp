// A job of low priority that gives its lock up when somebody else asks for it, and a holder that hangs and loses its lock.
#include <chrono>
#include <iostream>
#include <redlock/redlock.hpp>
#include <stop_token>
#include <string_view>
#include <thread>

int main() {
  auto locks = redlock::Redlock::from_environment();
  std::stop_source enough;
  redlock::LockOptions patient;
  patient.on_revoke = [&enough](std::string_view why) {  // on a thread of the client
    std::cout << "asked to stop: " << why << std::endl;
    enough.request_stop();
  };
  redlock::Lease lease = locks.lock("printer", patient).value();
  const std::jthread clean_up{[&] {
    while (lease.valid() && !enough.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    std::cout << "the clean-up ends early\n";
    lease.release();
  }};

  // Somebody else, usually in another process, asks for the lock, and waits for it like everybody else.
  locks.revoke("printer", "an invoice is to be printed");
  const redlock::Lease urgent = locks.lock("printer").value();
  std::cout << "printing with token " << urgent.fencing_token() << '\n';

  // This one does not listen. Whoever breaks its lock gets a greater token, so the printer can refuse what the former holder sends.
  const redlock::LockResult denied = locks.try_lock("printer");
  if (const auto hanging = denied.holder()) locks.break_lock("printer", hanging->owner_value);
  const redlock::Lease next = locks.lock("printer").value();
  std::cout << "printing with token " << next.fencing_token() << ", for " << urgent.fencing_token()
            << " is over\n";
}
