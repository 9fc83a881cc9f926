// A server that is started from a configuration file, as on its users' machines.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/certificates.hpp"
#include "testing/loopback_port.hpp"
#include "testing/process.hpp"
#include "testing/process_group.hpp"
#include "tool/secrets/page_blocks.hpp"

namespace redlock::testing {

/// Is killed when this object is destroyed or the test process ends. Has the certificate `certificate`, listens at a free
/// port of 127.0.0.1 instead of 6379, and has its files in a temporary folder.
class ConfiguredServer {
 public:
  /// `configuration`: with the paths and the address of the page. `folder`: what stands in place of /etc/redis. `more`: lines
  /// that are appended. Returns when the server takes connections.
  ConfiguredServer(std::string configuration, const std::string& folder,
                   const detail::Certificate& certificate, const detail::Certificate& ca,
                   const std::string& more = {}) {
    configuration += "\ndir " + group_.folder() + "\nsave \"\"\nloglevel notice\n" + more + '\n';
    for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
             {"/etc/redis/tls/server.crt", certificate.cert_file},
             {"/etc/redis/tls/server.key", certificate.key_file},
             {"/etc/redis/tls/ca.crt", ca.cert_file},
             {"/etc/redis", folder},
             {"10.0.0.1", "127.0.0.1"},
             {"tls-port 6379", "tls-port " + std::to_string(port())}}) {
      configuration = replaced(std::move(configuration), from, to);
    }
    const std::string file = group_.folder() + "/redis.conf";
    std::ofstream{file} << configuration;
    pid_ = detail::launch({.arguments = {program(), file}, .output = log_, .group = group_.id()});
    const bool is_up =
        eventually([&] { return log().find("Ready to accept connections") != std::string::npos; });
    INFO(configuration << log());
    REQUIRE(is_up);
  }

  ~ConfiguredServer() {
    ::kill(pid_, SIGKILL);
    detail::reap(pid_);
  }
  ConfiguredServer(const ConfiguredServer&) = delete;
  ConfiguredServer& operator=(const ConfiguredServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
  [[nodiscard]] std::string url(const std::string& user = {}) const {
    return "rediss://" + (user.empty() ? user : user + ":@") + "127.0.0.1:" + std::to_string(port());
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file{log_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

 private:
  static std::string program() {
    const char* const variable = std::getenv("REDLOCK_SERVER");
    for (const std::string_view name : {std::string_view{variable == nullptr ? "redis-server" : variable},
                                        std::string_view{"valkey-server"}})
      if (const std::optional<std::string> found = detail::find_program(name)) return *found;
    FAIL("no server");
    return {};
  }

  const detail::LoopbackPort port_;
  const detail::ProcessGroup group_;
  const std::string log_ = group_.folder() + "/log";
  pid_t pid_ = 0;
};

}  // namespace redlock::testing
