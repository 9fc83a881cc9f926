// Shorter time slices for a thread that must run punctually on a busy machine.
#pragma once

namespace redlock::inline v1::detail {

/// Requests short time slices for the calling thread, not for threads that it starts. When it is woken it then usually
/// runs at once, instead of some milliseconds later, when the time slice of a computing thread ends. Its share of the
/// processor time stays the same. Works on Linux 6.12 and later, for threads of the ordinary scheduling class. Does
/// nothing elsewhere, or if system calls are filtered, as they often are in containers.
void take_short_slices() noexcept;

}  // namespace redlock::inline v1::detail
