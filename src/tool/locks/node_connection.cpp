#include "tool/locks/node_connection.hpp"

#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <cerrno>
#include <cstddef>
#include <new>

namespace redlock::tool {
namespace {

constexpr timeval patience{2, 0};

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
  const Reply reply = receive();
  if (reply.kind != Reply::Kind::error) return;
  // A server without AUTH repeats the beginning of its arguments, and so of the password. Show the code of the error only.
  if (command.front() == "AUTH") throw NodeFailure{"the server refuses the login" + known_code(reply.text)};
  throw NodeFailure{reply.text};
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
  for (int done = 0; done == 0;)
    if (::redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(*context_);
}

Reply NodeConnection::receive() {
  void* raw = nullptr;
  if (::redisGetReply(context_.get(), &raw) != REDIS_OK) fail(*context_);
  const std::unique_ptr<redisReply, FreeReply> reply{static_cast<redisReply*>(raw)};
  return reply_of(*reply);
}

}  // namespace redlock::tool
