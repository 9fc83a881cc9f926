#include "benchmark/floor/node_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "redlock/core/wire/scripts.hpp"

namespace redlock::benchmark {
namespace {

constexpr timeval timeout{.tv_sec = timeout_ms / 1000, .tv_usec = 0};

std::string load_release_script(redisContext& context) {
  const std::string_view source = core::release_script.source;
  auto* reply =
      static_cast<redisReply*>(redisCommand(&context, "SCRIPT LOAD %b", source.data(), source.size()));
  if (reply == nullptr) throw std::runtime_error{std::string{"loading the script: "} + context.errstr};
  std::string text{reply->str, static_cast<std::size_t>(reply->len)};
  const bool loaded = reply->type == REDIS_REPLY_STRING;
  freeReplyObject(reply);
  if (!loaded) throw std::runtime_error{"loading the script: " + text};
  return text;
}

}  // namespace

NodeConnection::NodeConnection(std::uint16_t port)
    : port_{port}, context_{redisConnectWithTimeout("127.0.0.1", port, timeout)} {
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(context_->errstr);
  const int on = 1;
  if (::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail(std::strerror(errno));
  if (redisSetTimeout(context_.get(), timeout) != REDIS_OK) fail(context_->errstr);
  release_sha_ = load_release_script(*context_);
}

void NodeConnection::append(std::string_view command) {
  if (redisAppendFormattedCommand(context_.get(), command.data(), command.size()) != REDIS_OK)
    fail(context_->errstr);
}

void NodeConnection::flush() {
  for (int done = 0; done == 0;)
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(context_->errstr);
}

void NodeConnection::receive() {
  if (redisBufferRead(context_.get()) != REDIS_OK) fail(context_->errstr);
}

std::optional<bool> NodeConnection::next_vote() {
  void* next = nullptr;
  if (redisGetReplyFromReader(context_.get(), &next) != REDIS_OK) fail(context_->errstr);
  if (next == nullptr) return std::nullopt;
  const std::unique_ptr<redisReply, Free> reply{static_cast<redisReply*>(next)};
  switch (reply->type) {
    case REDIS_REPLY_STATUS:
      return true;
    case REDIS_REPLY_NIL:
      return false;
    case REDIS_REPLY_INTEGER:
      return reply->integer == 1;
    case REDIS_REPLY_ERROR:
      fail({reply->str, static_cast<std::size_t>(reply->len)});
    default:
      fail("unexpected type of reply");
  }
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
