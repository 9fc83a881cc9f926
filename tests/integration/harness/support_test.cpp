// The local nodes behave as other tests rely on.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/exception_message.hpp"
#include "support/network/raw_client.hpp"
#include "support/own_process.hpp"
#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"

using namespace std::chrono_literals;
using redlock::testing::contains;
using redlock::testing::eventually;
using redlock::testing::exception_message;
using redlock::testing::LocalNodes;
using redlock::testing::RawClient;
using redlock::testing::status_of;
using redlock::testing::detail::connect_to_loopback;
using redlock::testing::detail::Fd;

namespace {

bool refuses_connections(std::uint16_t port) {
  const Fd fd = connect_to_loopback(port);
  if (!fd) return errno == ECONNREFUSED;
  pollfd polled{fd.get(), POLLOUT, 0};
  ::poll(&polled, 1, -1);
  return (polled.revents & POLLERR) != 0;
}

/// The state of a process as in /proc, for example 'T' for stopped; '-' if there is no such process.
char state_of(pid_t pid) {
  const std::string state = status_of(pid, "State");
  return state.empty() ? '-' : state.front();
}

std::filesystem::path folder_of(const LocalNodes& nodes) {
  return std::filesystem::path{nodes.socket_path(0)}.parent_path().parent_path();
}

}  // namespace

TEST_CASE("every_node_is_a_separate_server") {
  const LocalNodes nodes{3};
  REQUIRE(nodes.size() == 3);
  REQUIRE(nodes.urls().at(2) == "redis://127.0.0.1:" + std::to_string(nodes.port(2)));
  std::set<std::string> identities;
  for (int i = 0; i < nodes.size(); ++i) {
    RawClient client{nodes.port(i)};
    REQUIRE(client.info("process_id") == std::to_string(nodes.pid(i)));
    REQUIRE(std::filesystem::is_socket(nodes.socket_path(i)));
    identities.insert(client.info("run_id").value());
  }
  REQUIRE(identities.size() == 3);
  REQUIRE_THROWS_AS(nodes.port(3), std::out_of_range);
  REQUIRE_THROWS_AS(nodes.port(-1), std::out_of_range);
  REQUIRE_THROWS_AS(LocalNodes{0}, std::invalid_argument);
}

TEST_CASE("a_killed_node_refuses_connections_and_comes_back_empty_on_its_port") {
  LocalNodes nodes{2};
  RawClient client{nodes.port(0)};
  client.command({"SET", "key", "value"});
  const std::uint16_t port = nodes.port(0);
  nodes.kill(0);
  nodes.kill(0);
  REQUIRE_FALSE(nodes.running(0));
  REQUIRE(nodes.running(1));
  REQUIRE(refuses_connections(port));
  REQUIRE_THROWS_AS(nodes.pid(0), std::logic_error);
  REQUIRE_THROWS_AS(nodes.pause(0), std::logic_error);
  REQUIRE_THROWS_AS(nodes.resume(0), std::logic_error);
  REQUIRE_THROWS_AS(client.get("key"), std::runtime_error);

  nodes.restart_empty(0);
  REQUIRE(nodes.port(0) == port);
  REQUIRE(client.command({"PING"}) == "PONG");
  REQUIRE(client.get("key") == std::nullopt);
}

TEST_CASE("the_port_of_a_dead_node_stays_reserved") {
  LocalNodes nodes{1};
  nodes.kill(0);
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(nodes.port(0));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == -1);
  REQUIRE(errno == EADDRINUSE);
}

TEST_CASE("a_persistent_node_keeps_every_acknowledged_write_after_a_kill") {
  LocalNodes nodes{1, {.persist = true}};
  RawClient client{nodes.port(0)};
  REQUIRE(client.command({"SET", "key", "value"}) == "OK");
  nodes.kill(0);
  nodes.restart_with_data(0);
  REQUIRE(RawClient{nodes.port(0)}.get("key") == "value");
  nodes.restart_with_data(0);  // kills the node first
  REQUIRE(RawClient{nodes.port(0)}.get("key") == "value");

  nodes.restart_empty(0);
  REQUIRE(RawClient{nodes.port(0)}.keys().empty());
}

TEST_CASE("a_node_without_persistence_cannot_restart_with_data") {
  LocalNodes nodes{1};
  REQUIRE_THROWS_AS(nodes.restart_with_data(0), std::logic_error);
  REQUIRE(nodes.running(0));
}

TEST_CASE("a_paused_node_accepts_bytes_and_answers_when_resumed") {
  LocalNodes nodes{1};
  nodes.pause(0);
  nodes.pause(0);
  REQUIRE(state_of(nodes.pid(0)) == 'T');
  REQUIRE(nodes.running(0));
  const Fd fd = connect_to_loopback(nodes.port(0));
  const std::string ping = "PING\r\n";
  REQUIRE(::send(fd.get(), ping.data(), ping.size(), MSG_NOSIGNAL) == 6);

  nodes.resume(0);
  nodes.resume(0);
  pollfd polled{fd.get(), POLLIN, 0};
  REQUIRE(::poll(&polled, 1, 20'000) == 1);
  std::array<char, 8> reply{};
  REQUIRE(::recv(fd.get(), reply.data(), reply.size(), 0) == 7);
  REQUIRE(std::string{reply.data()} == "+PONG\r\n");
}

TEST_CASE("a_paused_node_can_be_killed_and_restarted") {
  LocalNodes nodes{1};
  nodes.pause(0);
  nodes.kill(0);
  REQUIRE(refuses_connections(nodes.port(0)));
  nodes.restart_empty(0);
  nodes.pause(0);
  nodes.restart_empty(0);
  REQUIRE(RawClient{nodes.port(0)}.command({"PING"}) == "PONG");
}

TEST_CASE("a_node_that_exits_by_itself_is_noticed") {
  LocalNodes nodes{1};
  REQUIRE_THROWS_AS(RawClient{nodes.port(0)}.command({"SHUTDOWN", "NOSAVE"}), std::runtime_error);
  REQUIRE(eventually([&] { return !nodes.running(0); }));
  nodes.restart_empty(0);
  REQUIRE(nodes.running(0));
}

TEST_CASE("a_password_is_required_and_part_of_the_url") {
  const LocalNodes nodes{1, {.password = "open, \"sesame\""}};
  REQUIRE(nodes.url(0) == "redis://:open%2C%20%22sesame%22@127.0.0.1:" + std::to_string(nodes.port(0)));
  REQUIRE_THAT(RawClient{nodes.port(0)}.command({"PING"}), contains("-NOAUTH"));
  REQUIRE((RawClient{nodes.port(0), "open, \"sesame\""}.command({"PING"})) == "PONG");
}

TEST_CASE("the_list_of_urls_names_each_server_whatever_the_password_is") {
  const LocalNodes nodes{2, {.password = "open, \"sesame\""}};
  REQUIRE(redlock::Endpoint::list(nodes.url_list()) ==
          std::vector<redlock::Endpoint>{nodes.url(0), nodes.url(1)});
}

TEST_CASE("arguments_reach_the_server_and_debug_is_allowed") {
  const LocalNodes nodes{1, {.arguments = {"--maxmemory", "3mb"}}};
  RawClient client{nodes.port(0)};
  REQUIRE(client.command({"CONFIG", "GET", "maxmemory"}) == "[maxmemory, 3145728]");
  REQUIRE(client.command({"DEBUG", "SLEEP", "0"}) == "OK");
}

TEST_CASE("a_server_that_cannot_start_is_reported_with_the_end_of_its_log") {
  const auto start = [] { LocalNodes{2, {.arguments = {"--no-such-option", "1"}}}; };
  REQUIRE_THAT(exception_message(start), contains("exited during startup") && contains("no-such-option"));
}

TEST_CASE("a_missing_server_program_is_reported_with_the_names_tried") {
  const auto start = [] { LocalNodes{1, {.server = "no-such-server"}}; };
  REQUIRE_THAT(exception_message(start), contains("tried: no-such-server") && contains("REDLOCK_SERVER"));
}

TEST_CASE("the_environment_chooses_the_server_program") {
  const char* before = std::getenv("REDLOCK_SERVER");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("REDLOCK_SERVER", "/no/such/server", 1);
  const std::string message = exception_message([] { LocalNodes{1}; });
  before != nullptr ? ::setenv("REDLOCK_SERVER", kept.c_str(), 1) : ::unsetenv("REDLOCK_SERVER");
  REQUIRE_THAT(message, contains("tried: /no/such/server"));
}

TEST_CASE("servers_inherit_no_descriptor_from_the_program") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);  // intentionally without close-on-exec
  const Fd reading{ends[0]};
  Fd writing{ends[1]};
  const LocalNodes nodes{1};
  writing.reset();
  char byte = 0;
  REQUIRE(::read(reading.get(), &byte, 1) == 0);  // hangs if a server or the watchdog has the writing end
}

TEST_CASE("servers_outlive_the_thread_that_started_them") {
  std::unique_ptr<LocalNodes> nodes;
  std::thread{[&] { nodes = std::make_unique<LocalNodes>(1); }}.join();
  REQUIRE(RawClient{nodes->port(0)}.command({"PING"}) == "PONG");
}

TEST_CASE("threads_may_kill_pause_and_restart_nodes_at_the_same_time") {
  LocalNodes nodes{2};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&nodes, node = i % 2] {
      for (int round = 0; round < 5; ++round) {
        nodes.restart_empty(node);
        // Pausing throws if another thread has killed the node in between.
        (void)exception_message([&] { nodes.pause(node); });
        (void)exception_message([&] { nodes.resume(node); });
        (void)nodes.running(1 - node);
        nodes.kill(node);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 2; ++i) REQUIRE_FALSE(nodes.running(i));
}

TEST_CASE("the_destructor_ends_the_servers_and_removes_their_files") {
  auto nodes = std::make_unique<LocalNodes>(3, redlock::testing::LocalNodesOptions{.persist = true});
  const auto folder = folder_of(*nodes);
  const std::array pids{nodes->pid(0), nodes->pid(1), nodes->pid(2)};
  nodes->pause(1);
  REQUIRE(std::filesystem::exists(folder));
  nodes.reset();
  for (const pid_t pid : pids) REQUIRE(state_of(pid) == '-');
  REQUIRE_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("the_destructor_in_a_forked_child_leaves_the_servers_alone") {
  auto nodes = std::make_unique<LocalNodes>(1);
  const pid_t child = ::fork();
  if (child == 0) {
    nodes.reset();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(RawClient{nodes->port(0)}.command({"PING"}) == "PONG");
  REQUIRE(std::filesystem::exists(folder_of(*nodes)));
}

TEST_CASE("a_process_killed_by_sigkill_leaves_no_server_and_no_file_behind") {
  struct Report {
    std::array<std::uint16_t, 3> ports;
    std::array<char, 200> folder;
  };
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    LocalNodes nodes{3, {.persist = true}};
    nodes.kill(0);
    nodes.restart_with_data(0);
    nodes.pause(1);
    Report report{{nodes.port(0), nodes.port(1), nodes.port(2)}, {}};
    folder_of(nodes).string().copy(report.folder.data(), report.folder.size() - 1);
    if (::write(ends[1], &report, sizeof report) != sizeof report) ::_exit(1);
    for (;;) ::pause();
  }
  const Fd reading{ends[0]};
  Fd{ends[1]}.reset();
  Report report{};
  REQUIRE(::read(reading.get(), &report, sizeof report) == sizeof report);
  const std::filesystem::path folder{report.folder.data()};
  for (const auto port : report.ports) REQUIRE_FALSE(refuses_connections(port));
  REQUIRE(std::filesystem::exists(folder));

  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  for (const auto port : report.ports) REQUIRE(eventually([&] { return refuses_connections(port); }));
  REQUIRE(eventually([&] { return !std::filesystem::exists(folder); }));
}
