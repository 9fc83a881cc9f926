#include "unit/support/failing_memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int successes_left = -1;  // -1: no limit

}  // namespace

void* operator new(std::size_t size) {
  const bool fails = successes_left >= 0 && successes_left-- == 0;
  void* const memory = fails ? nullptr : std::malloc(size);
  if (!memory) throw std::bad_alloc{};
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace redlock::testing {

FailingMemory::FailingMemory(int successes) noexcept { successes_left = successes; }
FailingMemory::~FailingMemory() { successes_left = -1; }

}  // namespace redlock::testing
