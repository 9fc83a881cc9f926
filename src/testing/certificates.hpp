// Certificates for TLS servers of tests.
#pragma once

#include <ctime>
#include <string>
#include <vector>

namespace redlock::testing::detail {

struct Certificate {
  std::string cert_file;
  std::string key_file;
};

/// What a certificate says. The times are written as OpenSSL takes them: YYYYMMDDhhmmssZ.
struct CertificateContent {
  std::string names = "IP:127.0.0.1,DNS:localhost";
  std::string from = "20000101000000Z";
  std::string until = "20991231235959Z";
};

/// As `CertificateContent` has it.
[[nodiscard]] std::string certificate_time(std::time_t);

/// A certificate authority of its own, whose files are in one folder. Runs the program `openssl`. Throws
/// std::runtime_error if there is none, or if it fails.
class CertificateAuthority {
 public:
  /// Makes the authority in this folder, which must not exist yet.
  explicit CertificateAuthority(std::string folder);

  /// The authority's own certificate, which it signed itself.
  [[nodiscard]] Certificate own() const { return {folder_ + "/ca.crt", folder_ + "/ca.key"}; }
  /// Issues a certificate. `name`: of its files.
  [[nodiscard]] Certificate issue(const std::string& name, const CertificateContent& = {}) const;

 private:
  void run(std::vector<std::string> words) const;

  std::string folder_;
  std::string openssl_;
};

}  // namespace redlock::testing::detail
