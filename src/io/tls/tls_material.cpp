#include "io/tls/tls_material.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <new>

#include "io/tls/tls_transport.hpp"
#include "io/tls/tls_trouble.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

[[noreturn]] void unusable(const std::string& what, const std::string& value) {
  throw Error{Errc::invalid_argument, what + ' ' + value + ": " + last_error_text()};
}

using Context = std::unique_ptr<SSL_CTX, FreeTls>;

bool trusts_system(const TlsOptions& options) { return options.ca_file.empty() && options.ca_path.empty(); }

void trust(SSL_CTX* context, const TlsOptions& options) {
  if (trusts_system(options)) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) unusable("the CAs of the system", "");
    return;
  }
  if (!options.ca_file.empty() && SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1)
    unusable("ca_file", options.ca_file);
  if (!options.ca_path.empty() && SSL_CTX_load_verify_dir(context, options.ca_path.c_str()) != 1)
    unusable("ca_path", options.ca_path);
}

void identify(SSL_CTX* context, const TlsOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty())
    throw Error{Errc::invalid_argument, "cert_file and key_file need each other: give both or neither"};
  if (options.cert_file.empty()) return;
  // Without this, OpenSSL asks for a passphrase on the terminal, and waits.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1)
    unusable("cert_file", options.cert_file);
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    unusable("key_file", options.key_file);
}

Context make_context(const TlsOptions& options) {
  // Not at exit: threads of a client that is never destroyed may use OpenSSL until the process has ended.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  Context context{SSL_CTX_new(TLS_client_method())};
  if (!context) throw std::bad_alloc{};
  const bool only_1_3 = options.min_version == TlsVersion::tls_1_3;
  SSL_CTX_set_min_proto_version(context.get(), only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_read_ahead(context.get(), 1);  // one system call for the header of a record and the rest
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context.get(), &TlsTransport::keep);
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context.get(), options.ciphers.c_str()) != 1)
    unusable("ciphers", options.ciphers);
  if (!options.ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context.get(), options.ciphersuites.c_str()) != 1)
    unusable("ciphersuites", options.ciphersuites);
  trust(context.get(), options);
  identify(context.get(), options);
  return context;
}

FileStamp stamp_of(const std::string& path) {
  struct stat facts {};
  if (path.empty() || ::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
}

}  // namespace

std::shared_ptr<TlsMaterial> read_material(const TlsOptions& options) {
  return std::make_shared<TlsMaterial>(TlsMaterial{TlsTransport::socket_method(), make_context(options)});
}

FileStamps stamps_of(const TlsOptions& options) {
  const bool is_system = trusts_system(options);
  return {stamp_of(is_system ? X509_get_default_cert_file() : options.ca_file),
          stamp_of(is_system ? X509_get_default_cert_dir() : options.ca_path), stamp_of(options.cert_file),
          stamp_of(options.key_file)};
}

}  // namespace redlock::inline v1::detail
