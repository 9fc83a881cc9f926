// The address of a node, with its credentials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// The address of one Redis node, with its credentials. Text converts implicitly, so a list of strings can be
/// used as a list of endpoints:
///
/// | text                                              | means                                              |
/// |---------------------------------------------------|----------------------------------------------------|
/// | `redis://[[user]:password@]host[:port][/db]`      | TCP; default port 6379, default db 0                |
/// | `redis://:password@host`                           | TCP with a password for the default user            |
/// | `rediss://…`                                      | the same over TLS; parsed, but refused by clients  |
/// | `unix:///path[?db=n]`                              | unix socket; `unix://user:password@/path` logs in   |
/// | `host`, `host:port`, `[::1]`, `[::1]:6379`         | TCP                                                |
///
/// User, password, host and path are percent-decoded. Any other text throws `Error` with
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
    std::string password = {};  ///< Any bytes; empty for none.
    unsigned db = 0;
    bool tls = false;
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
  [[nodiscard]] const std::string& password() const noexcept { return password_; }  ///< Do not log.

  /// Returns the full address without user and password, such as `redis://[::1]:6379/2`. Safe to log.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;

 private:
  Transport transport_ = Transport::tcp;
  std::uint16_t port_ = 6379;
  unsigned db_ = 0;
  std::string host_;
  std::string path_;
  std::string user_;
  std::string password_;
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
struct std::formatter<redlock::Endpoint::Transport>
    : redlock::detail::NameFormatter<redlock::Endpoint::Transport> {};
#endif
