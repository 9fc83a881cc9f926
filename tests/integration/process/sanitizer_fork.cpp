// Lets threads fork while other threads allocate, under clang's address sanitizer.
//
// Its allocator has a lock for each size of object. Up to LLVM 16 it does not take them before fork(), as malloc does with
// its own. If another thread holds one at that moment, the child waits for it for ever, in the sanitizer:
//
//     operator new → __asan::Allocator::Allocate → SizeClassAllocator64::GetFromAllocator → Mutex::Lock
//
// A program that does nothing but allocate in four threads and fork hangs in this way after some forks. With these
// handlers it does not.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)

#include <pthread.h>

namespace __asan {          // NOLINT(bugprone-reserved-identifier): the sanitizer's own functions,
void asan_mz_force_lock();  // which it uses for the same purpose on macOS
void asan_mz_force_unlock();
}  // namespace __asan

namespace {

[[maybe_unused]] const int registered =
    ::pthread_atfork(__asan::asan_mz_force_lock, __asan::asan_mz_force_unlock, __asan::asan_mz_force_unlock);

}  // namespace

#endif
#endif
