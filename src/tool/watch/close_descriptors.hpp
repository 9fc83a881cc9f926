// Closes what a child of fork() does not need.
#pragma once

namespace redlock::tool {

/// Closes all descriptors from this one on. Makes system calls only, so a child of fork() may call it.
void close_descriptors_from(int first) noexcept;

/// The same for systems that cannot close them all at once: Linux before 5.9, and containers that forbid it. Without /proc,
/// closes only those below 65536.
void close_each_descriptor_from(int first) noexcept;

}  // namespace redlock::tool
