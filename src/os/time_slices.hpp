// How soon a thread runs on a busy machine.
#pragma once

namespace redlock::inline v1::detail {

/// Asks for short time slices for this thread, not for those that it starts: when it has slept and is woken it runs as a
/// rule at once, instead of when the slice of a thread that computes is over, some milliseconds later. Its share of the
/// processors stays the same. On Linux 6.12 and later, for a thread of the ordinary kind; elsewhere, and where system calls
/// are filtered, as containers' often are, nothing changes.
void take_short_slices() noexcept;

}  // namespace redlock::inline v1::detail
