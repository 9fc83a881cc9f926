// The version of the library.
#pragma once

#include <string_view>

#include "redlock/export.hpp"

/// The version of the headers that a program is compiled with (Semantic Versioning). Before 1.0, every minor
/// version may change the interface.
#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 2
#define REDLOCK_VERSION_PATCH 0

namespace redlock {
inline namespace v1 {

/// Returns the version of the library that a program is linked with, such as `"0.2.0"`. Thread safe, never
/// fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view version() noexcept;

}  // namespace v1
}  // namespace redlock
