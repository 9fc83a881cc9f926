// A library to be preloaded (LD_PRELOAD), which shifts the wall clock of a program by what a file says. The file may change
// while the program runs. Clocks that count the time since some event stay right.
//
// It asks the kernel by itself and looks up no symbol. A library that looks up the C library's function at the first call
// allocates memory there, while redis-server is still setting its allocator up: with such a one the server stops.
#include <sys/syscall.h>
#include <sys/time.h>

#include <cstdlib>
#include <ctime>

#include "chaos/clock/clock_file.hpp"

namespace {

constexpr long second_ns = 1'000'000'000;
const redlock::chaos::ClockError* error = nullptr;  // set once, before main

__attribute__((constructor)) void open_file() {
  if (const char* const path = std::getenv(redlock::chaos::clock_file_variable))
    error = redlock::chaos::map_clock_file(path, O_RDONLY);
}

bool is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long outcome = ::syscall(SYS_clock_gettime, clock, time);
  if (outcome != 0 || !error || !is_wall_clock(clock)) return static_cast<int>(outcome);
  const long shift = error->load(std::memory_order_relaxed);
  const long whole = time->tv_nsec + shift % second_ns;
  time->tv_sec += shift / second_ns;
  time->tv_nsec = whole;
  if (whole < 0) --time->tv_sec, time->tv_nsec += second_ns;
  if (whole >= second_ns) ++time->tv_sec, time->tv_nsec -= second_ns;
  return 0;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* __restrict time, void* __restrict) noexcept {
  timespec now{};
  if (const int outcome = clock_gettime(CLOCK_REALTIME, &now)) return outcome;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t* place) noexcept {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
}
