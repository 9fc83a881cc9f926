// Lets threads fork while others allocate, under g++'s address sanitizer.
//
// The sanitizer's allocator has locks (one per size class, for one) that it does not take before fork(), as plain malloc does
// with its own. If another thread holds one at that moment, the child waits for it forever. So all allocations of this
// program pass a gate here. fork() shuts the gate and waits until no other thread is in the allocator. Only the threads that
// allocate are held up: at the moment of the fork they may be anywhere else, as in other builds.
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <new>

// Some of this runs before the sanitizer is initialised.
#define NOT_SANITIZED __attribute__((no_sanitize("address", "undefined")))

// The sanitizer's own functions, under the names that it keeps for those who replace the usual ones.
extern "C" {  // NOLINTBEGIN(bugprone-reserved-identifier)
void* __interceptor_malloc(std::size_t size);
void* __interceptor_calloc(std::size_t count, std::size_t size);
void* __interceptor_realloc(void* memory, std::size_t size);
void* __interceptor_aligned_alloc(std::size_t alignment, std::size_t size);
int __interceptor_posix_memalign(void** memory, std::size_t alignment, std::size_t size);
void __interceptor_free(void* memory);
}

namespace {

// Plain variables and the compiler's atomic operations: std::atomic's members would be instrumented.
int inside = 0;          // threads in the allocator
bool is_shut = false;    // by a thread that forks
thread_local int depth;  // of this thread's calls; if there is one, the thread has passed the gate already

NOT_SANITIZED void wait_until_open() noexcept {
  while (__atomic_load_n(&is_shut, __ATOMIC_SEQ_CST)) ::usleep(100);
}

/// A call into the allocator.
class Passage {
 public:
  NOT_SANITIZED Passage() noexcept {
    if (depth++ > 0) return;
    for (;;) {
      __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
      if (!__atomic_load_n(&is_shut, __ATOMIC_SEQ_CST)) return;
      __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
      wait_until_open();
    }
  }
  NOT_SANITIZED ~Passage() {
    if (--depth == 0) __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
};

/// The thread that forks may allocate meanwhile: other handlers may have to.
NOT_SANITIZED void shut() noexcept {
  while (__atomic_exchange_n(&is_shut, true, __ATOMIC_SEQ_CST)) ::usleep(100);
  while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0) ::usleep(100);
  ++depth;
}
NOT_SANITIZED void open() noexcept {
  --depth;
  __atomic_store_n(&is_shut, false, __ATOMIC_SEQ_CST);
}
/// A thread that was about to pass has counted itself, and is not in the child.
NOT_SANITIZED void open_in_child() noexcept {
  __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
  open();
}

[[maybe_unused]] const int registered = ::pthread_atfork(shut, open, open_in_child);

/// The sanitizer's function of this name.
template <class Function>
NOT_SANITIZED Function* next_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
NOT_SANITIZED void* malloc(std::size_t size) noexcept {
  const Passage passage;
  return __interceptor_malloc(size);
}
NOT_SANITIZED void* calloc(std::size_t count, std::size_t size) noexcept {
  const Passage passage;
  return __interceptor_calloc(count, size);
}
NOT_SANITIZED void* realloc(void* memory, std::size_t size) noexcept {
  const Passage passage;
  return __interceptor_realloc(memory, size);
}
NOT_SANITIZED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  const Passage passage;
  return __interceptor_aligned_alloc(alignment, size);
}
NOT_SANITIZED int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  const Passage passage;
  return __interceptor_posix_memalign(memory, alignment, size);
}
NOT_SANITIZED void free(void* memory) noexcept {
  const Passage passage;
  __interceptor_free(memory);
}
}

NOT_SANITIZED void* operator new(std::size_t size) {
  static auto* const next = next_function<void*(std::size_t)>("_Znwm");
  const Passage passage;
  return next(size);
}
NOT_SANITIZED void* operator new[](std::size_t size) {
  static auto* const next = next_function<void*(std::size_t)>("_Znam");
  const Passage passage;
  return next(size);
}
NOT_SANITIZED void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
  static auto* const next = next_function<void*(std::size_t, const std::nothrow_t&)>("_ZnwmRKSt9nothrow_t");
  const Passage passage;
  return next(size, tag);
}
NOT_SANITIZED void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  static auto* const next = next_function<void*(std::size_t, const std::nothrow_t&)>("_ZnamRKSt9nothrow_t");
  const Passage passage;
  return next(size, tag);
}
NOT_SANITIZED void* operator new(std::size_t size, std::align_val_t alignment) {
  static auto* const next = next_function<void*(std::size_t, std::align_val_t)>("_ZnwmSt11align_val_t");
  const Passage passage;
  return next(size, alignment);
}
NOT_SANITIZED void* operator new[](std::size_t size, std::align_val_t alignment) {
  static auto* const next = next_function<void*(std::size_t, std::align_val_t)>("_ZnamSt11align_val_t");
  const Passage passage;
  return next(size, alignment);
}
NOT_SANITIZED void operator delete(void* memory) noexcept {
  static auto* const next = next_function<void(void*)>("_ZdlPv");
  const Passage passage;
  return next(memory);
}
NOT_SANITIZED void operator delete[](void* memory) noexcept {
  static auto* const next = next_function<void(void*)>("_ZdaPv");
  const Passage passage;
  return next(memory);
}
NOT_SANITIZED void operator delete(void* memory, std::size_t size) noexcept {
  static auto* const next = next_function<void(void*, std::size_t)>("_ZdlPvm");
  const Passage passage;
  return next(memory, size);
}
NOT_SANITIZED void operator delete[](void* memory, std::size_t size) noexcept {
  static auto* const next = next_function<void(void*, std::size_t)>("_ZdaPvm");
  const Passage passage;
  return next(memory, size);
}
NOT_SANITIZED void operator delete(void* memory, const std::nothrow_t& tag) noexcept {
  static auto* const next = next_function<void(void*, const std::nothrow_t&)>("_ZdlPvRKSt9nothrow_t");
  const Passage passage;
  return next(memory, tag);
}
NOT_SANITIZED void operator delete[](void* memory, const std::nothrow_t& tag) noexcept {
  static auto* const next = next_function<void(void*, const std::nothrow_t&)>("_ZdaPvRKSt9nothrow_t");
  const Passage passage;
  return next(memory, tag);
}
NOT_SANITIZED void operator delete(void* memory, std::align_val_t alignment) noexcept {
  static auto* const next = next_function<void(void*, std::align_val_t)>("_ZdlPvSt11align_val_t");
  const Passage passage;
  return next(memory, alignment);
}
NOT_SANITIZED void operator delete[](void* memory, std::align_val_t alignment) noexcept {
  static auto* const next = next_function<void(void*, std::align_val_t)>("_ZdaPvSt11align_val_t");
  const Passage passage;
  return next(memory, alignment);
}
NOT_SANITIZED void operator delete(void* memory, std::size_t size, std::align_val_t alignment) noexcept {
  static auto* const next =
      next_function<void(void*, std::size_t, std::align_val_t)>("_ZdlPvmSt11align_val_t");
  const Passage passage;
  return next(memory, size, alignment);
}
NOT_SANITIZED void operator delete[](void* memory, std::size_t size, std::align_val_t alignment) noexcept {
  static auto* const next =
      next_function<void(void*, std::size_t, std::align_val_t)>("_ZdaPvmSt11align_val_t");
  const Passage passage;
  return next(memory, size, alignment);
}
#endif
