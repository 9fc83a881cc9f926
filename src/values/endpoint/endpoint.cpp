#include "redlock/endpoint.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>

#include "redlock/core/base/percent.hpp"
#include "values/endpoint/endpoint_text.hpp"
#include "values/endpoint/tls_settings.hpp"

namespace redlock {
inline namespace v1 {
namespace {

constexpr std::uint32_t largest_port = 65535;
constexpr std::uint32_t largest_db = std::numeric_limits<std::int32_t>::max();  // SELECT takes an int
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

using detail::decoded_part;
using detail::refuse_endpoint;

bool is_space_or_control(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::optional<std::uint32_t> number(std::string_view digits) {
  std::uint32_t value = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

using Fields = Endpoint::Fields;

struct Address {
  std::string host{};
  std::uint16_t port = 6379;
};

// ── what an endpoint may consist of ─────────────────────────────────────────────────────────────────────────

void check_db(std::uint32_t db) {
  if (db > largest_db) refuse_endpoint("the db must be a number from 0 to " + std::to_string(largest_db));
}

void check_port(std::uint32_t port) {
  if (port == 0 || port > largest_port) refuse_endpoint("the port must be a number from 1 to 65535");
}

void check_name(const std::string& name) {
  if (name.empty()) refuse_endpoint("the host is missing");
  const auto fits = [](char c) {
    return (core::is_unreserved(c) && c != '~') || static_cast<unsigned char>(c) >= 0x80;
  };
  if (!std::all_of(name.begin(), name.end(), fits)) {
    refuse_endpoint(
        "a host must consist of letters, digits, '-', '.' and '_', or be an IPv6 address in brackets");
  }
}

// Link-local addresses may have a zone, as in fe80::1%eth0.
bool is_ipv6(const std::string& host) {
  const auto percent = host.find('%');
  const auto zone =
      percent == host.npos ? std::string_view{"none"} : std::string_view{host}.substr(percent + 1);
  in6_addr ignored{};
  return !zone.empty() && std::none_of(host.begin(), host.end(), is_space_or_control) &&
         ::inet_pton(AF_INET6, host.substr(0, percent).c_str(), &ignored) == 1;
}

void check_path(const std::string& path) {
  if (path.size() < 2) refuse_endpoint("the path of the unix socket is empty; write unix:///path");
  if (path.front() != '/')
    refuse_endpoint("the path of a unix socket must be absolute: write unix:///path, with three slashes");
  if (path.size() > longest_path) {
    refuse_endpoint("the path of the unix socket has " + std::to_string(path.size()) + " bytes; at most " +
                    std::to_string(longest_path) + " are allowed");
  }
  if (path.find('\0') != path.npos) refuse_endpoint("the path of the unix socket contains a zero byte");
}

void check(const Fields& fields) {
  check_db(fields.db);
  if (!fields.path.empty()) {
    if (!fields.host.empty() || fields.tls)
      refuse_endpoint("a unix socket has a path and neither a host nor TLS; leave out one or the other");
    return check_path(fields.path);
  }
  check_port(fields.port);
  if (contains(fields.host, ":") && !is_ipv6(fields.host))
    refuse_endpoint("a host with a ':' must be an IPv6 address without brackets; give the port separately");
  if (contains(fields.host, ":")) return;
  check_name(fields.host);
}

// ── the text of an endpoint ─────────────────────────────────────────────────────────────────────────────────

Credentials parse_credentials(std::string_view text) {
  if (text.find_first_of("/?") != text.npos) {
    refuse_endpoint("write '/' and '?' before the '@' as %2F and %3F, and an '@' in a parameter as %40");
  }
  const auto colon = text.find(':');
  if (colon == text.npos) {
    refuse_endpoint(
        "write user:password or :password before the '@', or user: for a user without a password");
  }
  if (text == ":") refuse_endpoint("user and password are both empty; omit the ':' and the '@'");
  return {.user = decoded_part(text.substr(0, colon)), .password = decoded_part(text.substr(colon + 1))};
}

unsigned parse_db(std::string_view text) {
  const std::uint32_t db = number(text).value_or(largest_db + 1);
  check_db(db);
  return db;
}

std::uint16_t parse_port(std::string_view text) {
  const std::uint32_t port = number(text).value_or(0);
  check_port(port);
  return static_cast<std::uint16_t>(port);
}

std::string parse_name(std::string_view text) {
  auto name = decoded_part(text);
  check_name(name);
  return name;
}

std::string parse_ipv6(std::string_view text) {
  auto host = decoded_part(text);
  if (!is_ipv6(host))
    refuse_endpoint("the text in brackets must be an IPv6 address, such as [::1] or [fe80::1%25eth0]");
  return host;
}

Address parse_address(std::string_view text) {
  if (text.empty()) refuse_endpoint("the host is missing");
  if (text.front() == '[') {
    const auto close = text.find(']');
    if (close == text.npos) refuse_endpoint("the ']' of an IPv6 address is missing");
    Address address{.host = parse_ipv6(text.substr(1, close - 1))};
    const auto behind = text.substr(close + 1);
    if (behind.empty()) return address;
    if (behind.front() != ':') refuse_endpoint("only ':' and the port may follow the ']' of an IPv6 address");
    address.port = parse_port(behind.substr(1));
    return address;
  }
  const auto colon = text.find(':');
  if (colon == text.npos) return {.host = parse_name(text)};
  if (contains(text.substr(colon + 1), ":"))
    refuse_endpoint("put an IPv6 address in brackets, as in [::1]:6379");
  return {.host = parse_name(text.substr(0, colon)), .port = parse_port(text.substr(colon + 1))};
}

Fields fields_of(Address address, Credentials credentials) {
  return {.host = std::move(address.host),
          .port = address.port,
          .user = std::move(credentials.user),
          .password = std::move(credentials.password)};
}

// The last '@' ends the password, so the password may contain others.
Fields parse_tcp(std::string_view text) {
  Credentials credentials;
  if (const auto at = text.rfind('@'); at != text.npos) {
    credentials = parse_credentials(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  if (contains(text, "?"))
    refuse_endpoint("redis:// takes no parameters, only rediss:// does; write the db as redis://host/db");
  const auto slash = text.find('/');
  Fields fields = fields_of(parse_address(text.substr(0, slash)), std::move(credentials));
  if (slash != text.npos) fields.db = parse_db(text.substr(slash + 1));
  return fields;
}

/// Cuts the parameters off, with the '?' before them. The last '@' ends the password, which has no '?'.
std::string_view take_query(std::string_view& text) {
  const std::size_t at = text.rfind('@');
  const std::size_t question = text.find('?', at == text.npos ? 0 : at);
  const std::string_view query = text.substr(std::min(question, text.size()));
  text.remove_suffix(query.size());
  return query;
}

// An '@' after the first '/' belongs to the path.
Fields parse_unix(std::string_view text) {
  Fields fields;
  const auto slash = std::min(text.find('/'), text.size());
  if (auto login = text.substr(0, slash); !login.empty()) {
    if (login.back() != '@')
      refuse_endpoint("the path of a unix socket must be absolute: write unix:///path, with three slashes");
    login.remove_suffix(1);
    fields = fields_of({}, parse_credentials(login));
  }
  const auto question = std::min(text.find('?', slash), text.size());
  fields.path = decoded_part(text.substr(slash, question - slash));
  check_path(fields.path);
  if (question == text.size()) return fields;

  constexpr std::string_view parameter = "?db=";
  const auto query = text.substr(question);
  if (!query.starts_with(parameter) || contains(query, "&"))
    refuse_endpoint("the only parameter of unix:// is ?db=n");
  fields.db = parse_db(query.substr(parameter.size()));
  return fields;
}

Fields parse_bare(std::string_view text) {
  if (contains(text, "://")) refuse_endpoint("the scheme must be redis://, rediss:// or unix://");
  if (contains(text, "@"))
    refuse_endpoint("a user or a password needs the full form redis://user:password@host");
  if (text.starts_with('/')) refuse_endpoint("write a unix socket as unix:///path");
  if (text.find_first_of("/?") != text.npos) refuse_endpoint("a db needs the full form redis://host/db");
  return fields_of(parse_address(text), {});
}

using Parsed = std::pair<Fields, detail::TlsParameters>;

Parsed parse_tls(std::string_view text) {
  const std::string_view query = take_query(text);
  Fields fields = parse_tcp(text);
  fields.tls = true;
  if (query.empty()) return Parsed{std::move(fields), detail::TlsParameters{}};
  if (query.size() == 1)
    refuse_endpoint("there must be parameters behind the '?', as in rediss://host?cacert=/etc/ca.crt");
  return Parsed{std::move(fields), detail::parse_tls_parameters(query.substr(1))};
}

Parsed parse(std::string_view text) {
  constexpr std::string_view tcp = "redis://";
  constexpr std::string_view tls = "rediss://";
  constexpr std::string_view unix_socket = "unix://";
  if (text.empty())
    refuse_endpoint("the text is empty; write host, host:port, redis://host:port/db or unix:///path");
  if (contains(text, "#") || std::any_of(text.begin(), text.end(), is_space_or_control)) {
    refuse_endpoint("'#', white space and control characters must be percent-encoded, as in %23 and %20");
  }
  if (text.starts_with(tcp)) return {parse_tcp(text.substr(tcp.size())), {}};
  if (text.starts_with(unix_socket)) return {parse_unix(text.substr(unix_socket.size())), {}};
  if (text.starts_with(tls)) return parse_tls(text.substr(tls.size()));
  return {parse_bare(text), {}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

// Takes the text before the separator, without blanks around it.
std::string_view take(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto taken = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::string_view not_null(const char* text) {
  if (text == nullptr) refuse_endpoint("the text is a null pointer");
  return text;
}

}  // namespace

Endpoint::Endpoint(Fields fields) {
  check(fields);
  transport_ = !fields.path.empty() ? Transport::unix_socket : fields.tls ? Transport::tls : Transport::tcp;
  port_ = fields.path.empty() ? fields.port : std::uint16_t{0};
  db_ = fields.db;
  host_ = std::move(fields.host);
  path_ = std::move(fields.path);
  user_ = std::move(fields.user);
  password_ = std::move(fields.password);
  tls_options_ = std::move(fields.tls_options);
}

Endpoint::Endpoint(std::pair<Fields, detail::TlsParameters> parsed) : Endpoint{std::move(parsed.first)} {
  tls_parameters_ = std::move(parsed.second);
}

Endpoint::Endpoint(std::string_view text) : Endpoint{parse(text)} {}

Endpoint::Endpoint(const char* text) : Endpoint{not_null(text)} {}

Endpoint::Endpoint(const std::string& text) : Endpoint{std::string_view{text}} {}

std::vector<Endpoint> Endpoint::list(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (line.starts_with('#')) continue;
    while (!line.empty()) {
      const std::string_view entry = take(line, ',');
      if (!entry.empty()) try {
          endpoints.emplace_back(entry);
        } catch (const Error& error) {
          detail::refuse_entry(endpoints.size() + 1, error);
        }
    }
  }
  return endpoints;
}

TlsOptions Endpoint::tls_options(const TlsOptions& of_client) const {
  return detail::with_parameters(tls_options_.value_or(of_client), tls_parameters_);
}

Endpoint Endpoint::with(TlsOptions options) const {
  Endpoint endpoint = *this;
  endpoint.tls_options_ = std::move(options);
  endpoint.tls_parameters_.clear();
  return endpoint;
}

Endpoint Endpoint::with(Credentials credentials) const {
  Endpoint endpoint = *this;
  endpoint.user_ = std::move(credentials.user);
  endpoint.password_ = std::move(credentials.password);
  return endpoint;
}

std::string Endpoint::to_string() const {
  if (transport_ == Transport::unix_socket) {
    return "unix://" + core::percent_encoded(path_, "/") + (db_ == 0 ? "" : "?db=" + std::to_string(db_));
  }
  const bool is_ipv6 = contains(host_, ":");
  const auto host = is_ipv6 ? "[" + core::percent_encoded(host_, ":") + "]" : core::percent_encoded(host_);
  return (transport_ == Transport::tls ? "rediss://" : "redis://") + host + ":" + std::to_string(port_) +
         (db_ == 0 ? "" : "/" + std::to_string(db_));
}

std::string_view to_string(Endpoint::Transport transport) noexcept {
  switch (transport) {
    case Endpoint::Transport::tcp:
      return "tcp";
    case Endpoint::Transport::tls:
      return "tls";
    case Endpoint::Transport::unix_socket:
      return "unix_socket";
  }
  return "unknown";
}

std::string_view to_string(TlsVersion version) noexcept {
  switch (version) {
    case TlsVersion::tls_1_2:
      return "1.2";
    case TlsVersion::tls_1_3:
      return "1.3";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, TlsVersion value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, Endpoint::Transport value) { return out << to_string(value); }
std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint) { return out << endpoint.to_string(); }

}  // namespace v1
}  // namespace redlock
