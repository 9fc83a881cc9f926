// Blocks the signals of a thread for a while.
#pragma once

#include <csignal>

namespace redlock::inline v1::detail {

/// Blocks the signals of the calling thread until the destructor. Threads and processes that it starts meanwhile inherit
/// this, from their first moment on. The signals of a crash reach the program's handler on any thread, and those of a
/// profiler do no harm, so these are left as they are.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t most;
    sigfillset(&most);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
      sigdelset(&most, number);
    pthread_sigmask(SIG_BLOCK, &most, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace redlock::inline v1::detail
