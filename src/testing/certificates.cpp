#include "testing/certificates.hpp"

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

std::string with_key(const std::string& path) {
  return " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout " + path + ".key";
}

}  // namespace

CertificateAuthority::CertificateAuthority(std::string folder) : folder_{std::move(folder)} {
  const auto program = find_program("openssl");
  if (!program) throw std::runtime_error{"TLS nodes need the program openssl: install openssl"};
  openssl_ = *program;
  std::filesystem::create_directories(folder_);
  std::ofstream{folder_ + "/index"} << "";  // `openssl ca` lists there what it has issued
  std::ofstream{folder_ + "/config"} << configuration(folder_);
  run("req -x509 -days 3650 -subj /CN=redlock-test-ca -addext basicConstraints=critical,CA:TRUE" +
      with_key(folder_ + "/ca") + " -out " + folder_ + "/ca.crt");
}

Certificate CertificateAuthority::issue(const std::string& name, const CertificateContent& content) const {
  const std::string path = folder_ + "/" + name;
  run("req -subj /CN=" + name + " -addext subjectAltName=" + content.names + with_key(path) + " -out " +
      path + ".csr");
  run("ca -batch -notext -startdate " + content.from + " -enddate " + content.until + " -in " + path +
      ".csr -out " + path + ".crt");
  return {path + ".crt", path + ".key"};
}

void CertificateAuthority::run(const std::string& arguments) const {
  std::istringstream words{arguments};
  std::vector<std::string> all{openssl_};
  all.insert(all.end(), std::istream_iterator<std::string>{words}, {});
  all.insert(all.begin() + 2, {"-config", folder_ + "/config"});
  const std::string log = folder_ + "/log";
  const std::string made = all.back();
  reap(launch({.arguments = std::move(all), .output = log}));
  if (std::filesystem::exists(made) && std::filesystem::file_size(made) > 0) return;
  std::ostringstream text;
  text << "openssl " << arguments << " failed:\n" << std::ifstream{log}.rdbuf();
  throw std::runtime_error{text.str()};
}

}  // namespace redlock::testing::detail
