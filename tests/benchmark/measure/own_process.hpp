// What this process has used.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace redlock::benchmark {

/// CPU time of all threads, in the kernel too.
inline double seconds_of_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline double resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  double whole = 0;
  double resident = 0;
  file >> whole >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace redlock::benchmark
