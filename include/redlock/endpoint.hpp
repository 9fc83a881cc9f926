// Where a node is, and how to log in there.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// The address of one Redis node. Made from text, implicitly, so that a list of strings is a list of endpoints:
///
/// | text                                              | means                                              |
/// |---------------------------------------------------|----------------------------------------------------|
/// | `redis://[[user]:password@]host[:port][/db]`      | TCP; the port is 6379 and the db 0 unless given     |
/// | `redis://:password@host`                           | TCP with a password for the default user            |
/// | `rediss://…`                                      | the same over TLS: refused by a client without TLS |
/// | `unix:///path[?db=n]`                              | unix socket; `unix://user:password@/path` logs in   |
/// | `host`, `host:port`, `[::1]`, `[::1]:6379`         | TCP                                                |
///
/// User, password, host and path are percent-decoded. Text that is none of these throws `Error` with
/// `Errc::misconfigured`, which says what is wrong and what is allowed and never repeats a password.
///
/// A plain value, without I/O: a name is looked up when a client connects, not here.
class REDLOCK_EXPORT Endpoint {
 public:
  enum class Transport : std::uint8_t { tcp, tls, unix_socket };

  Endpoint(std::string_view text);    // NOLINT(google-explicit-constructor)
  Endpoint(const char* text);         // NOLINT(google-explicit-constructor)
  Endpoint(const std::string& text);  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Transport transport() const noexcept { return transport_; }
  /// An IPv6 address without its brackets; empty for a unix socket.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }       ///< 0 for a unix socket.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< Empty unless a unix socket.
  [[nodiscard]] unsigned db() const noexcept { return db_; }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }  ///< Empty: the default user.
  [[nodiscard]] const std::string& password() const noexcept { return password_; }  ///< Not to be logged.

  /// The address in full form without user and password: `redis://[::1]:6379/2`. Safe to log.
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

/// Writes `to_string()`: no credentials.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const Endpoint&);

}  // namespace v1
}  // namespace redlock
