#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/own_process.hpp"
#include "benchmark/measure/samples.hpp"
#include "io/sockets/transport.hpp"
#include "io/tls/tls_context.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::benchmark {
namespace {

using detail::Descriptor;
using detail::TlsContext;
using detail::Transport;

Descriptor connect(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int on = 1;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    throw std::system_error{errno, std::generic_category(), "connect"};
  return socket;
}

void wait(const Transport& transport) {
  pollfd polled{.fd = transport.fd(), .events = POLLIN, .revents = 0};
  if (::poll(&polled, 1, 5000) != 1) throw std::runtime_error{"no answer within 5 s"};
}

/// A connection that is ready for commands, and has had the answer to one: with it TLS 1.3 delivers the session that the
/// next connection can resume.
std::unique_ptr<Transport> prepare(std::unique_ptr<Transport> transport) {
  auto state = transport->shake_hands();
  for (; state == Transport::Handshake::pending; state = transport->shake_hands()) wait(*transport);
  static std::array<char, Transport::receive_size> answer;
  if (state != Transport::Handshake::done || !transport->send("PING\r\n"))
    throw std::runtime_error{transport->trouble().message};
  while (true) {
    wait(*transport);
    const Transport::Received received = transport->receive(answer.data(), answer.size());
    if (received.ended) throw std::runtime_error{transport->trouble().message};
    if (received.size > 0) return transport;
  }
}

/// Makes connections one after the other, and closes each at once.
template <class Make>
void add_rate(Facts& facts, const std::string& what, unsigned count, Make&& make) {
  static_cast<void>(make());
  const double cpu_before = seconds_of_cpu();
  const auto begun = Stopwatch::now();
  for (unsigned i = 0; i < count; ++i) static_cast<void>(make());
  const double elapsed = std::chrono::duration<double>{Stopwatch::now() - begun}.count();
  facts.emplace_back(what + "_per_s", count / elapsed);
  facts.emplace_back("cpu_us_of_" + what, 1e6 * (seconds_of_cpu() - cpu_before) / count);
}

/// Makes connections and keeps them all.
template <class Make>
void add_memory(Facts& facts, const std::string& what, unsigned count, Make&& make) {
  std::vector<std::unique_ptr<Transport>> kept;
  kept.reserve(count);
  const double before = resident_bytes();
  for (unsigned i = 0; i < count; ++i) kept.push_back(make());
  facts.emplace_back("bytes_of_" + what, (resident_bytes() - before) / count);
}

}  // namespace

Facts handshakes(unsigned count) {
  const testing::LocalNodes plain_server{1};
  const testing::LocalNodes server{1, {.tls = true}};
  const auto open = [&] {
    return prepare(std::make_unique<detail::PlainTransport>(connect(plain_server.port(0))));
  };
  const auto tls = TlsContext::make(server.tls_options());
  const auto secure = [&](const Endpoint& address) {
    return prepare(tls->secure(connect(server.port(0)), address, TlsContext::Resumption::offered));
  };
  const auto resumed = [&] { return secure(Endpoint{server.url(0)}); };
  // There is no session for an address that was not used before.
  auto full = [&, port = std::uint16_t{0}]() mutable {
    const Endpoint unused{"rediss://127.0.0.1:" + std::to_string(++port)};
    return secure(unused);
  };
  Facts facts;
  add_memory(facts, "plain_connection", count, open);
  add_memory(facts, "tls_connection", count, full);
  add_rate(facts, "plain_connection", count, open);
  add_rate(facts, "full_handshake", count, full);
  add_rate(facts, "resumed_handshake", count, resumed);
  return facts;
}

}  // namespace redlock::benchmark
