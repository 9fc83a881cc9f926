// Counts the signals of this process.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"

namespace redlock::testing {

inline std::atomic<int> handled{0};
inline std::atomic<int> handled_elsewhere{0};  // signals handled on threads that are not the program's
inline thread_local volatile std::sig_atomic_t is_of_the_program = 0;

inline void note_signal(int) {
  ++handled;
  handled_elsewhere += is_of_the_program ? 0 : 1;
}

/// Installs a handler without SA_RESTART until the destructor, so that the signal makes running system calls fail
/// with EINTR.
class Handler {
 public:
  explicit Handler(int signal) : signal_{signal} {
    is_of_the_program = 1;
    handled = 0;
    handled_elsewhere = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;
    ::sigaction(signal_, &action, &before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  ~Handler() { ::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

/// Cuts connections to the first of three nodes again and again while threads send commands.
inline void check_no_sigpipe(const LocalNodes& nodes, TlsOptions tls) {
  Proxy proxy{nodes.port(0)};
  std::string url = nodes.url(0);
  url.replace(url.rfind(':') + 1, url.npos, std::to_string(proxy.port()));
  const std::chrono::seconds of_a_busy_machine{10};
  const Options options{
      .connect_timeout = of_a_busy_machine, .node_timeout = of_a_busy_machine, .tls = std::move(tls)};
  const LockOptions lasting{.ttl = std::chrono::seconds{60}};
  const Handler handler{SIGPIPE};
  std::atomic<int> granted{0};
  for (int round = 0; round < 60; ++round) {
    InspectableLock locks{{url, nodes.url(1), nodes.url(2)}, options};
    REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
    REQUIRE(eventually([&] { return locks.ready(0); }));
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller)
      callers.emplace_back([&, name = "resource " + std::to_string(caller)] {
        for (int cycle = 0; cycle < 20; ++cycle) granted += is_granted(locks.try_lock(name, lasting)) ? 1 : 0;
      });
    proxy.cut(round % 2 == 0 ? Cut::reset : Cut::close);
  }
  CHECK(granted == 60 * 3 * 20);
  CHECK(handled == 0);
}

}  // namespace redlock::testing
