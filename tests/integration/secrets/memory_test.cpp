// No password stays in the memory of a process that has no client any more.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "os/descriptor.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace redlock::testing;
using redlock::Configuration;
using redlock::Endpoint;
using redlock::Redlock;
using redlock::Secret;

constexpr unsigned char mask = 0x5a;
/// A password of 30 bytes, each combined with the mask, so that it is not in memory itself.
constexpr std::array<unsigned char, 30> masked{0x34, 0x35, 0x2e, 0x77, 0x2e, 0x35, 0x77, 0x38, 0x3f, 0x77,
                                               0x3c, 0x35, 0x2f, 0x34, 0x3e, 0x77, 0x33, 0x34, 0x77, 0x37,
                                               0x3f, 0x37, 0x35, 0x28, 0x23, 0x77, 0x6e, 0x6d, 0x6b, 0x6b};
/// How servers store it.
const std::string digest = "#a07d209d99f1ca09791ab4fab8bf879389ee7833f5479fd24288b3acb4613cef";

/// Text around the password.
Secret around_password(std::string_view before, std::string_view after) {
  redlock::detail::WipedBytes bytes{before.begin(), before.end()};
  for (const unsigned char byte : masked) bytes.push_back(static_cast<char>(byte ^ mask));
  bytes.insert(bytes.end(), after.begin(), after.end());
  return Secret{std::move(bytes)};
}

bool is_password(const char* at) {
  return std::equal(masked.begin(), masked.end(), at, [](unsigned char hidden, char byte) {
    return static_cast<unsigned char>(hidden ^ mask) == static_cast<unsigned char>(byte);
  });
}

/// How often the password is in the memory of this process.
int passwords_in_memory() {
  const redlock::detail::Descriptor memory{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
  REQUIRE(memory);
  constexpr std::uint64_t shadow = std::uint64_t{1} << 30U;  // sanitizers map larger ones
  redlock::detail::WipedBytes bytes;
  int found = 0;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[1] != 'w') continue;
    if (end - begin > shadow) continue;
    bytes.resize(end - begin);
    const ssize_t size = ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin));
    for (const char *at = bytes.data(), *const last = at + size - masked.size(); size > 0 && at < last;
         ++at) {
      at = static_cast<const char*>(std::memchr(at, masked[0] ^ mask, static_cast<std::size_t>(last - at)));
      if (!at) break;
      found += is_password(at) ? 1 : 0;
    }
    redlock::detail::wipe(bytes.data(), bytes.size());
  }
  return found;
}

/// A server on which the user "app" has the password.
struct Fixture {
  LocalNodes nodes{1};
  std::string address = "@127.0.0.1:" + std::to_string(nodes.port(0));

  Fixture() { set_user(); }
  void set_user() const {
    REQUIRE(RawClient{nodes.port(0)}.command({"ACL", "SETUSER", "app", "on", digest, "~*", "&*", "+@all"}) ==
            "OK");
  }
};

}  // namespace

TEST_CASE("no_password_of_an_endpoint_stays_in_memory_after_its_client") {
  Fixture f;
  REQUIRE(passwords_in_memory() == 0);
  {
    std::vector<Endpoint> list;
    list.emplace_back(around_password("redis://app:", f.address).text());
    Redlock locks{list, {.restart_guard = redlock::RestartGuard::off}};
    auto lease = locks.lock("r", {.on_lost = [](redlock::Loss) {}}).value();
    CHECK(lease.extend());
    f.nodes.restart_empty(0);  // the client logs in again
    f.set_user();
    CHECK(is_granted(locks.lock("r")));
    CHECK(passwords_in_memory() > 0);
  }
  CHECK(passwords_in_memory() == 0);
}

TEST_CASE("no_password_of_the_environment_or_of_a_file_stays_in_memory") {
  Fixture f;
  const TempFolder folder;
  const std::string path = (folder.path() / "nodes").string();
  {
    const Secret text = around_password("redis://app:", f.address);
    const redlock::detail::Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    REQUIRE(::write(file.get(), text.text().data(), text.text().size()) == std::ssize(text.text()));
  }
  for (const std::string variable : {"REDLOCK_NODES", "REDLOCK_NODES_FILE"}) {
    CAPTURE(variable);
    const auto variables = [&](std::string_view name) -> std::optional<std::string> {
      if (name != variable) return std::nullopt;
      if (name == "REDLOCK_NODES_FILE") return path;
      return std::string{around_password("redis://app:", f.address).text()};
    };
    {
      const Configuration configuration = Configuration::from_environment({}, variables);
      Redlock locks{configuration.nodes, configuration.options};
      CHECK(is_granted(locks.lock(variable)));
      CHECK(passwords_in_memory() > 0);
    }
    CHECK(passwords_in_memory() == 0);
  }
}
