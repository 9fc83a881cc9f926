#include "simulation/conformance/server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "redlock/core/wire/resp.hpp"
#include "testing/loopback_port.hpp"

namespace redlock::simulation {
namespace {

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error{"real server: " + why}; }

void wait_for(int socket, short events) {
  constexpr int timeout_ms = 60'000;
  pollfd waiting{socket, events, 0};
  const int ready = ::poll(&waiting, 1, timeout_ms);
  if (ready == 0) fail("no answer for a minute");
  if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
}

}  // namespace

// One database, as the simulated server has. Keys expire only on access.
RealServer::RealServer(const std::string& program)
    : nodes_{1, {.arguments = {"--databases", "1"}, .server = program}},
      socket_{testing::detail::connect_to_loopback(nodes_.port(0))} {
  if (!socket_) fail(std::strerror(errno));
  wait_for(socket_.get(), POLLOUT);
  if (ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).text != "OK") fail("DEBUG is not available");
}

std::vector<Reply> RealServer::ask(std::span<const std::vector<std::string>> commands) {
  std::string bytes;
  for (const auto& command : commands) {
    const std::vector<std::string_view> words{command.begin(), command.end()};
    core::append_command(bytes, words);
  }
  send(bytes);
  std::vector<Reply> replies;
  while (replies.size() < commands.size()) {
    if (const Reply* const reply = reader_.next())
      replies.push_back(*reply);
    else if (reader_.error() != nullptr)
      fail(reader_.error());
    else
      receive();
  }
  return replies;
}

Reply RealServer::ask(std::vector<std::string> command) { return ask(std::span{&command, 1}).front(); }

void RealServer::set_mode(Server::Mode mode) {
  const bool full = mode == Server::Mode::out_of_memory;
  const bool replica = mode == Server::Mode::read_only;
  const std::vector<std::string> commands[] = {{"CONFIG", "SET", "maxmemory", full ? "1" : "0"},
                                               replica
                                                   ? std::vector<std::string>{"REPLICAOF", "127.0.0.1", "1"}
                                                   : std::vector<std::string>{"REPLICAOF", "NO", "ONE"}};
  for (const Reply& reply : ask(commands))
    if (!reply.is(Reply::Kind::status)) fail(reply.text);
}

bool RealServer::is_redis_7_0() {
  const std::string info = ask({"INFO", "server"}).text;
  return info.find("\nredis_version:7.0.") != std::string::npos && info.find("valkey") == std::string::npos;
}

void RealServer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size > 0)
      bytes.remove_prefix(static_cast<std::size_t>(size));
    else if (errno == EAGAIN)
      wait_for(socket_.get(), POLLOUT);
    else if (errno != EINTR)
      fail(std::strerror(errno));
  }
}

void RealServer::receive() {
  std::array<char, 65536> buffer;
  wait_for(socket_.get(), POLLIN);
  const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (size == 0) fail("the connection was closed");
  if (size < 0 && errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
  if (size > 0) reader_.feed(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace redlock::simulation
