// What handshakes need.
#pragma once

#include <openssl/ssl.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
  void operator()(BIO_METHOD* method) const noexcept { BIO_meth_free(method); }
};

/// How OpenSSL uses a socket.
using TlsSocketMethod = std::unique_ptr<BIO_METHOD, FreeTls>;

/// The last session with a server; null if there is none. The next handshake resumes it: without certificates, and in TLS
/// 1.2 with one round trip less.
using TlsSession = std::unique_ptr<SSL_SESSION, FreeTls>;

/// Certificates and keys as the files had them, and the sessions that were made with them.
struct TlsMaterial {
  TlsSocketMethod socket;
  std::unique_ptr<SSL_CTX, FreeTls> context;
  std::map<std::string, TlsSession> sessions{};  ///< By the server's address. Under the client's mutex.
};

/// Reads the files that the options name. Throws `Error` (invalid_argument) if one of them cannot be used.
[[nodiscard]] std::shared_ptr<TlsMaterial> read_material(const TlsOptions&);

/// Tells one version of a file from the next.
struct FileStamp {
  unsigned long long number = 0;  ///< Of the inode.
  long long size = 0;
  long long seconds = 0;  ///< When it was written.
  long long nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
using FileStamps = std::vector<FileStamp>;

/// Returns the stamps of the files that `read_material` reads, and of the folders that it searches.
[[nodiscard]] FileStamps stamps_of(const TlsOptions&);

}  // namespace redlock::inline v1::detail
