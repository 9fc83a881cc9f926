#include "node_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "redlock/core/scripts.hpp"

namespace redlock::benchmark {
namespace {

constexpr timeval patience{.tv_sec = patience_ms / 1000, .tv_usec = 0};

// What the reader hands out in place of reply objects. Whatever has no function here comes as its type.
void* as_tag(std::uintptr_t type) { return reinterpret_cast<void*>(type); }

void* vote_of_integer(const redisReadTask*, long long value) {
  return as_tag(value == 1 ? REDIS_REPLY_STATUS : REDIS_REPLY_NIL);
}

void* keep_error_text(const redisReadTask* task, char* text, std::size_t size) {
  if (task->type == REDIS_REPLY_ERROR) static_cast<std::string*>(task->privdata)->assign(text, size);
  return as_tag(static_cast<std::uintptr_t>(task->type));
}

redisReplyObjectFunctions* votes_only() {
  static redisReplyObjectFunctions functions = [] {
    redisReplyObjectFunctions made{};
    made.createString = keep_error_text;
    made.createInteger = vote_of_integer;
    return made;
  }();
  return &functions;
}

std::string load_release_script(redisContext& context) {
  const std::string_view source = core::release_script.source;
  auto* reply =
      static_cast<redisReply*>(redisCommand(&context, "SCRIPT LOAD %b", source.data(), source.size()));
  if (reply == nullptr) throw std::runtime_error{std::string{"loading the script: "} + context.errstr};
  const std::string text{reply->str, static_cast<std::size_t>(reply->len)};
  const bool loaded = reply->type == REDIS_REPLY_STRING;
  freeReplyObject(reply);
  if (!loaded) throw std::runtime_error{"loading the script: " + text};
  return text;
}

}  // namespace

NodeConnection::NodeConnection(std::uint16_t port)
    : port_{port},
      context_{redisConnectWithTimeout("127.0.0.1", port, patience)},
      error_reply_{std::make_unique<std::string>()} {
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(context_->errstr);
  const int on = 1;
  if (::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail(std::strerror(errno));
  if (redisSetTimeout(context_.get(), patience) != REDIS_OK) fail(context_->errstr);
  release_sha_ = load_release_script(*context_);
  context_->reader->fn = votes_only();
  context_->reader->privdata = error_reply_.get();
}

void NodeConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EINTR)
      fail(std::strerror(errno));
  }
}

void NodeConnection::receive() {
  if (redisBufferRead(context_.get()) != REDIS_OK) fail(context_->errstr);
}

std::optional<bool> NodeConnection::next_vote() {
  void* reply = nullptr;
  if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) fail(context_->reader->errstr);
  switch (reinterpret_cast<std::uintptr_t>(reply)) {
    case 0:
      return std::nullopt;
    case REDIS_REPLY_STATUS:
      return true;
    case REDIS_REPLY_NIL:
      return false;
    case REDIS_REPLY_ERROR:
      fail(*error_reply_);
    default:
      fail("not an answer to what was asked");
  }
}

void NodeConnection::fail(std::string_view what) const {
  throw std::runtime_error{"127.0.0.1:" + std::to_string(port_) + ": " + std::string{what}};
}

void wait_for_answers(std::span<pollfd> descriptors) {
  for (;;) {
    const int ready = ::poll(descriptors.data(), descriptors.size(), patience_ms);
    if (ready > 0) return;
    if (ready == 0) throw std::runtime_error{"no answer within " + std::to_string(patience_ms) + " ms"};
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "poll"};
  }
}

}  // namespace redlock::benchmark
