// How a fuzzer says that it has found something.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace redlock::testing {

/// What must hold of every input. Otherwise the process ends, which is what libFuzzer and ctest take for a
/// finding.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "Finding: not so that %s\n", what);
  std::abort();
}

/// Breaks no line and no terminal.
inline bool is_one_line(std::string_view text) {
  for (const char byte : text)
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) return false;
  return true;
}

}  // namespace redlock::testing
