// What the servers tell people about this process and its locks.
#pragma once

#include <string>
#include <string_view>

#include "redlock/core/lock/owner_values.hpp"

namespace redlock::inline v1::detail {

/// Returns `redlock:host:pid`, without the bytes that the server does not allow in the name of a connection.
[[nodiscard]] std::string connection_name();

/// Draws a client's name in lines: 16 hex digits, a dot and the label. Throws std::system_error.
[[nodiscard]] std::string draw_member(std::string_view label);

/// Draws the owner values of one call, with this label. Throws std::system_error.
[[nodiscard]] core::OwnerValues draw_owner_values(std::string_view label);

}  // namespace redlock::inline v1::detail
