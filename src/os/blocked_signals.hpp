// Blocks the signals of a thread for a while.
#pragma once

#include <csignal>

namespace redlock::inline v1::detail {

/// Blocks all signals of the calling thread until the destructor. Threads and processes that it starts meanwhile inherit
/// this, from their first moment on.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace redlock::inline v1::detail
