// How much memory a fuzzed client uses.
#pragma once

#include <cstddef>

namespace redlock::testing {

/// The memory that is allocated and not freed, from the beginning of this object on. With the address sanitizer that is all
/// memory from malloc; in other builds it is what operator new returned, so what hiredis allocates is missing. There is one
/// object at a time.
class LiveMemory {
 public:
  LiveMemory() noexcept;
  LiveMemory(const LiveMemory&) = delete;
  LiveMemory& operator=(const LiveMemory&) = delete;

  /// The greatest number of bytes at any moment so far.
  [[nodiscard]] std::size_t peak() const noexcept;

  /// Memory that does not count. Throws std::bad_alloc.
  [[nodiscard]] static void* allocate_uncounted(std::size_t size);
  static void free_uncounted(void*) noexcept;

 private:
  const std::ptrdiff_t before_;
};

/// An allocator for what belongs to the fuzzer, and not to the client.
template <class T>
struct Uncounted {
  using value_type = T;
  Uncounted() = default;
  template <class Other>
  Uncounted(const Uncounted<Other>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(LiveMemory::allocate_uncounted(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { LiveMemory::free_uncounted(memory); }
  friend bool operator==(Uncounted, Uncounted) noexcept { return true; }
};

}  // namespace redlock::testing
