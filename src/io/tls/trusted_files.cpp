#include "io/tls/trusted_files.hpp"

#include <openssl/x509.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace redlock::inline v1::detail {
namespace {

/// Eight hex digits, a dot and a number. Revocation lists have an r before the number.
bool is_hashed(std::string_view name) {
  constexpr std::size_t dot = 8;
  if (name.size() < dot + 2 || name[dot] != '.') return false;
  const bool has_hash = name.substr(0, dot).find_first_not_of("0123456789abcdef") == name.npos;
  return has_hash && name.substr(dot + 1).find_first_not_of("0123456789") == name.npos;
}

void append_hashed(std::vector<std::string>& files, const std::string& folder) {
  std::error_code error;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator entry{folder, error}, end; !error && entry != end;
       entry.increment(error))
    if (is_hashed(entry->path().filename().native())) found.push_back(entry->path().native());
  std::ranges::sort(found);
  files.insert(files.end(), found.begin(), found.end());
}

/// As OpenSSL finds its defaults.
std::string setting(const char* variable, const char* otherwise) {
  const char* const value = ::secure_getenv(variable);
  return value ? value : otherwise;
}

std::vector<std::string> folders_in(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const std::size_t size = std::min(list.find(':'), list.size());
    if (size > 0) folders.emplace_back(list.substr(0, size));
    list.remove_prefix(std::min(size + 1, list.size()));
  }
  return folders;
}

}  // namespace

TrustedFiles trusted_files(const TlsOptions& options) {
  TrustedFiles files{.file = options.ca_file};
  if (!options.ca_path.empty()) files.folders = {options.ca_path};
  if (options.ca_file.empty() && options.ca_path.empty()) {
    files.is_system = true;
    files.file = setting(X509_get_default_cert_file_env(), X509_get_default_cert_file());
    files.folders = folders_in(setting(X509_get_default_cert_dir_env(), X509_get_default_cert_dir()));
  }
  for (const std::string& folder : files.folders) append_hashed(files.from_folders, folder);
  return files;
}

}  // namespace redlock::inline v1::detail
