// The files with the CAs that are trusted.
#pragma once

#include <string>
#include <vector>

#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

/// Where the CAs are. OpenSSL would read a folder in the middle of handshakes, so its files are read before them.
struct TrustedFiles {
  bool is_system = false;                   ///< They are the system's choice: each of them may be missing.
  std::string file{};                       ///< Empty if there is none.
  std::vector<std::string> folders{};       ///< Later changes of one of them may add a file.
  std::vector<std::string> from_folders{};  ///< The files in the folders, in order.
};

/// Looks into the folders: only files count that are named as `openssl rehash` names them, such as 4f06f81d.0. Folders
/// that cannot be read have none. The system's are those that OpenSSL was built with, or that SSL_CERT_FILE and
/// SSL_CERT_DIR name. Reads no file. Any thread.
[[nodiscard]] TrustedFiles trusted_files(const TlsOptions&);

}  // namespace redlock::inline v1::detail
