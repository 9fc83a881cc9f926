#include "os/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

namespace redlock::inline v1::detail {
namespace {

std::atomic<unsigned> generation{0};

void count_fork() { generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

unsigned fork_generation() {
  static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace redlock::inline v1::detail
