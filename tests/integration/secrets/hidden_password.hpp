// A password that is not in memory unless a client has it there, and the search for it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/temp_folder.hpp"

namespace redlock::testing::secrets {

inline constexpr unsigned char mask = 0x5a;
/// A password of 30 bytes, each combined with the mask, so that it is not in memory itself.
inline constexpr std::array<unsigned char, 30> masked{
    0x34, 0x35, 0x2e, 0x77, 0x2e, 0x35, 0x77, 0x38, 0x3f, 0x77, 0x3c, 0x35, 0x2f, 0x34, 0x3e,
    0x77, 0x33, 0x34, 0x77, 0x37, 0x3f, 0x37, 0x35, 0x28, 0x23, 0x77, 0x6e, 0x6d, 0x6b, 0x6b};
/// How servers store it.
inline const std::string digest = "#a07d209d99f1ca09791ab4fab8bf879389ee7833f5479fd24288b3acb4613cef";

/// Text around the password.
inline Secret around_password(std::string_view before, std::string_view after) {
  redlock::detail::WipedBytes bytes{before.begin(), before.end()};
  for (const unsigned char byte : masked) bytes.push_back(static_cast<char>(byte ^ mask));
  bytes.insert(bytes.end(), after.begin(), after.end());
  return Secret{std::move(bytes)};
}

inline bool is_password(const char* at) {
  return std::equal(masked.begin(), masked.end(), at, [](unsigned char hidden, char byte) {
    return static_cast<unsigned char>(hidden ^ mask) == static_cast<unsigned char>(byte);
  });
}

/// How often the password begins in these bytes, other than in the last ones, which are too few.
inline int passwords_in(std::string_view bytes) {
  int found = 0;
  for (std::size_t at = 0; bytes.size() > masked.size(); ++at) {
    at = bytes.substr(0, bytes.size() - masked.size()).find(static_cast<char>(masked[0] ^ mask), at);
    if (at == std::string_view::npos) break;
    found += is_password(bytes.data() + at) ? 1 : 0;
  }
  return found;
}

/// How often the password is in the memory of this process.
inline int passwords_in_memory() {
  const redlock::detail::Descriptor memory{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
  REQUIRE(memory);
  constexpr std::uint64_t shadow = std::uint64_t{1} << 27U;  // sanitizers map larger ones
  redlock::detail::WipedBytes portion(std::size_t{1} << 18U);
  int found = 0;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w') continue;
    if (end - begin > shadow) continue;
    for (; begin < end; begin += portion.size() - masked.size()) {
      const std::size_t size = std::min<std::uint64_t>(portion.size(), end - begin);
      const ssize_t got = ::pread(memory.get(), portion.data(), size, static_cast<off_t>(begin));
      if (got > 0) found += passwords_in({portion.data(), static_cast<std::size_t>(got)});
      redlock::detail::wipe(portion.data(), portion.size());
    }
  }
  return found;
}

/// A server, with or without TLS, on which the user "app" has the password, and also "new".
struct ServerWithPassword {
  explicit ServerWithPassword(bool tls)
      : nodes{1, {.arguments = {"--user", "app", "on", digest, ">new", "~*", "&*", "+@all"}, .tls = tls}} {}

  /// With this user and the password.
  [[nodiscard]] Secret url() const {
    return around_password(scheme + "app:", "@127.0.0.1:" + std::to_string(nodes.port(0)));
  }
  [[nodiscard]] redlock::Options options() const {
    return {.connect_timeout = std::chrono::seconds{20},
            .tls = nodes.tls_options(),
            .restart_guard = redlock::RestartGuard::off};
  }

  LocalNodes nodes;
  std::string scheme = nodes.url(0).substr(0, nodes.url(0).find("://") + 3);
};

// ── with and without TLS ─────────────────────────────────────────────────────────────────────────────────────

inline void check_password_of_endpoint(bool tls) {
  ServerWithPassword f{tls};
  REQUIRE(passwords_in_memory() == 0);
  {
    std::vector<Endpoint> list;
    list.emplace_back(f.url().text());
    Redlock locks{list, f.options()};
    auto lease = locks.lock("r", {.on_lost = [](redlock::Loss) {}}).value();
    CHECK(lease.extend());
    f.nodes.restart_empty(0);  // the client logs in again
    CHECK(eventually([&] { return is_granted(locks.lock("r")); }));
    CHECK(passwords_in_memory() > 0);
  }
  CHECK(passwords_in_memory() == 0);
}

inline void check_password_that_is_replaced(bool tls) {
  const ServerWithPassword f{tls};
  std::atomic<bool> is_replaced = false;
  redlock::Options options = f.options();
  options.credentials = [&](const Endpoint&) {
    return redlock::Credentials{"app", is_replaced ? "new" : around_password("", "")};
  };
  options.credentials_interval = std::chrono::milliseconds{10};
  Redlock locks{f.nodes.urls(), options};
  auto lease = locks.lock("r", {.on_lost = [](redlock::Loss) {}}).value();
  REQUIRE(passwords_in_memory() > 0);
  is_replaced = true;
  CHECK(eventually([] { return passwords_in_memory() == 0; }));
  CHECK(lease.extend());
}

inline void check_password_of_environment_or_file(bool tls) {
  const ServerWithPassword f{tls};
  const TempFolder folder;
  const std::string path = (folder.path() / "nodes").string();
  {
    const Secret text = f.url();
    const redlock::detail::Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    REQUIRE(::write(file.get(), text.text().data(), text.text().size()) == std::ssize(text.text()));
  }
  for (const std::string variable : {"REDLOCK_NODES", "REDLOCK_NODES_FILE"}) {
    CAPTURE(variable);
    const auto variables = [&](std::string_view name) -> std::optional<std::string> {
      if (name != variable) return std::nullopt;
      if (name == "REDLOCK_NODES_FILE") return path;
      return std::string{f.url().text()};
    };
    {
      const Configuration configuration = Configuration::from_environment(f.options(), variables);
      Redlock locks{configuration.nodes, configuration.options};
      CHECK(is_granted(locks.lock(variable)));
      CHECK(passwords_in_memory() > 0);
    }
    CHECK(passwords_in_memory() == 0);
  }
}

}  // namespace redlock::testing::secrets
