#include "values/endpoint/tls_settings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "values/endpoint/endpoint_text.hpp"

namespace redlock::inline v1::detail {
namespace {

template <std::string TlsOptions::*member>
std::string_view set_text(TlsOptions& options, const std::string& value) {
  options.*member = value;
  return {};
}

std::string_view set_version(TlsOptions& options, const std::string& value) {
  for (const TlsVersion version : {TlsVersion::tls_1_2, TlsVersion::tls_1_3})
    if (value == to_string(version)) return options.min_version = version, std::string_view{};
  return "1.2, 1.3";
}

std::string_view set_skip(TlsOptions& options, const std::string& value) {
  if (value != "1" && value != "0") return "1, 0";
  options.insecure_skip_verify = value == "1";
  return {};
}

constexpr std::array<TlsSetting, 9> settings{{
    {"cacert", "REDLOCK_TLS_CACERT", set_text<&TlsOptions::ca_file>},
    {"cacertdir", "REDLOCK_TLS_CACERTDIR", set_text<&TlsOptions::ca_path>},
    {"cert", "REDLOCK_TLS_CERT", set_text<&TlsOptions::cert_file>},
    {"key", "REDLOCK_TLS_KEY", set_text<&TlsOptions::key_file>},
    {"server-name", "REDLOCK_TLS_SERVER_NAME", set_text<&TlsOptions::server_name>},
    {"min-version", "REDLOCK_TLS_MIN_VERSION", set_version},
    {"ciphers", "REDLOCK_TLS_CIPHERS", set_text<&TlsOptions::ciphers>},
    {"ciphersuites", "REDLOCK_TLS_CIPHERSUITES", set_text<&TlsOptions::ciphersuites>},
    {"insecure-skip-verify", "REDLOCK_TLS_INSECURE_SKIP_VERIFY", set_skip},
}};

const TlsSetting& setting_named(std::string_view name) {
  const auto* const found = std::ranges::find(settings, name, &TlsSetting::name);
  if (found != settings.end()) return *found;
  std::string names;
  for (const TlsSetting& each : settings) names += (names.empty() ? "" : ", ") + std::string{each.name};
  refuse_endpoint("the parameters of rediss:// are " + names + "; write the db as rediss://host/db");
}

std::string value_of(const std::string& name, std::string_view text) {
  std::string value = decoded_part(text);
  if (value.empty()) refuse_endpoint(name + " has no value; write " + name + "=VALUE, or leave it out");
  if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    refuse_endpoint(name + " must not have control characters");
  return value;
}

}  // namespace

std::span<const TlsSetting> tls_settings() noexcept { return settings; }

TlsParameters parse_tls_parameters(std::string_view query) {
  TlsParameters parameters;
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::string_view parameter = query.substr(begin, query.find('&', begin) - begin);
    begin += parameter.size() + 1;
    const std::size_t sign = std::min(parameter.find('='), parameter.size());
    const TlsSetting& setting = setting_named(parameter.substr(0, sign));
    const std::string name{setting.name};
    std::string value = value_of(name, parameter.substr(std::min(sign + 1, parameter.size())));
    TlsOptions tried;
    if (const std::string_view allowed = setting.set(tried, value); !allowed.empty())
      refuse_endpoint(name + " has another value than those allowed: " + std::string{allowed});
    if (!parameters.emplace(name, std::move(value)).second) refuse_endpoint(name + " is there twice");
  }
  if (parameters.contains("cert") != parameters.contains("key"))
    refuse_endpoint("cert and key belong together; write both, or neither");
  return parameters;
}

TlsOptions with_parameters(TlsOptions options, const TlsParameters& parameters) {
  if (parameters.contains("cacert") || parameters.contains("cacertdir"))
    options.ca_file = options.ca_path = std::string{};
  for (const auto& [name, value] : parameters) setting_named(name).set(options, value);
  return options;
}

}  // namespace redlock::inline v1::detail
