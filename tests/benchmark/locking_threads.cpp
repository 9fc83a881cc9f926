#include "benchmark/locking_threads.hpp"

#include <utility>

#include "benchmark/library_cycle.hpp"

namespace redlock::benchmark {

LockingThreads::LockingThreads(LockClient& locks, const LockOptions& options, unsigned callers,
                               char contestant)
    : locks_{locks},
      options_{options},
      starting_{static_cast<std::ptrdiff_t>(callers) + 1},
      ending_{static_cast<std::ptrdiff_t>(callers) + 1} {
  for (unsigned caller = 0; caller < callers; ++caller)
    callers_.push_back({ResourceName{contestant, caller}});
  for (Caller& caller : callers_) threads_.emplace_back([this, &caller] { serve(caller); });
}

LockingThreads::~LockingThreads() {
  over_ = true;
  starting_.arrive_and_wait();
}

void LockingThreads::run(std::size_t cycles, Samples& samples) {
  untaken_ = static_cast<std::ptrdiff_t>(cycles);
  const auto begun = Stopwatch::now();
  starting_.arrive_and_wait();
  ending_.arrive_and_wait();
  samples.add_elapsed(Stopwatch::now() - begun);
  for (Caller& caller : callers_) samples.merge(std::exchange(caller.samples, {}));
}

void LockingThreads::serve(Caller& caller) {
  for (;;) {
    starting_.arrive_and_wait();
    if (over_) return;
    while (untaken_.fetch_sub(1, std::memory_order_relaxed) > 0)
      measure_cycle(locks_, options_, caller.resource, caller.samples);
    ending_.arrive_and_wait();
  }
}

}  // namespace redlock::benchmark
