#include "locking_threads.hpp"

#include <atomic>
#include <barrier>
#include <thread>

#include "library_cycle.hpp"

namespace redlock::benchmark {

LockingThreads::LockingThreads(Locker& locks, unsigned callers, char contestant) : locks_{locks} {
  for (unsigned caller = 0; caller < callers; ++caller) resources_.emplace_back(contestant, caller);
}

void LockingThreads::run(std::size_t cycles, Samples& samples) {
  std::vector<Samples> measured(resources_.size());
  std::atomic<std::size_t> taken = 0;
  Stopwatch::time_point begun;
  std::barrier ready{static_cast<std::ptrdiff_t>(resources_.size()),
                     [&begun]() noexcept { begun = Stopwatch::now(); }};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < resources_.size(); ++i)
      threads.emplace_back([&, i] {
        ready.arrive_and_wait();
        while (taken.fetch_add(1, std::memory_order_relaxed) < cycles)
          measure_cycle(locks_, resources_[i], measured[i]);
      });
  }
  samples.add_elapsed(Stopwatch::now() - begun);
  for (const Samples& of_thread : measured) samples.merge(of_thread);
}

}  // namespace redlock::benchmark
