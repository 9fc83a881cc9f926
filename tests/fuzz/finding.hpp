// How a fuzzer reports a finding.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "redlock/core/base/printable.hpp"

namespace redlock::testing {

/// Checks a property that must hold for every input. Aborts the process if it does not, which libFuzzer and
/// ctest take for a finding.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "Finding: violated: %s\n", what);
  std::abort();
}

/// Returns true if the text is UTF-8 that controls no terminal.
inline bool is_printable(std::string_view text) { return core::printable(text, text.size()) == text; }

}  // namespace redlock::testing
