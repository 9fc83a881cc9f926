#include "redlock/testing/local_nodes.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "redlock/core/base/percent.hpp"
#include "testing/local_servers.hpp"

namespace redlock::testing {

LocalNodes::LocalNodes(int count, LocalNodesOptions options) {
  if (count < 1) throw std::invalid_argument{"the number of Redis servers must be at least 1"};
  servers_ = std::make_unique<detail::LocalServers>(count, std::move(options));
}

LocalNodes::~LocalNodes() = default;

int LocalNodes::size() const noexcept { return servers_->size(); }

std::uint16_t LocalNodes::port(int node) const { return servers_->at(node).port(); }

std::string LocalNodes::url(int node) const {
  const std::string& password = servers_->options().password;
  const std::string login = password.empty() ? "" : ":" + core::percent_encoded(password) + "@";
  const std::string scheme = servers_->options().tls ? "rediss://" : "redis://";
  return scheme + login + "127.0.0.1:" + std::to_string(port(node));
}

std::vector<std::string> LocalNodes::urls() const {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (int i = 0; i < size(); ++i) all.push_back(url(i));
  return all;
}

std::string LocalNodes::url_list() const {
  std::string list;
  for (const std::string& each : urls()) list += (list.empty() ? "" : ",") + each;
  return list;
}

TlsOptions LocalNodes::tls_options() const { return servers_->tls_options(); }

std::string LocalNodes::socket_path(int node) const { return servers_->at(node).socket_path(); }

bool LocalNodes::running(int node) const {
  const std::lock_guard lock{servers_->mutex()};
  return servers_->at(node).running();
}

pid_t LocalNodes::pid(int node) const {
  const std::lock_guard lock{servers_->mutex()};
  detail::LocalServer& server = servers_->at(node);
  if (!server.running()) throw std::logic_error{"Redis server " + std::to_string(node) + " is not running"};
  return server.pid();
}

void LocalNodes::kill(int node) {
  const std::lock_guard lock{servers_->mutex()};
  servers_->at(node).kill();
}

void LocalNodes::pause(int node) {
  const std::lock_guard lock{servers_->mutex()};
  servers_->at(node).pause();
}

void LocalNodes::resume(int node) {
  const std::lock_guard lock{servers_->mutex()};
  servers_->at(node).resume();
}

void LocalNodes::restart_empty(int node) {
  const std::lock_guard lock{servers_->mutex()};
  servers_->restart(servers_->at(node), false);
}

void LocalNodes::restart_with_data(int node) {
  if (!servers_->options().persist)
    throw std::logic_error{"restart_with_data() needs LocalNodesOptions::persist"};
  const std::lock_guard lock{servers_->mutex()};
  servers_->restart(servers_->at(node), true);
}

}  // namespace redlock::testing
