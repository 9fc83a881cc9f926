#include "chaos/field/nodes.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "chaos/field/packets.hpp"
#include "support/network/raw_client.hpp"
#include "testing/process.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;
using testing::Cut;
using testing::Direction;

/// Writes a program that starts the server under the clock library. Each server has its clock beside its folder, which it
/// gets with `--dir`.
std::string server_with_clock(const std::string& folder, const std::string& clock_library) {
  const auto server = testing::detail::find_program("redis-server");
  if (!server) throw std::runtime_error{"there is no redis-server"};
  std::string path = folder + "/server";
  std::ofstream{path} << "#!/bin/sh\n"
                         "next=\n"
                         "for word; do\n"
                         "  [ \"$next\" != --dir ] || export "
                      << clock_file_variable
                      << "=\"$word.clock\"\n"
                         "  next=$word\n"
                         "done\n"
                         "LD_PRELOAD='"
                      << clock_library << "' exec '" << *server << "' \"$@\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

Direction direction_of(Kind kind) {
  if (kind == Kind::lost_to_node) return Direction::to_server;
  return kind == Kind::lost_to_client ? Direction::to_client : Direction::both;
}

Direction direction_of(Way way) {
  if (way == Way::commands) return Direction::to_server;
  return way == Way::replies ? Direction::to_client : Direction::both;
}

/// Keys that stay for longer than any lock.
bool is_lasting(const std::string& key) {
  return key.starts_with("redlock:node") || key.starts_with("redlock:quarantine") ||
         key.starts_with("redlock:f");
}

/// Throws std::runtime_error if a server refuses a command.
void check_reply(int node, const std::string& command, const std::string& reply) {
  if (reply.starts_with('-'))
    throw std::runtime_error{"node " + std::to_string(node) + " refuses " + command + ": " + reply};
}

std::chrono::nanoseconds own_clock() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace

Nodes::Nodes(int count, const std::string& folder, const std::string& clock_library)
    : nodes_{count,
             {.server = server_with_clock(folder, clock_library),
              .persist = true,
              // It reads again what it has written in the whole run.
              .start_timeout = std::chrono::minutes{2}}},
      folder_{folder},
      sleeps_(static_cast<std::size_t>(count)) {
  for (int node = 0; node < count; ++node) clocks_.emplace_back(folder_of(node) + ".clock");
  // Once more, as the clocks are there now.
  for (int node = 0; node < count; ++node) nodes_.restart_empty(node);
  for (int half = 0; half < halves; ++half)
    for (int node = 0; node < count; ++node)
      proxies_.push_back(std::make_unique<testing::Proxy>(nodes_.port(node)));
}

Nodes::~Nodes() = default;

std::vector<std::string> Nodes::urls(int half) const {
  std::vector<std::string> urls;
  for (int node = 0; node < size(); ++node) urls.push_back(proxies_.at(link_of(half, node))->url());
  return urls;
}

void Nodes::begin(const Fault& fault) {
  place_of(fault.kind) == Place::node ? begin_at_node(fault) : begin_at_link(fault);
}
void Nodes::end(const Fault& fault) {
  place_of(fault.kind) == Place::node ? end_at_node(fault) : end_at_link(fault);
}

void Nodes::begin_at_node(const Fault& fault) {
  const int node = fault.target;
  switch (fault.kind) {
    case Kind::crash:
    case Kind::crash_empty:
    case Kind::crash_old:
      return nodes_.kill(node);
    case Kind::stop:
      return nodes_.pause(node);
    case Kind::node_clock:
      return set_clock(node, milliseconds{fault.amount});
    case Kind::flush_scripts:
      return command(node, {"SCRIPT", "FLUSH"});
    case Kind::flush_all:
      return command(node, {"FLUSHALL"});
    case Kind::full:
      return command(node, {"CONFIG", "SET", "maxmemory", "1"});
    case Kind::sleep:
      return begin_sleep(node, fault.length);
    case Kind::kill_clients:
      return command(node, {"CLIENT", "KILL", "TYPE", "normal"});
    case Kind::kill_listeners:
      return command(node, {"CLIENT", "KILL", "TYPE", "pubsub"});
    case Kind::no_command:
      return command(node, {"ACL", "SETUSER", "default", "-evalsha", "-eval", "-set"});
    case Kind::no_channel:
      return command(node, {"ACL", "SETUSER", "default", "resetchannels"});
    case Kind::replica:
      return command(node, {"REPLICAOF", "127.0.0.1", std::to_string(nodes_.port(fault.amount))});
    default:
      throw std::logic_error{"no fault of a node"};
  }
}

void Nodes::end_at_node(const Fault& fault) {
  const int node = fault.target;
  switch (fault.kind) {
    case Kind::crash:
      keep_copy(node);
      return nodes_.restart_with_data(node);
    case Kind::crash_empty:
      return nodes_.restart_empty(node);
    case Kind::crash_old:
      put_copy_back(node);
      return nodes_.restart_with_data(node);
    case Kind::stop:
      keep_copy(node);
      return nodes_.resume(node);
    case Kind::node_clock:
      return set_clock(node, 0ms);
    case Kind::sleep:
      return end_sleep(node);
    case Kind::full:
      return command(node, {"CONFIG", "SET", "maxmemory", "0"});
    case Kind::no_command:
    case Kind::no_channel:
      return command(node, {"ACL", "SETUSER", "default", "+@all", "allchannels"});
    case Kind::replica:
      return command(node, {"REPLICAOF", "NO", "ONE"});
    default:
      return;  // over by itself
  }
}

void Nodes::begin_at_link(const Fault& fault) {
  testing::Proxy& proxy = *proxies_[static_cast<std::size_t>(fault.target)];
  switch (fault.kind) {
    case Kind::stall:
      return proxy.stall(true);
    case Kind::deaf_node:
      return proxy.stall(true, Direction::to_server);
    case Kind::deaf_client:
      return proxy.stall(true, Direction::to_client);
    case Kind::delay:
      return proxy.set_delay(milliseconds{fault.amount}, milliseconds{fault.amount});
    case Kind::throttle:
      return proxy.trickle(milliseconds{fault.amount}, direction_of(fault.way));
    case Kind::close:
      return proxy.cut(Cut::close);
    case Kind::reset:
      proxy.refuse(true);
      return proxy.cut(Cut::reset);
    case Kind::lost:
    case Kind::lost_to_node:
    case Kind::lost_to_client:
      return drop_packets(proxy.port(), direction_of(fault.kind), true);
    default:
      throw std::logic_error{"no fault of a link"};
  }
}

void Nodes::end_at_link(const Fault& fault) {
  testing::Proxy& proxy = *proxies_[static_cast<std::size_t>(fault.target)];
  switch (fault.kind) {
    case Kind::stall:
      return proxy.stall(false);
    case Kind::deaf_node:
      return proxy.stall(false, Direction::to_server);
    case Kind::deaf_client:
      return proxy.stall(false, Direction::to_client);
    case Kind::delay:
      return proxy.set_delay(0ns, 0ns);
    case Kind::throttle:
      return proxy.trickle(0ns, direction_of(fault.way));
    case Kind::reset:
      return proxy.refuse(false);
    case Kind::lost:
    case Kind::lost_to_node:
    case Kind::lost_to_client:
      return drop_packets(proxy.port(), direction_of(fault.kind), false);
    default:
      return;
  }
}

void Nodes::command(int node, const std::vector<std::string>& words) {
  check_reply(node, words.front(), testing::RawClient{nodes_.port(node)}.command(words));
}

/// The server's clock shows whether the clock library does its part.
void Nodes::set_clock(int node, milliseconds error) {
  clocks_[static_cast<std::size_t>(node)].set(error);
  const std::chrono::nanoseconds before = own_clock();
  const std::chrono::microseconds said = clock_of(node);
  if (said < before + error - 1ms || said > own_clock() + error + 1ms)
    throw std::runtime_error{"node " + std::to_string(node) + " has a clock that is wrong by " +
                             std::to_string(std::chrono::round<milliseconds>(said - before).count()) +
                             " ms instead of " + std::to_string(error.count()) + " ms"};
}

std::chrono::microseconds Nodes::clock_of(int node) const {
  const std::string reply = testing::RawClient{nodes_.port(node)}.command({"TIME"});
  check_reply(node, "TIME", reply);
  long long seconds = 0;
  long long microseconds = 0;
  if (std::sscanf(reply.c_str(), "[%lld, %lld]", &seconds, &microseconds) != 2)
    throw std::runtime_error{"no time: " + reply};
  return std::chrono::seconds{seconds} + std::chrono::microseconds{microseconds};
}

/// Faults of other targets go on meanwhile, so somebody else waits for the reply.
void Nodes::begin_sleep(int node, milliseconds length) {
  sleeps_[static_cast<std::size_t>(node)] =
      std::async(std::launch::async, [port = nodes_.port(node), length] {
        const auto patience = std::chrono::ceil<std::chrono::seconds>(length) + 10s;
        return testing::RawClient{port, "", patience}.command(
            {"DEBUG", "SLEEP", std::to_string(std::chrono::duration<double>{length}.count())});
      });
}

void Nodes::end_sleep(int node) {
  check_reply(node, "DEBUG SLEEP", sleeps_[static_cast<std::size_t>(node)].get());
}

std::string Nodes::folder_of(int node) const {
  return std::filesystem::path{nodes_.socket_path(node)}.parent_path();
}
std::string Nodes::copy_of(int node) const { return folder_ + "/copy-" + std::to_string(node); }

void Nodes::keep_copies() {
  for (int node = 0; node < size(); ++node) {
    nodes_.pause(node);
    keep_copy(node);
    nodes_.resume(node);
  }
}

/// Precondition: the server is dead or stopped. One without any data yet has no such folder.
void Nodes::keep_copy(int node) {
  const std::filesystem::path data = folder_of(node) + "/appendonlydir";
  std::filesystem::remove_all(copy_of(node));
  if (std::filesystem::exists(data))
    std::filesystem::copy(data, copy_of(node), std::filesystem::copy_options::recursive);
}

void Nodes::put_copy_back(int node) {
  const std::filesystem::path data = folder_of(node) + "/appendonlydir";
  std::filesystem::remove_all(data);
  if (std::filesystem::exists(copy_of(node)))
    std::filesystem::copy(copy_of(node), data, std::filesystem::copy_options::recursive);
}

std::vector<std::string> Nodes::keys_left() {
  std::vector<std::string> left;
  for (int node = 0; node < size(); ++node)
    for (const std::string& key : testing::RawClient{nodes_.port(node)}.keys())
      if (!is_lasting(key)) left.push_back(key + " on node " + std::to_string(node));
  return left;
}

}  // namespace redlock::chaos
