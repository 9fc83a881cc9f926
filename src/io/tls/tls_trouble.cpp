#include "io/tls/tls_trouble.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <vector>

#include "os/system_error.hpp"

namespace redlock::inline v1::detail {
namespace {

std::string text_of(const ASN1_STRING* string) {
  const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(string));
  return {bytes, static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string moment_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a time that cannot be read";
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != sizeof(in6_addr)) return "an invalid address";
  ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

/// The host names and IP addresses that the certificate is for.
std::vector<std::string> names_in(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all{
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free};
  std::vector<std::string> names;
  for (int at = 0; all && at < sk_GENERAL_NAME_num(all.get()); ++at) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all.get(), at);
    if (name->type == GEN_DNS) names.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(address_of(name->d.iPAddress));
  }
  return names;
}

std::string shown(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 3;
  if (names.empty()) return "no host";
  std::string text;
  for (std::size_t at = 0; at < std::min(names.size(), most_shown); ++at)
    text += (at == 0 ? "" : ", ") + names[at];
  if (names.size() > most_shown) text += " and " + std::to_string(names.size() - most_shown) + " more";
  return text;
}

std::string text_of(const X509_NAME* name) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory{BIO_new(BIO_s_mem()), &BIO_free};
  if (!memory || X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253) < 0) return "an unknown name";
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string text_of_error(unsigned long error) {
  if (error == 0) return "unknown error";
  if (ERR_SYSTEM_ERROR(error)) return error_text(ERR_GET_REASON(error));
  const char* const reason = ERR_reason_error_string(error);
  return reason ? reason : "error " + std::to_string(error);
}

/// The newest error, and empties the queue. OpenSSL 3.2 and later may put another one on top of it, which says nothing.
unsigned long take_newest_error() {
  unsigned long newest = 0;
  while (const unsigned long error = ERR_get_error()) {
#ifdef SSL_R_RECORD_LAYER_FAILURE
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_RECORD_LAYER_FAILURE) continue;
#endif
    newest = error;
  }
  return newest;
}

/// What the server has against us, by its alert; null for another error.
const char* alert_text(int reason) noexcept {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate: set cert_file and key_file";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the server does not trust the CA of the client certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the server refuses the client certificate: it has expired, or is not valid yet";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
      return "the server refuses the client certificate";
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "the server refuses the handshake: there is no cipher that both sides allow, or it requires a "
             "client "
             "certificate";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "there is no version of TLS that both sides allow";
    case SSL_R_WRONG_VERSION_NUMBER:
      return "the server does not speak TLS at this port: use redis://, or the port of tls-port";
    default:
      return nullptr;
  }
}

}  // namespace

std::string refusal_of(X509_STORE_CTX* chain, const std::string& name) {
  X509* const certificate = X509_STORE_CTX_get_current_cert(chain);
  const int error = X509_STORE_CTX_get_error(chain);
  const bool is_of_server = X509_STORE_CTX_get_error_depth(chain) == 0;
  const std::string what = !certificate || is_of_server
                               ? "certificate"
                               : "certificate of the CA " + text_of(X509_get_subject_name(certificate));
  if (!certificate) return what + ": " + X509_verify_cert_error_string(error);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "certificate is for " + shown(names_in(certificate)) + ", not " + name;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return what + " expired on " + moment_of(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return what + " is not valid before " + moment_of(X509_get0_notBefore(certificate));
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "certificate is self-signed, and not trusted: if it is the right one, set ca_file to it";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "certificate is from a CA that is not trusted: " + text_of(X509_get_issuer_name(certificate));
    default:
      return what + ": " + X509_verify_cert_error_string(error);
  }
}

core::Trouble trouble_of_tls(const std::string& refusal, bool has_declined) {
  if (!refusal.empty()) {
    ERR_clear_error();
    return {NodeStatus::tls_failed, refusal};
  }
  const unsigned long error = take_newest_error();
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  if (has_declined && reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE)
    return {NodeStatus::tls_failed,
            "the server ended the connection because it may not renegotiate: switch renegotiation off there"};
  const char* const alert = alert_text(reason);
  return {NodeStatus::tls_failed, alert ? alert : "TLS: " + text_of_error(error)};
}

std::string last_error_text() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  return text_of_error(error);
}

}  // namespace redlock::inline v1::detail
