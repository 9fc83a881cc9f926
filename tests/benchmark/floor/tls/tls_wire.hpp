// TLS under a raw contestant, by OpenSSL alone.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <string_view>

struct ssl_st;  // of OpenSSL

namespace redlock::benchmark {

/// TLS over the blocking socket of a raw contestant: plain calls of OpenSSL, one system call for each. Throws
/// `std::runtime_error` if one fails, or in a build without OpenSSL.
class TlsWire {
 public:
  /// Shakes hands with a server of this machine over its connected socket, and verifies it. Blocks. `ca_file`: all that is
  /// trusted.
  TlsWire(int socket, const std::string& ca_file);

  void append(std::string_view command) { unsent_ += command; }
  /// As those of `NodeConnection`.
  void flush();
  void receive(redisReader& reader);

 private:
  struct Free {
    void operator()(ssl_st*) const noexcept;
  };
  std::unique_ptr<ssl_st, Free> ssl_;
  std::string unsent_;
};

}  // namespace redlock::benchmark
