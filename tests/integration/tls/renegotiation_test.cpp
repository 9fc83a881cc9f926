// Servers that ask for another handshake on a connection that is in use, as TLS 1.2 lets them.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/node_reports.hpp"
#include "integration/support/refusal.hpp"
#include "integration/tls/own_server.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"
#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::SingleNodeLock;
using redlock::testing::detail::Certificate;
using redlock::testing::detail::CertificateAuthority;
using redlock::testing::detail::Fd;

/// Speaks TLS 1.2 to its clients, and forwards what they say to a Redis server.
class Renegotiator {
 public:
  Renegotiator(std::uint16_t upstream, const Certificate& certificate)
      : upstream_{upstream}, tls_{certificate, TLS1_2_VERSION} {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }

  [[nodiscard]] std::string url() const { return "rediss://127.0.0.1:" + std::to_string(port_.number()); }
  /// Asks for another handshake on all connections.
  void ask() { is_to_ask_ = true; }
  /// While on, whatever a client says is answered by such a request, and by nothing else.
  void only_ask(bool on) { only_asks_ = on; }
  /// How many requests were refused. That connection has ended then.
  [[nodiscard]] int refused() const { return refused_; }

 private:
  struct Connection {
    Fd client;
    Fd server;
    ServerSsl ssl;
  };

  void run(const std::stop_token& stop) {
    sigset_t pipe{};  // OpenSSL writes to connections that clients have closed
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    std::list<Connection> connections;
    while (!stop.stop_requested()) {
      std::vector<pollfd> polls{{listener_.get(), POLLIN, 0}};
      for (const Connection& one : connections)
        polls.insert(polls.end(), {{one.client.get(), POLLIN, 0}, {one.server.get(), POLLIN, 0}});
      ::poll(polls.data(), polls.size(), 5);
      const bool asks = is_to_ask_.exchange(false);
      std::erase_if(connections, [&](Connection& one) {
        if (asks) request_handshake(one);
        return !forward_requests(one) || !forward_replies(one);
      });
      if (Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)})
        connections.push_back(accepted(std::move(client)));
    }
  }

  Connection accepted(Fd client) {
    ServerSsl ssl = tls_.accept(client.get());
    return {std::move(client), detail::connect_to_loopback(upstream_), std::move(ssl)};
  }

  static void request_handshake(Connection& one) {
    ERR_clear_error();
    if (SSL_is_init_finished(one.ssl.get()) == 0) return;  // the first one is not over
    SSL_renegotiate(one.ssl.get());
    SSL_do_handshake(one.ssl.get());
  }

  /// Returns false when the connection has ended, as both of these do.
  bool forward_requests(Connection& one) {
    std::array<char, 20000> bytes{};
    for (;;) {
      ERR_clear_error();
      const int size = SSL_read(one.ssl.get(), bytes.data(), bytes.size());
      if (size > 0 && only_asks_)
        request_handshake(one);
      else if (size > 0)
        send_all(one.server.get(), {bytes.data(), static_cast<std::size_t>(size)});
      else
        return goes_on(one, size);
    }
  }
  bool goes_on(Connection& one, int result) {
    const unsigned long why = ERR_peek_error();
    if (SSL_get_error(one.ssl.get(), result) == SSL_ERROR_WANT_READ) return true;
    if (ERR_GET_REASON(why) == SSL_R_NO_RENEGOTIATION) ++refused_;
    return false;
  }
  static bool forward_replies(Connection& one) {
    std::array<char, 10000> bytes{};
    const ssize_t size = ::recv(one.server.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS;
    for (int written = 0; size > 0 && written <= 0;) {
      ERR_clear_error();
      written = SSL_write(one.ssl.get(), bytes.data(), static_cast<int>(size));
      if (written <= 0 && SSL_get_error(one.ssl.get(), written) != SSL_ERROR_WANT_WRITE) return false;
    }
    return size > 0;
  }
  static void send_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd polled{to, POLLOUT, 0};
      ::poll(&polled, 1, -1);
      const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) return;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
  }

  const std::uint16_t upstream_;
  const detail::LoopbackPort port_;
  const Fd listener_ = port_.listen();
  const OwnServer tls_;
  std::atomic<bool> is_to_ask_ = false;
  std::atomic<bool> only_asks_ = false;
  std::atomic<int> refused_ = 0;
  std::jthread thread_;
};

/// Three nodes, of which the first one speaks TLS and may ask for handshakes.
struct Fixture {
  TempFolder folder;
  CertificateAuthority authority{folder.path() / "ca"};
  LocalNodes nodes{3};
  Renegotiator asking{nodes.port(0), authority.issue("server")};
  Options options{.connect_timeout = 20s, .node_timeout = 20s, .tls = {.ca_file = authority.own().cert_file}};
};

}  // namespace

TEST_CASE("a_client_refuses_another_handshake_and_connects_again") {
  Fixture f;
  Redlock locks{{f.asking.url(), f.nodes.url(1), f.nodes.url(2)}, f.options};
  std::atomic<int> losses = 0;
  redlock::Lease held = locks.lock("held", {.on_lost = [&](redlock::Loss) { ++losses; }}).value();
  // A copy of "r" may stay on the first node, whose connection ends meanwhile.
  const auto all_vote = [&] { return std::ranges::all_of(locks.inspect("r"), votes); };
  for (int round = 1; round <= 3; ++round) {
    CAPTURE(round);
    REQUIRE(eventually(all_vote));
    const int before = f.asking.refused();
    f.asking.ask();
    CHECK(is_granted(locks.try_lock("r")));  // the others go on
    CHECK(eventually([&] { return f.asking.refused() > before; }));
    CHECK(is_granted(locks.try_lock("r")));
  }
  CHECK(eventually(all_vote));
  CHECK(held.extend());
  CHECK(losses == 0);
}

TEST_CASE("a_server_that_answers_with_requests_for_handshakes_is_reported") {
  const bool from_the_beginning = GENERATE(false, true);
  CAPTURE(from_the_beginning);
  Fixture f;
  Redlock others{{f.asking.url(), f.nodes.url(1), f.nodes.url(2)}, f.options};
  REQUIRE(is_granted(others.try_lock("warm-up")));
  SingleNodeLock locks{f.asking.url(), f.options};
  if (!from_the_beginning) REQUIRE(is_granted(locks.try_lock("r")));
  f.asking.only_ask(true);
  check_refused(locks, Errc::misconfigured, NodeStatus::tls_failed,
                "the server ended the connection because it may not renegotiate");
  CHECK(eventually([&] { return f.asking.refused() > 0; }));
  CHECK(is_granted(others.try_lock("r")));
  f.asking.only_ask(false);
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}
