// What the servers tell people about this process and its locks.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace redlock::inline v1::detail {

/// Returns `redlock:host:pid`, without the bytes that the server does not allow in the name of a connection.
[[nodiscard]] std::string connection_name();

/// Returns a new owner value: 40 random hex digits, the label, and since when: see `Holder`. Throws std::system_error.
[[nodiscard]] std::string new_owner_value(std::string_view label, std::chrono::microseconds since);

}  // namespace redlock::inline v1::detail
