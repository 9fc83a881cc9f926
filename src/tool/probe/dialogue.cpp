#include "tool/probe/dialogue.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::tool {
namespace {

using core::Reply;
using detail::Connection;

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr Clock::duration no_limit = Clock::duration::max();

std::string in_words(Clock::duration time) {
  return core::readable(std::chrono::floor<std::chrono::milliseconds>(time));
}

std::size_t bytes_of(const Reply& reply) {
  std::size_t bytes = sizeof reply + reply.text.size();
  for (const Reply& element : reply.elements) bytes += bytes_of(element);
  return bytes;
}

}  // namespace

Secret login_command(const Endpoint& node) {
  detail::WipedString command;
  if (!node.user().empty())
    core::append_command(command, {"AUTH", node.user(), node.password()});
  else if (!node.password().empty())
    core::append_command(command, {"AUTH", node.password()});
  return std::string_view{command};
}

void Dialogue::fail(core::Trouble trouble) {
  trouble_ = std::move(trouble);
  if (trouble_.message.empty()) trouble_.message = redlock::to_string(trouble_.status);
}

/// Waits for the socket. Returns false if the time is over.
bool Dialogue::wait(Clock::time_point until) {
  constexpr std::chrono::milliseconds longest = std::chrono::hours{1};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() <= 0) return false;
  std::array<pollfd, 2> polls{pollfd{connection_.fd(), connection_.events(!unsent_.empty()), 0},
                              pollfd{interruption_ ? interruption_->fd() : -1, POLLIN, 0}};
  const int ready = ::poll(polls.data(), polls.size(), static_cast<int>(std::min(left, longest).count()));
  if (ready > 0 && polls[1].revents != 0) fail({NodeStatus::not_awaited, "interrupted"});
  return ready != 0 || left > longest;
}

bool Dialogue::connect() {
  const Clock::time_point until = Clock::now() + limits_.connecting;
  Connection::Dial dial = connection_.dial();
  while (dial == Connection::Dial::pending && !has_failed()) {
    const Clock::time_point next = std::min(until, connection_.timer());
    if (wait(next) || (next < until && !has_failed()))
      dial = connection_.proceed();
    else
      fail({NodeStatus::timed_out, "no connection within " + in_words(limits_.connecting) +
                                       (node_.transport() == Endpoint::Transport::tls
                                            ? "; it hangs, or does not speak TLS at this port"
                                            : "")});
  }
  if (dial == Connection::Dial::failed) fail(connection_.trouble());
  return !has_failed();
}

bool Dialogue::log_in() {
  const Secret login = login_command(node_);
  if (!login.empty()) {
    send(login.text());
    const std::vector<Reply> replies = receive(1);
    if (!replies.empty() && replies.front().is(Reply::Kind::error))
      fail(core::trouble_of_login(replies.front().text));
  }
  if (node_.db() != 0 && !has_failed()) {
    send(core::command({"SELECT", std::to_string(node_.db())}));
    const std::vector<Reply> replies = receive(1);
    if (!replies.empty() && replies.front().is(Reply::Kind::error))
      fail(core::trouble_of_error(replies.front().text));
  }
  return !has_failed();
}

void Dialogue::send(std::string_view commands) {
  unsent_ += commands;
  flush();
}

void Dialogue::flush() {
  if (unsent_.empty()) return;
  if (const std::optional<std::size_t> sent = connection_.send(unsent_))
    unsent_.erase(0, *sent);
  else
    fail(connection_.trouble());
}

std::vector<Reply> Dialogue::receive(std::size_t count) {
  std::vector<Reply> replies = read(count, limits_.silence, limits_.exchange);
  if (replies.size() <= count) return replies;
  replies.resize(count);
  fail({NodeStatus::protocol_error, "it sends more than it was asked for"});
  return replies;
}

std::vector<Reply> Dialogue::receive_at_least(std::size_t count) {
  return read(count, limits_.silence, limits_.exchange);
}

std::vector<Reply> Dialogue::listen() { return read(1, no_limit, no_limit); }

std::vector<Reply> Dialogue::read(std::size_t count, Clock::duration silence, Clock::duration exchange) {
  const Clock::time_point end = core::later(Clock::now(), exchange);
  Clock::time_point quiet_until = core::later(Clock::now(), silence);
  std::vector<Reply> replies;
  std::size_t bytes = 0;
  while (replies.size() < count && !has_failed()) {
    flush();
    if (has_failed()) break;
    const Connection::Received received = connection_.receive(*room_, [&](const Reply& reply) {
      bytes += bytes_of(reply);
      if (bytes <= most_bytes) replies.push_back(reply);
    });
    if (received == Connection::Received::failed) fail(connection_.trouble());
    if (bytes > most_bytes) fail({NodeStatus::protocol_error, "the answer is too long"});
    if (replies.size() >= count || has_failed()) break;
    if (wait(std::min(quiet_until, end)))
      quiet_until = core::later(Clock::now(), silence);
    else if (quiet_until <= end)
      fail({NodeStatus::timed_out, "no answer within " + in_words(silence)});
    else
      fail({NodeStatus::timed_out, "no complete answer within " + in_words(exchange)});
  }
  return replies;
}

std::string Dialogue::address() const {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, NI_MAXHOST> host{};
  auto* const address = reinterpret_cast<sockaddr*>(&peer);
  if (::getpeername(connection_.fd(), address, &size) != 0 || peer.ss_family == AF_UNIX) return {};
  if (::getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return host.data();
}

}  // namespace redlock::tool
