// Marks the symbols that the shared library exports; all others have hidden visibility.
#pragma once

#if __cplusplus < 202002L
#error "redlock needs C++20: compile with -std=c++20 or newer"
#endif

#define REDLOCK_EXPORT [[gnu::visibility("default")]]
#define REDLOCK_INTERNAL [[gnu::visibility("hidden")]]  // what an exported class keeps to itself
