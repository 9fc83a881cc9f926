// The program or shared library that the library is linked into.
#pragma once

namespace redlock::inline v1::detail {

/// From now on `dlclose` leaves this code in memory: threads that nobody joins may still run it.
void pin_module() noexcept;

}  // namespace redlock::inline v1::detail
