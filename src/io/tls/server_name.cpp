#include "io/tls/server_name.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "redlock/core/base/percent.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {

bool is_ip_address(const std::string& name) {
  if (name.find('\0') != name.npos) return false;
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, name.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored.data()) == 1;
}

std::string without_zone(const std::string& name) { return name.substr(0, name.find('%')); }

/// OpenSSL would take a name with a dot in front for all hosts of that domain.
void check_server_name(const std::string& name) {
  if (name.size() > longest_server_name)
    throw Error{Errc::invalid_argument, "server_name has " + std::to_string(name.size()) +
                                            " bytes; allowed: 1 to " + std::to_string(longest_server_name)};
  const auto fits = [](char c) { return core::is_unreserved(c) && c != '~'; };
  if (std::ranges::all_of(name, fits) && !name.starts_with('.')) return;
  if (is_ip_address(without_zone(name))) return;
  throw Error{Errc::invalid_argument,
              "server_name is " + core::printable(name) +
                  "; allowed: an IP address, or a host name of letters, digits, '-', '_' and '.' that does "
                  "not begin with '.'"};
}

}  // namespace redlock::inline v1::detail
