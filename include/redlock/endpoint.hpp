// The address of a node, with its credentials and how connections to it are secured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/login/credentials.hpp"
#include "redlock/login/secret.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// The oldest version of TLS that is accepted.
enum class TlsVersion : std::uint8_t { tls_1_2, tls_1_3 };

/// Returns the version as people write it: `"1.2"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(TlsVersion) noexcept;
/// Writes the same text.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, TlsVersion);

/// How connections to the nodes `rediss://…` are secured. Without effect for other nodes.
///
/// The certificate of a server must be valid, be from a CA that is trusted, and name the host or the IP address of the
/// endpoint among its subject alternative names. Files are in PEM format and are read when the client is made, which throws
/// `Error` (invalid_argument) if one of them cannot be used. Files that are replaced or overwritten later are taken by the
/// next connection that is made.
struct TlsOptions {
  /// The certificates of the CAs that are trusted, in one file. Default, if `ca_path` is empty too: the CAs that the
  /// system trusts.
  std::string ca_file = {};
  /// A folder with such certificates, as `openssl rehash` names their files: `4f06f81d.0`, 8 hex digits, a dot and a number.
  /// Files and links with other names are ignored; without any such file, the folder cannot be used.
  std::string ca_path = {};

  /// The client's certificate, with those between it and its CA behind it, for servers that ask for one
  /// (`tls-auth-clients`). Needs `key_file`.
  std::string cert_file = {};
  /// The private key of that certificate, without a passphrase.
  std::string key_file = {};

  /// The host name or IP address that the certificate must be for. The server is told a host name (SNI). At most 255 bytes:
  /// an IP address, or a name of letters, digits, '-', '_' and '.' that does not begin with '.'. Default: the host of the
  /// endpoint.
  std::string server_name = {};

  TlsVersion min_version = TlsVersion::tls_1_2;
  /// The ciphers that are allowed with TLS 1.2, as OpenSSL names them: `"ECDHE+AESGCM"`. Default: those of the system.
  std::string ciphers = {};
  /// The ciphers that are allowed with TLS 1.3: `"TLS_AES_256_GCM_SHA384"`. Default: those of the system.
  std::string ciphersuites = {};

  /// Accepts every certificate. Whoever is between the client and a node can then read and change everything, the
  /// password too. For trying things out; the client warns of it (`Options::on_warning`).
  bool insecure_skip_verify = false;

  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

namespace detail {
/// The TLS options that the URL of a node names, and their values.
using TlsParameters = std::map<std::string, std::string>;
}  // namespace detail

/// The address of one Redis node, with its credentials. Text converts implicitly, so a list of strings can be
/// used as a list of endpoints:
///
/// | text                                              | means                                              |
/// |---------------------------------------------------|----------------------------------------------------|
/// | `redis://[[user]:password@]host[:port][/db]`      | TCP; default port 6379, default db 0                |
/// | `redis://:password@host`                           | TCP with a password for the default user            |
/// | `rediss://…[?name=value[&name=value]…]`           | the same over TLS: see `TlsOptions`                |
/// | `unix:///path[?db=n]`                              | unix socket; `unix://user:password@/path` logs in   |
/// | `host`, `host:port`, `[::1]`, `[::1]:6379`         | TCP                                                |
///
/// The parameters of `rediss://` replace the client's TLS options for this node: `cacert`, `cacertdir` (one of these two
/// replaces both), `cert` and `key`, `server-name`, `min-version`, `ciphers`, `ciphersuites`, `insecure-skip-verify` (0 or 1).
///
/// User, password, host, path and values of parameters are percent-decoded. Any other text throws `Error` with
/// `Errc::invalid_argument`. Its message says what is wrong and what is allowed; it never contains the password.
///
/// A plain value that does no I/O: the host name is resolved when a client connects.
class REDLOCK_EXPORT Endpoint {
 public:
  enum class Transport : std::uint8_t { tcp, tls, unix_socket };

  /// An address in parts, which are taken as they are: nothing is percent-decoded.
  struct Fields {
    std::string host = {};      ///< A host name, or an IP address (IPv6 without brackets).
    std::uint16_t port = 6379;  ///< Without effect for a unix socket.
    std::string path = {};      ///< Of a unix socket: absolute; then `host` is empty.
    std::string user = {};      ///< Empty for the default user.
    Secret password = {};       ///< Any bytes; empty for none.
    unsigned db = 0;
    bool tls = false;
    std::optional<TlsOptions> tls_options = {};  ///< Instead of `Options::tls`, for this node.
  };

  Endpoint(std::string_view text);    // NOLINT(google-explicit-constructor)
  Endpoint(const char* text);         // NOLINT(google-explicit-constructor)
  Endpoint(const std::string& text);  // NOLINT(google-explicit-constructor)
  /// Throws as for text.
  explicit Endpoint(Fields fields);

  /// Returns the endpoints of a list such as `"10.0.0.1, 10.0.0.2"`. Commas and line ends separate the entries; blanks
  /// around an entry, empty entries, and lines that begin with `#` are ignored. A comma in a password is written as
  /// `%2C`. Throws as for a single text; the message says which entry it is.
  [[nodiscard]] static std::vector<Endpoint> list(std::string_view text);

  [[nodiscard]] Transport transport() const noexcept { return transport_; }
  /// A host name, or an IP address (IPv6 without brackets). Empty for a unix socket.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }  ///< 0 for a unix socket.
  /// Empty unless it is a unix socket.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] unsigned db() const noexcept { return db_; }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }  ///< Empty for the default user.
  /// Do not log. Valid as long as this object.
  [[nodiscard]] std::string_view password() const noexcept { return password_.text(); }
  /// All TLS options of this node, if it was given them by `Fields::tls_options` or `with`. None: those of the client
  /// (`Options::tls`), other than those that its text names.
  [[nodiscard]] const std::optional<TlsOptions>& tls_options() const noexcept { return tls_options_; }
  /// Returns the TLS options for connections to this node of a client with the options `of_client`.
  [[nodiscard]] TlsOptions tls_options(const TlsOptions& of_client) const;

  /// Returns the same address with TLS options of its own, instead of the client's and those of its text. They have no effect
  /// unless it is `rediss://…`.
  [[nodiscard]] Endpoint with(TlsOptions options) const;
  /// Returns the same address with this user and password.
  [[nodiscard]] Endpoint with(Credentials credentials) const;

  /// Returns the full address without user, password and parameters, such as `redis://[::1]:6379/2`. Safe to log.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;

 private:
  explicit Endpoint(std::pair<Fields, detail::TlsParameters> parsed);

  Transport transport_ = Transport::tcp;
  std::uint16_t port_ = 6379;
  unsigned db_ = 0;
  std::string host_;
  std::string path_;
  std::string user_;
  Secret password_;
  std::optional<TlsOptions> tls_options_;
  detail::TlsParameters tls_parameters_;
};

/// Returns the enumerator's name, such as `"unix_socket"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Endpoint::Transport) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Endpoint::Transport);

/// Writes `to_string()`, which has no credentials.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const Endpoint&);

namespace detail {

/// Throws the error of an entry of a list, with its number, which counts from 1.
[[noreturn]] inline void refuse_entry(std::size_t number, const Error& error) {
  throw Error{error.code(), "entry " + std::to_string(number) + " of the list: " + error.details()};
}

}  // namespace detail

}  // namespace v1
}  // namespace redlock

#ifdef __cpp_lib_format
template <>
struct std::formatter<redlock::TlsVersion> : redlock::detail::NameFormatter<redlock::TlsVersion> {};
template <>
struct std::formatter<redlock::Endpoint::Transport>
    : redlock::detail::NameFormatter<redlock::Endpoint::Transport> {};
#endif
