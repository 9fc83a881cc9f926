#include "fuzz/client/live_memory.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fuzz/client/work.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDLOCK_COUNTS_MALLOC
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace {

// A thread of libFuzzer allocates now and then.
std::atomic<std::ptrdiff_t> live_bytes = 0;
std::atomic<std::ptrdiff_t> peak_bytes = 0;

void add(std::size_t bytes) noexcept {
  redlock::testing::Work& work = redlock::testing::Work::so_far();
  ++work.allocations;
  work.allocated += bytes;
  const std::ptrdiff_t now = live_bytes += static_cast<std::ptrdiff_t>(bytes);
  if (now > peak_bytes) peak_bytes = now;
}
void subtract(std::size_t bytes) noexcept { live_bytes -= static_cast<std::ptrdiff_t>(bytes); }

#ifdef REDLOCK_COUNTS_MALLOC

thread_local bool is_counted = true;

void begin_to_count() noexcept {
  [[maybe_unused]] static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t size) {
        if (is_counted) add(size);
      },
      [](const volatile void* memory) {
        if (memory && is_counted) subtract(__sanitizer_get_allocated_size(memory));
      });
}
class Pause {
 public:
  Pause() noexcept { is_counted = false; }
  ~Pause() { is_counted = true; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

#else

void begin_to_count() noexcept {}
struct Pause {
  Pause() noexcept {}
};

#endif

}  // namespace

#ifndef REDLOCK_COUNTS_MALLOC

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc{};
  add(::malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  subtract(::malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#endif

namespace redlock::testing {

LiveMemory::LiveMemory() noexcept : before_{(begin_to_count(), live_bytes.load())} { peak_bytes = before_; }

std::size_t LiveMemory::peak() const noexcept { return static_cast<std::size_t>(peak_bytes - before_); }

void* LiveMemory::allocate_uncounted(std::size_t size) {
  const Pause pause;
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc{};
  return memory;
}
void LiveMemory::free_uncounted(void* memory) noexcept {
  const Pause pause;
  std::free(memory);
}

}  // namespace redlock::testing
