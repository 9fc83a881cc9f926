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

RealConnection::RealConnection(std::uint16_t port) : socket_{testing::detail::connect_to_loopback(port)} {
  if (!socket_) fail(std::strerror(errno));
  wait_for(socket_.get(), POLLOUT);
}

std::vector<Reply> RealConnection::ask(std::span<const std::vector<std::string>> commands) {
  send(commands);
  std::vector<Reply> replies;
  while (replies.size() < commands.size()) replies.push_back(next());
  return replies;
}

Reply RealConnection::ask(std::vector<std::string> command) { return ask(std::span{&command, 1}).front(); }

std::vector<Reply> RealConnection::say(const std::vector<std::string>& command) {
  send(std::span{&command, 1});
  return listen();
}

std::vector<Reply> RealConnection::listen() {
  const std::vector<std::string> ping{"PING", "the last one"};
  send(std::span{&ping, 1});
  const auto is_last = [&](const Reply& reply) {
    return reply.text == ping[1] || (reply.elements.size() == 2 && reply.elements[1].text == ping[1]);
  };
  std::vector<Reply> replies;
  for (Reply reply = next(); !is_last(reply); reply = next()) replies.push_back(std::move(reply));
  return replies;
}

void RealConnection::send(std::span<const std::vector<std::string>> commands) {
  std::string bytes;
  for (const auto& command : commands) {
    const std::vector<std::string_view> words{command.begin(), command.end()};
    core::append_command(bytes, words);
  }
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t size = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (size > 0)
      left.remove_prefix(static_cast<std::size_t>(size));
    else if (errno == EAGAIN)
      wait_for(socket_.get(), POLLOUT);
    else if (errno != EINTR)
      fail(std::strerror(errno));
  }
}

Reply RealConnection::next() {
  for (;;) {
    if (const Reply* const reply = reader_.next()) return *reply;
    if (reader_.error() != nullptr) fail(reader_.error());
    receive();
  }
}

void RealConnection::receive() {
  std::array<char, 65536> buffer;
  wait_for(socket_.get(), POLLIN);
  const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (size == 0) fail("the connection was closed");
  if (size < 0 && errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
  if (size > 0) reader_.feed(buffer.data(), static_cast<std::size_t>(size));
}

// One database, as the simulated server has. Sorted sets are always compact, as short ones are. Keys expire only on access.
RealServer::RealServer(const std::string& program)
    : nodes_{1, {.arguments = {"--databases", "1", "--zset-max-listpack-value", "1000"}, .server = program}},
      connection_{nodes_.port(0)},
      listener_{nodes_.port(0)} {
  if (connection_.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).text != "OK") fail("DEBUG is not available");
}

void RealServer::set_mode(Server::Mode mode) {
  const bool full = mode == Server::Mode::out_of_memory;
  const bool replica = mode == Server::Mode::read_only;
  const std::vector<std::string> commands[] = {{"CONFIG", "SET", "maxmemory", full ? "1" : "0"},
                                               replica
                                                   ? std::vector<std::string>{"REPLICAOF", "127.0.0.1", "1"}
                                                   : std::vector<std::string>{"REPLICAOF", "NO", "ONE"}};
  configure(commands);
}

void RealServer::set_acl(const Acl& acl) {
  std::vector<std::string> command{"ACL",   "SETUSER",       "default",
                                   "+@all", "resetchannels", "&" + acl.channels + "*"};
  for (const std::string& forbidden : acl.forbidden) command.push_back("-" + forbidden);
  configure(std::span{&command, 1});
}

void RealServer::configure(std::span<const std::vector<std::string>> commands) {
  for (const Reply& reply : connection_.ask(commands))
    if (!reply.is(Reply::Kind::status)) fail(reply.text);
}

bool RealServer::is_redis_7_0() {
  const std::string info = connection_.ask({"INFO", "server"}).text;
  return info.find("\nredis_version:7.0.") != std::string::npos && info.find("valkey") == std::string::npos;
}

}  // namespace redlock::simulation
