#include "benchmark/floor/node_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::benchmark {
namespace {

constexpr timeval timeout{.tv_sec = timeout_ms / 1000, .tv_usec = 0};

}  // namespace

NodeConnection::NodeConnection(const RawAddress& address)
    : port_{address.port}, context_{redisConnectWithTimeout("127.0.0.1", address.port, timeout)} {
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(context_->errstr);
  const int on = 1;
  if (::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail(std::strerror(errno));
  if (redisSetTimeout(context_.get(), timeout) != REDIS_OK) fail(context_->errstr);
  if (!address.ca_file.empty()) tls_.emplace(descriptor(), address.ca_file);
  // Nobody repeats a command whose script the server does not know.
  for (const core::Script* const script : core::loaded_scripts) ask({"SCRIPT", "LOAD", script->source});
}

void NodeConnection::append(std::string_view command) {
  if (tls_) return tls_->append(command);
  if (redisAppendFormattedCommand(context_.get(), command.data(), command.size()) != REDIS_OK)
    fail(context_->errstr);
}

void NodeConnection::flush() {
  if (tls_) return tls_->flush();
  for (int done = 0; done == 0;)
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(context_->errstr);
}

void NodeConnection::receive() {
  if (tls_) return tls_->receive(*context_->reader);
  if (redisBufferRead(context_.get()) != REDIS_OK) fail(context_->errstr);
}

std::unique_ptr<redisReply, NodeConnection::Free> NodeConnection::next() {
  void* reply = nullptr;
  if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) fail(context_->errstr);
  return std::unique_ptr<redisReply, Free>{static_cast<redisReply*>(reply)};
}

std::optional<std::string> NodeConnection::ask(std::span<const std::string_view> words) {
  std::string command;
  core::append_command(command, words);
  append(command);
  flush();
  while (true) {
    receive();
    const auto reply = next();
    if (!reply) continue;
    if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
    std::string text{reply->str, static_cast<std::size_t>(reply->len)};
    if (reply->type == REDIS_REPLY_ERROR) fail(text);
    return text;
  }
}

std::optional<bool> NodeConnection::next_vote() {
  const auto reply = next();
  if (!reply) return std::nullopt;
  switch (reply->type) {
    case REDIS_REPLY_STATUS:
      return true;
    case REDIS_REPLY_NIL:
    case REDIS_REPLY_ARRAY:  // of a script that grants tokens: who has the lock
      return false;
    case REDIS_REPLY_INTEGER:
      return reply->integer > 0;  // a token, or 1
    case REDIS_REPLY_ERROR:
      fail({reply->str, static_cast<std::size_t>(reply->len)});
    default:
      fail("unexpected type of reply");
  }
}

std::optional<std::vector<std::int64_t>> NodeConnection::next_numbers() {
  const auto reply = next();
  if (!reply) return std::nullopt;
  if (reply->type == REDIS_REPLY_ERROR) fail({reply->str, static_cast<std::size_t>(reply->len)});
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < reply->elements; ++i) numbers.push_back(reply->element[i]->integer);
  return numbers;
}

void NodeConnection::fail(std::string_view what) const {
  throw std::runtime_error{"127.0.0.1:" + std::to_string(port_) + ": " + std::string{what}};
}

void wait_for_answers(std::span<pollfd> descriptors) {
  for (;;) {
    const int ready = ::poll(descriptors.data(), descriptors.size(), timeout_ms);
    if (ready > 0) return;
    if (ready == 0) throw std::runtime_error{"no answer within " + std::to_string(timeout_ms) + " ms"};
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "poll"};
  }
}

}  // namespace redlock::benchmark
