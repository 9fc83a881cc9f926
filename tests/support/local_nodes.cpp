#include "local_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "local_server.hpp"
#include "process.hpp"
#include "process_group.hpp"

namespace redlock::testing {
namespace {

using detail::LocalServer;
using detail::ServerPlan;

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string find_server(const std::string& wanted) {
  std::vector<std::string> names{"redis-server", "valkey-server"};
  const char* variable = std::getenv("REDLOCK_SERVER");
  if (variable != nullptr && *variable != '\0') names = {variable};
  if (!wanted.empty()) names = {wanted};
  std::string tried;
  for (const std::string& name : names) {
    if (const auto program = detail::find_program(name)) return *program;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  throw std::runtime_error{"no Redis server found (tried: " + tried +
                           "): install redis-server or valkey-server, or set REDLOCK_SERVER to its path"};
}

/// The number behind "v=" in what `redis-server --version` prints; 0 where there is none.
int major_version(const std::string& program, const std::string& folder) {
  const std::string output = folder + "/version";
  detail::reap(detail::launch({.arguments = {program, "--version"}, .output = output}));
  const std::string text = read_file(output);
  const std::size_t at = text.find("v=");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 2);
}

std::vector<std::string> server_arguments(const LocalNodesOptions& options, int version) {
  std::vector<std::string> arguments{"--save", "", "--loglevel", "warning", "--appendonly"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  add({options.persist ? "yes" : "no"});
  // Rewriting would only start more processes.
  if (options.persist) add({"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"});
  // Older servers always have DEBUG, and refuse to start with an option that they do not know.
  if (version >= 7) add({"--enable-debug-command", "yes"});
  if (!options.password.empty()) add({"--requirepass", options.password});
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  return arguments;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (plain) {
      result += c;
    } else {
      result += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return result;
}

}  // namespace

/// Everything behind the public object, so that its header needs none of it.
class LocalNodes::Servers {
 public:
  Servers(int count, LocalNodesOptions options);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  LocalServer& at(int node) {
    if (node < 0 || node >= size())
      throw std::out_of_range{"no Redis server has the number " + std::to_string(node)};
    return servers_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(servers_.size()); }
  [[nodiscard]] const LocalNodesOptions& options() const noexcept { return options_; }

  void restart(LocalServer&, bool with_data);

  std::mutex mutex;  ///< Guards what the servers do; ports and paths never change.

 private:
  void start_all();
  void kill_all() noexcept;
  void await(LocalServer&, std::chrono::steady_clock::time_point deadline);
  [[noreturn]] void report(LocalServer&, const std::string& what);

  const LocalNodesOptions options_;
  detail::ProcessGroup group_;
  ServerPlan plan_;
  std::vector<LocalServer> servers_;
};

LocalNodes::Servers::Servers(int count, LocalNodesOptions options) : options_{std::move(options)} {
  plan_.program = find_server(options_.server);
  plan_.arguments = server_arguments(options_, major_version(plan_.program, group_.folder()));
  plan_.password = options_.password;
  plan_.group = group_.id();
  for (int i = 0; i < count; ++i) servers_.emplace_back(group_.folder() + "/" + std::to_string(i));
  try {
    start_all();
  } catch (...) {
    kill_all();
    throw;
  }
}

LocalNodes::Servers::~Servers() {
  if (group_.is_ours()) kill_all();
}

void LocalNodes::Servers::start_all() {
  const auto deadline = std::chrono::steady_clock::now() + options_.start_timeout;
  for (LocalServer& server : servers_) server.start(plan_);
  for (LocalServer& server : servers_) await(server, deadline);
}

void LocalNodes::Servers::kill_all() noexcept {
  for (LocalServer& server : servers_) server.kill();
}

void LocalNodes::Servers::restart(LocalServer& server, bool with_data) {
  server.kill();
  if (!with_data) server.forget_data();
  server.start(plan_);
  await(server, std::chrono::steady_clock::now() + options_.start_timeout);
}

void LocalNodes::Servers::await(LocalServer& server, std::chrono::steady_clock::time_point deadline) {
  while (!server.answers(plan_)) {
    if (!server.running()) report(server, "ended while it was starting");
    if (std::chrono::steady_clock::now() >= deadline) report(server, "did not answer in time");
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

void LocalNodes::Servers::report(LocalServer& server, const std::string& what) {
  server.kill();
  constexpr std::size_t kTail = 2000;
  std::string log = read_file(server.log_path());
  if (log.size() > kTail) log.erase(0, log.size() - kTail);
  throw std::runtime_error{"the Redis server " + plan_.program + " on port " + std::to_string(server.port()) +
                           " " + what + "; the end of its log:\n" + log};
}

LocalNodes::LocalNodes(int count, LocalNodesOptions options) {
  if (count < 1) throw std::invalid_argument{"the number of Redis servers must be at least 1"};
  servers_ = std::make_unique<Servers>(count, std::move(options));
}

LocalNodes::~LocalNodes() = default;

int LocalNodes::size() const noexcept { return servers_->size(); }

std::uint16_t LocalNodes::port(int node) const { return servers_->at(node).port(); }

std::string LocalNodes::url(int node) const {
  const std::string& password = servers_->options().password;
  const std::string login = password.empty() ? "" : ":" + percent_encoded(password) + "@";
  return "redis://" + login + "127.0.0.1:" + std::to_string(port(node));
}

std::vector<std::string> LocalNodes::urls() const {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (int i = 0; i < size(); ++i) all.push_back(url(i));
  return all;
}

std::string LocalNodes::socket_path(int node) const { return servers_->at(node).socket_path(); }

bool LocalNodes::running(int node) const {
  const std::lock_guard lock{servers_->mutex};
  return servers_->at(node).running();
}

pid_t LocalNodes::pid(int node) const {
  const std::lock_guard lock{servers_->mutex};
  LocalServer& server = servers_->at(node);
  if (!server.running()) throw std::logic_error{"Redis server " + std::to_string(node) + " is not running"};
  return server.pid();
}

void LocalNodes::kill(int node) {
  const std::lock_guard lock{servers_->mutex};
  servers_->at(node).kill();
}

void LocalNodes::pause(int node) {
  const std::lock_guard lock{servers_->mutex};
  servers_->at(node).pause();
}

void LocalNodes::resume(int node) {
  const std::lock_guard lock{servers_->mutex};
  servers_->at(node).resume();
}

void LocalNodes::restart_empty(int node) {
  const std::lock_guard lock{servers_->mutex};
  servers_->restart(servers_->at(node), false);
}

void LocalNodes::restart_with_data(int node) {
  if (!servers_->options().persist)
    throw std::logic_error{"only servers that persist can restart with their data"};
  const std::lock_guard lock{servers_->mutex};
  servers_->restart(servers_->at(node), true);
}

}  // namespace redlock::testing
