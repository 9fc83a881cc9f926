#include "support/network/raw_client.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "testing/loopback_port.hpp"

namespace redlock::testing {
namespace {

using Time = std::chrono::steady_clock::time_point;

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { ::freeReplyObject(reply); }
};
struct FreeReader {
  void operator()(redisReader* reader) const noexcept { ::redisReaderFree(reader); }
};

std::string as_text(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_ERROR:
      return "-" + std::string{reply.str, reply.len};
    case REDIS_REPLY_ARRAY:
      break;
    default:
      return {reply.str, reply.len};
  }
  std::string text = "[";
  for (std::size_t i = 0; i < reply.elements; ++i) text += (i == 0 ? "" : ", ") + as_text(*reply.element[i]);
  return text + "]";
}

std::string encoded(const std::vector<std::string>& arguments) {
  std::string text = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string& a : arguments) text += "$" + std::to_string(a.size()) + "\r\n" + a + "\r\n";
  return text;
}

/// The rest of the line that begins with `start`.
std::optional<std::string> line_after(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t from = at + 1 + start.size();
  return text.substr(from, text.find_first_of("\r\n", from) - from);
}

}  // namespace

struct RawClient::Reply {
  std::unique_ptr<redisReply, FreeReply> value;
};

/// One connection. Does not use a connection of hiredis, which raises SIGPIPE on a dead server and has no
/// deadline per call.
class RawClient::Connection {
 public:
  Connection(std::uint16_t port, std::chrono::seconds patience)
      : port_{port},
        patience_{patience},
        socket_{detail::connect_to_loopback(port)},
        reader_{::redisReaderCreate()} {
    if (!socket_) fail(std::strerror(errno));
  }

  Reply exchange(const std::vector<std::string>& arguments) {
    const Time deadline = std::chrono::steady_clock::now() + patience_;
    send(encoded(arguments), deadline);
    for (;;) {
      void* reply = nullptr;
      if (::redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) fail(reader_->errstr);
      if (reply != nullptr) return {std::unique_ptr<redisReply, FreeReply>{static_cast<redisReply*>(reply)}};
      receive(deadline);
    }
  }

 private:
  void send(std::string_view bytes, Time deadline) {
    while (!bytes.empty()) {
      wait_for(POLLOUT, deadline);
      const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size < 0 && errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
      if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  void receive(Time deadline) {
    std::array<char, 16384> buffer;
    wait_for(POLLIN, deadline);
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size == 0) fail("the connection was closed");
    if (size < 0 && errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
    if (size > 0 &&
        ::redisReaderFeed(reader_.get(), buffer.data(), static_cast<std::size_t>(size)) != REDIS_OK) {
      fail(reader_->errstr);
    }
  }

  void wait_for(short events, Time deadline) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) fail("no answer within " + std::to_string(patience_.count()) + " s");
      pollfd poll_for{socket_.get(), events, 0};
      const int ready = ::poll(&poll_for, 1, static_cast<int>(left.count()));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error{"Redis server on port " + std::to_string(port_) + ": " + why};
  }

  const std::uint16_t port_;
  const std::chrono::seconds patience_;
  detail::Fd socket_;
  std::unique_ptr<redisReader, FreeReader> reader_;
};

RawClient::RawClient(std::uint16_t port, std::string password, std::chrono::seconds patience)
    : port_{port}, password_{std::move(password)}, patience_{patience} {}
RawClient::~RawClient() = default;
RawClient::RawClient(RawClient&&) noexcept = default;
RawClient& RawClient::operator=(RawClient&&) noexcept = default;

RawClient::Reply RawClient::ask(const std::vector<std::string>& arguments) {
  // Taken out while in use, so that after an exception the next call connects again.
  std::unique_ptr<Connection> connection = std::move(connection_);
  if (!connection) {
    connection = std::make_unique<Connection>(port_, patience_);
    if (!password_.empty()) connection->exchange({"AUTH", password_});
  }
  Reply reply = connection->exchange(arguments);
  connection_ = std::move(connection);
  return reply;
}

std::string RawClient::command(const std::vector<std::string>& arguments) {
  return as_text(*ask(arguments).value);
}

namespace {

/// Returns the reply if it has the type that the command promises, and throws otherwise.
const redisReply& expect(const redisReply& reply, int type) {
  if (reply.type != type) throw std::runtime_error{"unexpected reply from a Redis server: " + as_text(reply)};
  return reply;
}

}  // namespace

std::optional<std::string> RawClient::get(std::string_view key) {
  const Reply reply = ask({"GET", std::string{key}});
  if (reply.value->type == REDIS_REPLY_NIL) return std::nullopt;
  return as_text(expect(*reply.value, REDIS_REPLY_STRING));
}

long long RawClient::pttl(std::string_view key) {
  return expect(*ask({"PTTL", std::string{key}}).value, REDIS_REPLY_INTEGER).integer;
}

bool RawClient::del(std::string_view key) {
  return expect(*ask({"DEL", std::string{key}}).value, REDIS_REPLY_INTEGER).integer == 1;
}

std::vector<std::string> RawClient::keys(std::string_view pattern) {
  const Reply reply = ask({"KEYS", std::string{pattern}});
  const redisReply& array = expect(*reply.value, REDIS_REPLY_ARRAY);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < array.elements; ++i) all.push_back(as_text(*array.element[i]));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> RawClient::locks() {
  std::vector<std::string> all = keys();
  std::erase_if(all, [](const std::string& key) { return key.starts_with("redlock:"); });
  return all;
}

std::uint64_t RawClient::calls(std::string_view command) {
  const Reply reply = ask({"INFO", "commandstats"});
  const std::string text = as_text(expect(*reply.value, REDIS_REPLY_STRING));
  const auto count = line_after(text, "cmdstat_" + std::string{command} + ":calls=");
  return count ? std::stoull(*count) : 0;
}

std::map<std::string, std::uint64_t> RawClient::all_calls() {
  const Reply reply = ask({"INFO", "commandstats"});
  std::istringstream lines{as_text(expect(*reply.value, REDIS_REPLY_STRING))};
  const std::string start = "cmdstat_";
  const std::string middle = ":calls=";
  std::map<std::string, std::uint64_t> all;
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find(middle); line.starts_with(start) && at != std::string::npos)
      all[line.substr(start.size(), at - start.size())] = std::stoull(line.substr(at + middle.size()));
  return all;
}

std::optional<std::string> RawClient::info(std::string_view field) {
  const Reply reply = ask({"INFO", "all"});
  return line_after(as_text(expect(*reply.value, REDIS_REPLY_STRING)), std::string{field} + ":");
}

}  // namespace redlock::testing
