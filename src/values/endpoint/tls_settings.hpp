// The TLS options by the names that text gives them: parameters of a node's URL, and variables of the environment.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

struct TlsSetting {
  std::string_view name;      ///< As a parameter of a URL: `"server-name"`.
  std::string_view variable;  ///< `"REDLOCK_TLS_SERVER_NAME"`.
  /// Sets the option. Returns what is allowed if the value is something else, otherwise nothing.
  std::string_view (*set)(TlsOptions&, const std::string& value);
};

[[nodiscard]] std::span<const TlsSetting> tls_settings() noexcept;

/// Takes the parameters of a node's URL, such as `"cacert=/etc/ca.crt&server-name=redis-1"`. Throws `Error` (invalid_argument)
/// that does not quote them.
[[nodiscard]] TlsParameters parse_tls_parameters(std::string_view query);

/// Returns the options with those replaced that the parameters name. A CA file and a CA folder replace both.
[[nodiscard]] TlsOptions with_parameters(TlsOptions, const TlsParameters&);

}  // namespace redlock::inline v1::detail
