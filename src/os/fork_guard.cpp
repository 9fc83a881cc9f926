#include "os/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

namespace redlock::inline v1::detail {
namespace {

std::atomic<unsigned> generation{0};

void count_fork() { generation.fetch_add(1, std::memory_order_relaxed); }

// Not a local variable, which the first caller initialises: if another thread is doing so at the moment of a fork(), the
// child waits for that thread for ever.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, count_fork);

}  // namespace

unsigned fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace redlock::inline v1::detail
