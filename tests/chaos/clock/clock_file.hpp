// A file with the error of a wall clock. Programs under the clock library read it at each look at the time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

namespace redlock::chaos {

/// What the file contains: the nanoseconds that are added to the wall clock.
using ClockError = std::atomic<std::int64_t>;
static_assert(ClockError::is_always_lock_free, "processes share it");

/// The environment variable with the path of the file.
inline constexpr const char* clock_file_variable = "REDLOCK_CHAOS_CLOCK";

/// Maps the file. Returns null, with the reason in errno, if that fails. The mapping stays until the process ends.
inline ClockError* map_clock_file(const char* path, int flags) noexcept {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  const bool is_writer = (flags & O_CREAT) != 0;
  if (!is_writer || ::ftruncate(file, sizeof(ClockError)) == 0)
    mapped = ::mmap(nullptr, sizeof(ClockError), is_writer ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<ClockError*>(mapped);
}

/// Sets the wall clock of all processes that run with this file, also while they run. Unmaps nothing: a program has few.
class ClockFile {
 public:
  /// Makes a file that says that the clock is right. Throws std::system_error.
  explicit ClockFile(const std::string& path) : error_{map_clock_file(path.c_str(), O_RDWR | O_CREAT)} {
    if (!error_) throw std::system_error{errno, std::generic_category(), path};
  }
  void set(std::chrono::nanoseconds error) noexcept { error_->store(error.count()); }

 private:
  ClockError* error_;
};

}  // namespace redlock::chaos
