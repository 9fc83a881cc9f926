#include "fuzz/client/work.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "fuzz/finding.hpp"

namespace {

using redlock::testing::Work;

// A thread of libFuzzer allocates now and then, which does not count.
thread_local Work done;

struct Count {
  const char* name;
  std::size_t Work::*number;
};
constexpr std::array counts{Count{"blocks of code", &Work::blocks},
                            Count{"allocations", &Work::allocations},
                            Count{"bytes allocated", &Work::allocated},
                            Count{"bytes sent", &Work::sent},
                            Count{"events", &Work::events},
                            Count{"timers", &Work::timers}};

// How near an input came to the limits. libFuzzer takes the section for more code that ran, so it keeps an input that does more
// than all before it, and goes on from there.
constexpr std::size_t levels = 32;
using Levels = std::array<unsigned char, levels + 1>;
[[gnu::section("__libfuzzer_extra_counters")]] std::array<std::array<Levels, counts.size()>, 2> reached;

}  // namespace

// What the linker calls instead of __sanitizer_cov_trace_pc, at the begin of every block: see CMakeLists.txt.
extern "C" void __wrap___sanitizer_cov_trace_pc() {  // NOLINT(bugprone-reserved-identifier)
  ++done.blocks;
}

namespace redlock::testing {

Work& Work::so_far() noexcept { return done; }

void Work::must_be_within(const Work& most, During span) const {
  bool is_within = true;
  for (std::size_t at = 0; at < counts.size(); ++at) {
    const std::size_t number = this->*counts[at].number;
    const std::size_t limit = most.*counts[at].number;
    is_within = is_within && number <= limit;
    reached[static_cast<std::size_t>(span)][at]
           [levels * std::min(number, limit) / std::max<std::size_t>(limit, 1)] = 1;
  }
  if (is_within) return;
  for (const Count& count : counts)
    std::fprintf(stderr, "%s: %zu of at most %zu\n", count.name, this->*count.number, most.*count.number);
  must(false, span == During::event ? "an event makes a client do little" : "a client does little");
}

UncountedWork::UncountedWork() noexcept : before_{done} {}
UncountedWork::~UncountedWork() { done = before_; }

}  // namespace redlock::testing
