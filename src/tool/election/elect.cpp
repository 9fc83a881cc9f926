#include "tool/election/elect.hpp"

#include <signal.h>

#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "redlock/error.hpp"

namespace redlock::tool {
namespace {

/// Between two tries while too few nodes answer. Nothing runs then, so a signal ends this process.
constexpr std::chrono::seconds pause_without_nodes{1};

bool may_pass(const Error& error) {
  return error.code() != Errc::invalid_argument && error.code() != Errc::misconfigured;
}

/// Handles signals between two runs as when this process started, and so does the next command. `run` leaves them blocked.
class SignalMask {
 public:
  SignalMask() { ::pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  void restore() const {
    const auto handler = ::signal(SIGPIPE, SIG_IGN);  // discards the one from an ended watchdog's pipe
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    ::signal(SIGPIPE, handler);
  }

 private:
  sigset_t before_{};
};

}  // namespace

Ending elect(const RunArguments& arguments) {
  const SignalMask signals;
  bool has_led = false;
  bool has_complained = false;
  for (;;) {
    bool are_nodes_missing = false;
    try {
      const Ending ending = run(arguments);
      if (!ending.was_terminated) return ending;
      has_led = true;
      has_complained = false;
      std::cerr << "redlock: stands for election again\n";
    } catch (const Error& error) {
      if (!has_led || !may_pass(error)) throw;
      if (!std::exchange(has_complained, true)) std::cerr << "redlock: " << error.what() << '\n';
      are_nodes_missing = true;
    }
    signals.restore();
    if (are_nodes_missing) std::this_thread::sleep_for(pause_without_nodes);
  }
}

}  // namespace redlock::tool
