// Marks the symbols that the shared library exports; all others have hidden visibility.
#pragma once

#define REDLOCK_EXPORT [[gnu::visibility("default")]]
#define REDLOCK_INTERNAL [[gnu::visibility("hidden")]]  // what an exported class keeps to itself
