#include "testing/local_server.hpp"
#include "redlock/core/base/hex.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "testing/process.hpp"

namespace redlock::testing::detail {
namespace {

std::string resp(const std::vector<std::string>& command) {
  std::string text = "*" + std::to_string(command.size()) + "\r\n";
  for (const std::string& word : command) text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return text;
}

Fd connect_to_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw std::runtime_error{"the path of a unix socket is too long; set TMPDIR to a shorter path: " + path};
  }
  path.copy(address.sun_path, path.size());
  Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const timeval timeout{1, 0};
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

/// Reads `count` lines, or fewer if the server sends nothing for a second.
std::string read_lines(const Fd& fd, int count) {
  std::string text;
  std::array<char, 256> buffer{};
  while (std::count(text.begin(), text.end(), '\n') < count) {
    const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

/// Writes a configuration file with the password. As an argument, other users of this machine could read it,
/// and Valkey 8 accepts none with a quote in it.
void write_password(const std::string& path, std::string_view password) {
  std::string text = "requirepass \"";
  for (const char c : password) core::append_hex(text += "\\x", static_cast<unsigned char>(c));
  std::ofstream file{path};
  file << text << "\"\n" << std::flush;
  if (!file) throw std::runtime_error{"cannot write " + path};
}

[[noreturn]] void refuse_dead(std::uint16_t port) {
  throw std::logic_error{"the Redis server on port " + std::to_string(port) + " is not running"};
}

}  // namespace

void LocalServer::start(const ServerPlan& plan) {
  std::filesystem::create_directories(folder_);
  // Remove the old socket, which would make the server seem to exist.
  std::filesystem::remove(socket_path());
  std::vector<std::string> arguments{plan.program};
  if (!plan.password.empty()) {
    arguments.push_back(folder_ + "/password");
    write_password(arguments.back(), plan.password);
  }
  const auto add = [&](const auto& more) { arguments.insert(arguments.end(), more.begin(), more.end()); };
  if (plan.speaks_tls) add(std::initializer_list<std::string>{"--port", "0"});
  add(std::initializer_list<std::string>{plan.speaks_tls ? "--tls-port" : "--port", std::to_string(port()),
                                         "--bind", "127.0.0.1", "--dir", folder_, "--unixsocket",
                                         socket_path(), "--daemonize", "no", "--logfile", ""});
  add(plan.arguments);
  pid_ = launch({.arguments = std::move(arguments), .output = log_path(), .group = plan.group});
}

bool LocalServer::answers(const ServerPlan& plan) const {
  const Fd fd = connect_to_socket(socket_path());
  if (!fd) return false;
  std::string request = resp({"PING"});
  if (!plan.password.empty()) request.insert(0, resp({"AUTH", plan.password}));
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
  const int lines = plan.password.empty() ? 1 : 2;
  const std::string reply = read_lines(fd, lines);
  // Other errors result from the user's own arguments, such as users without permissions: the server is up.
  return std::count(reply.begin(), reply.end(), '\n') == lines && reply.find("-LOADING") == std::string::npos;
}

bool LocalServer::running() noexcept {
  if (pid_ != 0 && reap(pid_, WNOHANG)) pid_ = 0;
  if (pid_ == 0) paused_ = false;
  return pid_ != 0;
}

void LocalServer::kill() noexcept {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  reap(pid_);
  pid_ = 0;
  paused_ = false;
}

void LocalServer::pause() {
  if (!running()) refuse_dead(port());
  if (paused_) return;
  ::kill(pid_, SIGSTOP);
  int status = 0;
  pid_t result = 0;
  do {
    result = ::waitpid(pid_, &status, WUNTRACED);
  } while (result < 0 && errno == EINTR);
  paused_ = result == pid_ && WIFSTOPPED(status);
  if (paused_) return;
  pid_ = 0;
  refuse_dead(port());
}

void LocalServer::resume() {
  if (!running()) refuse_dead(port());
  if (paused_) ::kill(pid_, SIGCONT);
  paused_ = false;
}

void LocalServer::forget_data() { std::filesystem::remove_all(folder_); }

}  // namespace redlock::testing::detail
