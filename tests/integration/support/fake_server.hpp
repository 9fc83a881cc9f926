// A server that is not Redis.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"

namespace redlock::testing {

/// Listens on a port and sends the same bytes in reply to anything, on every connection.
class FakeServer {
 public:
  explicit FakeServer(std::string answer) : answer_{std::move(answer)} {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }

  [[nodiscard]] std::string url(const std::string& scheme = "redis") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_.number());
  }

 private:
  void run(const std::stop_token& stop) {
    std::vector<detail::Fd> clients;
    while (!stop.stop_requested()) {
      std::vector<pollfd> polls{{listener_.get(), POLLIN, 0}};
      for (const auto& client : clients) polls.push_back({client.get(), POLLIN, 0});
      ::poll(polls.data(), polls.size(), 10);
      for (std::size_t i = 1; i < polls.size(); ++i)
        if (polls[i].revents != 0) serve(clients[i - 1]);
      std::erase_if(clients, [](const detail::Fd& client) { return !client; });
      if (detail::Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)})
        clients.push_back(std::move(client));
    }
  }

  void serve(detail::Fd& client) const {
    char request[4096];
    if (::recv(client.get(), request, sizeof request, MSG_DONTWAIT) <= 0) return client.reset();
    for (std::size_t sent = 0; sent < answer_.size();) {
      const ssize_t more = ::send(client.get(), answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
      if (more < 0) return client.reset();
      sent += static_cast<std::size_t>(more);
    }
  }

  const std::string answer_;
  const detail::LoopbackPort port_;
  const detail::Fd listener_ = port_.listen();
  std::jthread thread_;
};

}  // namespace redlock::testing
