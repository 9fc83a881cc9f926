#include "io/tls/tls_material.hpp"

#include <openssl/err.h>
#include <sys/stat.h>

#include <new>

#include "io/tls/server_name.hpp"
#include "io/tls/tls_transport.hpp"
#include "io/tls/tls_trouble.hpp"
#include "io/tls/trusted_files.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {
namespace {

[[noreturn]] void unusable(const std::string& what, const std::string& value, const std::string& why) {
  throw Error{Errc::invalid_argument, what + ' ' + core::printable(value, std::string::npos) + ": " + why};
}

/// Has OpenSSL read a file. Returns why it is of no use; empty if it is of use. Whoever opens a FIFO waits for its writer.
template <class Read>
std::string trouble_with(const std::string& path, const Read& read) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return "it is not a regular file";
  return read(path.c_str()) == 1 ? std::string{} : last_error_text();
}

using Context = std::unique_ptr<SSL_CTX, FreeTls>;

void trust(SSL_CTX* context, const TlsOptions& options) {
  const TrustedFiles files = trusted_files(options);
  const auto load = [&](const char* option, const std::string& path) {
    const std::string trouble =
        trouble_with(path, [context](const char* file) { return SSL_CTX_load_verify_file(context, file); });
    if (!trouble.empty() && !files.is_system) unusable(option, path, trouble);
  };
  if (!files.file.empty()) load("ca_file", files.file);
  for (const std::string& path : files.from_folders) load("ca_path", path);
  if (files.is_system || options.ca_path.empty() || !files.from_folders.empty()) return;
  throw Error{Errc::invalid_argument,
              "ca_path " + core::printable(options.ca_path, std::string::npos) +
                  ": no file that can be found there is named as `openssl rehash` names certificates (8 hex "
                  "digits, a dot and a number)"};
}

void identify(SSL_CTX* context, const TlsOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty())
    throw Error{Errc::invalid_argument, "cert_file and key_file need each other: give both or neither"};
  if (options.cert_file.empty()) return;
  // Without this, OpenSSL asks for a passphrase on the terminal, and waits.
  bool has_passphrase = false;
  SSL_CTX_set_default_passwd_cb_userdata(context, &has_passphrase);
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  });
  std::string trouble = trouble_with(options.cert_file, [context](const char* file) {
    return SSL_CTX_use_certificate_chain_file(context, file);
  });
  if (!trouble.empty()) unusable("cert_file", options.cert_file, trouble);
  trouble = trouble_with(options.key_file, [context](const char* file) {
    return SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM);
  });
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (has_passphrase) trouble = "the key has a passphrase; only a key without one can be used";
  if (!trouble.empty()) unusable("key_file", options.key_file, trouble);
}

Context make_context(const TlsOptions& options) {
  check_server_name(options.server_name);
  // Not at exit: threads of a client that is never destroyed may use OpenSSL until the process has ended.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  Context context{SSL_CTX_new(TLS_client_method())};
  if (!context) throw std::bad_alloc{};
  if (options.min_version > TlsVersion::tls_1_3)
    unusable("min_version", std::to_string(static_cast<int>(options.min_version)),
             "it is not one of its enumerators");
  const bool only_1_3 = options.min_version == TlsVersion::tls_1_3;
  SSL_CTX_set_min_proto_version(context.get(), only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_read_ahead(context.get(), 1);  // one system call for the header of a record and the rest
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context.get(), &TlsTransport::keep);
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context.get(), options.ciphers.c_str()) != 1)
    unusable("ciphers", options.ciphers, last_error_text());
  if (!options.ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context.get(), options.ciphersuites.c_str()) != 1)
    unusable("ciphersuites", options.ciphersuites, last_error_text());
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
  const TrustedFiles trusted = trusted_files(options);
  FileStamps stamps{stamp_of(options.cert_file), stamp_of(options.key_file), stamp_of(trusted.file)};
  for (const std::string& path : trusted.folders) stamps.push_back(stamp_of(path));
  for (const std::string& path : trusted.from_folders) stamps.push_back(stamp_of(path));
  return stamps;
}

}  // namespace redlock::inline v1::detail
