// Files of certificates that hang while they are read.
#include <fcntl.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/measure.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/proxy.hpp"
#include "support/temp_folder.hpp"
#include "testing/fd.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Lease;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;

/// While it exists, whoever opens the file waits, as for a file of a server that does not answer. The kernel does that for
/// the lease of a file, and ends it after 45 s.
class Hanging {
 public:
  explicit Hanging(const std::string& path) : file_{::open(path.c_str(), O_RDWR | O_CLOEXEC)} {
    REQUIRE(file_);
    // Otherwise the kernel's request to end the lease would end the test.
    REQUIRE(::fcntl(file_.get(), F_SETSIG, SIGURG) == 0);
    REQUIRE(::fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0);
  }
  /// Whether somebody is about to read the file.
  [[nodiscard]] bool has_reader() const { return ::fcntl(file_.get(), F_GETLEASE) != F_WRLCK; }

 private:
  detail::Fd file_;
};

}  // namespace

TEST_CASE("a_file_that_hangs_while_it_is_read_delays_only_its_own_node") {
  LocalNodes nodes{3, {.tls = true}};
  Proxy proxy{nodes.port(0)};
  const TempFolder folder;
  const std::string path = folder.path() / "ca.crt";
  std::filesystem::copy_file(nodes.tls_options().ca_file, path);
  const std::string url = "rediss://127.0.0.1:" + std::to_string(proxy.port());
  Redlock locks{{Endpoint{url}.with({.ca_file = path}), nodes.url(1), nodes.url(2)},
                {.connect_timeout = 20s, .node_timeout = 20s, .tls = nodes.tls_options()}};
  const auto votes = [&] { return locks.inspect("free").at(0).status == NodeStatus::free; };
  REQUIRE(eventually(votes));
  Lease held = locks.lock("held", {.ttl = 60s}).value();

  // Only a file that was changed is read again.
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + 1s);
  {
    const Hanging hanging{path};
    proxy.cut();
    CHECK(eventually([&] {
      CHECK(time_of([&] { CHECK(is_granted(locks.try_lock("r"))); }) < 10s);
      return hanging.has_reader();
    }));
    for (int i = 0; i < 20; ++i)
      CHECK(time_of([&] {
              CHECK(locks.try_lock("r").value().release() == Release::released);
              CHECK(held.extend());
            }) < 10s);
    CHECK(hanging.has_reader());
  }
  CHECK(eventually(votes));
}
