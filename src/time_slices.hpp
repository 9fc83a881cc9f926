// How soon a thread runs on a busy machine.
#pragma once

namespace redlock::inline v1::detail {

/// Asks for short time slices for this thread: when it has slept and is woken it runs at once, instead of when the slice of
/// a thread that computes is over, some milliseconds later. Its share of the processors stays the same. For a thread of the
/// ordinary kind, on Linux 6.12 and later; elsewhere, and where system calls are filtered, nothing changes.
void take_short_slices() noexcept;

}  // namespace redlock::inline v1::detail
