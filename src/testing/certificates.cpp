#include "testing/certificates.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "testing/process.hpp"

namespace redlock::testing::detail {
namespace {

/// What `openssl ca` needs beside its arguments.
std::string configuration(const std::string& folder) {
  return "[ca]\ndefault_ca = own\n"
         "[own]\ndatabase = " +
         folder + "/index\nnew_certs_dir = " + folder + "\ncertificate = " + folder +
         "/ca.crt\nprivate_key = " + folder +
         "/ca.key\ndefault_md = sha256\nrand_serial = yes\nunique_subject = no\ncopy_extensions = copy\n"
         "policy = any\n"
         "[any]\ncommonName = supplied\n"
         "[req]\ndistinguished_name = none\n"
         "[none]\n";
}

/// `openssl req` with a new key and these words.
std::vector<std::string> request(const std::string& path, std::vector<std::string> words) {
  std::vector<std::string> all{"req",    "-newkey", "ec",         "-pkeyopt", "ec_paramgen_curve:P-256",
                               "-nodes", "-keyout", path + ".key"};
  std::move(words.begin(), words.end(), std::back_inserter(all));
  return all;
}

}  // namespace

std::string certificate_time(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d%H%M%SZ", &parts);
  return text.data();
}

CertificateAuthority::CertificateAuthority(std::string folder) : folder_{std::move(folder)} {
  const auto program = find_program("openssl");
  if (!program) throw std::runtime_error{"TLS nodes need the program openssl: install openssl"};
  openssl_ = *program;
  std::filesystem::create_directories(folder_);
  std::ofstream{folder_ + "/index"} << "";  // `openssl ca` lists there what it has issued
  std::ofstream{folder_ + "/config"} << configuration(folder_);
  run(request(folder_ + "/ca", {"-x509", "-days", "3650", "-subj", "/CN=redlock-test-ca", "-addext",
                                "basicConstraints=critical,CA:TRUE", "-out", folder_ + "/ca.crt"}));
}

Certificate CertificateAuthority::issue(const std::string& name, const CertificateContent& content) const {
  const std::string path = folder_ + "/" + name;
  run(request(path,
              {"-subj", "/CN=" + name, "-addext", "subjectAltName=" + content.names, "-out", path + ".csr"}));
  run({"ca", "-batch", "-notext", "-startdate", content.from, "-enddate", content.until, "-in", path + ".csr",
       "-out", path + ".crt"});
  return {path + ".crt", path + ".key"};
}

/// The last word is the file that is to be made.
void CertificateAuthority::run(std::vector<std::string> words) const {
  words.insert(words.begin() + 1, {"-config", folder_ + "/config"});
  words.insert(words.begin(), openssl_);
  const std::string log = folder_ + "/log";
  const std::string made = words.back();
  reap(launch({.arguments = words, .output = log}));
  if (std::filesystem::exists(made) && std::filesystem::file_size(made) > 0) return;
  std::ostringstream text;
  for (const std::string& word : words) text << word << ' ';
  text << "failed:\n" << std::ifstream{log}.rdbuf();
  throw std::runtime_error{text.str()};
}

}  // namespace redlock::testing::detail
