#include "tool/locks/node_connection.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>

namespace redlock::tool {
namespace {

constexpr std::chrono::seconds longest_silence{2};
constexpr timeval patience{longest_silence.count(), 0};
constexpr std::chrono::seconds longest_exchange{10};
constexpr std::size_t most_bytes = std::size_t{16} << 20U;

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { ::freeReplyObject(reply); }
};

redisContext* connect_to(const Endpoint& node) {
  if (node.transport() == Endpoint::Transport::unix_socket)
    return ::redisConnectUnixWithTimeout(node.path().c_str(), patience);
  return ::redisConnectWithTimeout(node.host().c_str(), node.port(), patience);
}

[[noreturn]] void fail(const redisContext& context) {
  // hiredis has the text of EAGAIN when the time is over.
  const bool is_late = context.err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
  throw NodeFailure{is_late ? "no answer within 2 s" : context.errstr};
}

/// The code of an error of AUTH after a colon, or nothing if the text does not begin with one that is known.
std::string known_code(const std::string& error) {
  for (const std::string code : {"WRONGPASS", "NOAUTH", "ERR"})
    if (error == code || error.starts_with(code + ' ')) return ": " + code;
  return {};
}

Reply reply_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      return {};
    case REDIS_REPLY_INTEGER:
      return {.kind = Reply::Kind::number, .text = {}, .number = reply.integer, .elements = {}};
    case REDIS_REPLY_ARRAY: {
      Reply all{.kind = Reply::Kind::array, .text = {}, .number = 0, .elements = {}};
      for (std::size_t at = 0; at < reply.elements; ++at)
        all.elements.push_back(reply_of(*reply.element[at]));
      return all;
    }
    default:
      return {.kind = reply.type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::text,
              .text = {reply.str, reply.len},
              .number = 0,
              .elements = {}};
  }
}

}  // namespace

NodeFailure NodeFailure::of_error(std::string_view message) {
  return NodeFailure{message, message.starts_with("NOAUTH") || message.starts_with("NOPERM")};
}

void NodeConnection::Close::operator()(redisContext* context) const noexcept { ::redisFree(context); }

NodeConnection::NodeConnection(const Endpoint& node) : context_{connect_to(node)} {
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(*context_);
  ::redisSetTimeout(context_.get(), patience);
  if (!node.user().empty())
    expect_success({"AUTH", node.user(), node.password()});
  else if (!node.password().empty())
    expect_success({"AUTH", node.password()});
  if (node.db() != 0) expect_success({"SELECT", std::to_string(node.db())});
}

void NodeConnection::expect_success(const std::vector<std::string>& command) {
  send({command});
  const Reply reply = receive(1).front();
  if (reply.kind != Reply::Kind::error) return;
  // A server without AUTH repeats the beginning of its arguments, and so of the password. Show the code of the error only.
  if (command.front() == "AUTH")
    throw NodeFailure{"the server refuses the login" + known_code(reply.text), true};
  throw NodeFailure::of_error(reply.text);
}

void NodeConnection::send(const std::vector<std::vector<std::string>>& commands) {
  for (const std::vector<std::string>& command : commands) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string& word : command) {
      words.push_back(word.data());
      sizes.push_back(word.size());
    }
    if (::redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(),
                                 sizes.data()) != REDIS_OK)
      fail(*context_);
  }
  const Clock::time_point until = Clock::now() + longest_exchange;
  for (int done = 0; done == 0;) {
    if (Clock::now() >= until) throw NodeFailure{"it reads too slowly"};
    if (::redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(*context_);
  }
}

/// Reads what has arrived. Waits for it if there is nothing.
void NodeConnection::read_more(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() <= 0) throw NodeFailure{"no complete answer within 10 s"};
  pollfd socket{context_->fd, POLLIN, 0};
  const auto wait = std::min<std::chrono::milliseconds>(left, longest_silence);
  if (::poll(&socket, 1, static_cast<int>(wait.count())) == 0)
    throw NodeFailure{wait < longest_silence ? "no complete answer within 10 s" : "no answer within 2 s"};
  std::array<char, 16384> bytes{};
  const ssize_t size = ::recv(context_->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) throw NodeFailure{std::generic_category().message(errno)};
  if (size == 0) throw NodeFailure{"the server closed the connection"};
  received_ += static_cast<std::size_t>(size);
  if (received_ > most_bytes) throw NodeFailure{"the answer is too long"};
  if (::redisReaderFeed(context_->reader, bytes.data(), static_cast<std::size_t>(size)) != REDIS_OK)
    throw NodeFailure{context_->reader->errstr};
}

std::vector<Reply> NodeConnection::receive(std::size_t number) {
  const Clock::time_point until = Clock::now() + longest_exchange;
  received_ = 0;
  std::vector<Reply> replies;
  while (replies.size() < number) {
    void* raw = nullptr;
    if (::redisReaderGetReply(context_->reader, &raw) != REDIS_OK)
      throw NodeFailure{context_->reader->errstr};
    const std::unique_ptr<redisReply, FreeReply> reply{static_cast<redisReply*>(raw)};
    if (reply)
      replies.push_back(reply_of(*reply));
    else
      read_more(until);
  }
  return replies;
}

}  // namespace redlock::tool
