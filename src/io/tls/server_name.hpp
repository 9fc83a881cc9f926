// The name of a server, for which its certificate must be.
#pragma once

#include <cstddef>
#include <string>

namespace redlock::inline v1::detail {

/// In bytes. OpenSSL tells servers no longer one.
inline constexpr std::size_t longest_server_name = 255;

[[nodiscard]] bool is_ip_address(const std::string& name);
/// Returns the name without the zone that an IPv6 address may have: certificates know none.
[[nodiscard]] std::string without_zone(const std::string& name);

/// Refuses a name that no certificate can have. An empty one is allowed: it means the host of the endpoint. Throws `Error`
/// (invalid_argument), which says what is allowed.
void check_server_name(const std::string& name);

}  // namespace redlock::inline v1::detail
