// Servers that keep or lose a marker and a quarantine, and a client with a restart guard.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/wire/resp.hpp"
#include "unit/support/recording_outbox.hpp"

namespace redlock::testing {

/// max_ttl 60 s, quarantine 60.602 s, discovery time 500 ms.
inline core::RestartGuard::Settings example_guard(std::size_t nodes = 3) {
  using namespace std::chrono_literals;
  return {.nodes = nodes, .max_ttl = 60s, .discovery_time = 500ms};
}

/// The data of one server that `mark_script` reads and writes.
struct MarkedServer {
  struct Data {
    std::string marker;
    core::Time quarantined_until = core::Time::min();
    bool operator==(const Data&) const = default;
  };
  std::string run_id;
  Data data;
  core::Time started = core::Time::min();

  [[nodiscard]] bool is_quarantined(core::Time now) const { return now < data.quarantined_until; }
  /// The decision of a grant script.
  [[nodiscard]] bool grants(std::string_view beginning, core::Time now) const {
    return data.marker.starts_with(beginning) && !is_quarantined(now);
  }
  [[nodiscard]] core::Reply look(core::Time now) const {
    long long left = -2;
    if (is_quarantined(now))
      left = std::chrono::ceil<std::chrono::milliseconds>(data.quarantined_until - now).count();
    return array_reply({string_reply(data.marker), number(left), number(clock(now)), number(uptime(now)),
                        string_reply(run_id)});
  }
  /// In whole seconds.
  [[nodiscard]] long long uptime(core::Time now) const {
    return started == core::Time::min() ? 0 : std::chrono::floor<std::chrono::seconds>(now - started).count();
  }
  /// The server's wall clock in microseconds.
  [[nodiscard]] static long long clock(core::Time now) {
    return std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch() + std::chrono::hours{48})
        .count();
  }
  /// Executes a `look_command` or a `mark_command`, given as words.
  core::Reply execute(const std::vector<std::string>& words, core::Time now) {
    const std::string& expected = words.at(5);
    const std::string& marker = words.at(6);
    const std::chrono::milliseconds quarantine{std::stoll(words.at(7))};
    const long long age = clock(now) - std::stoll(words.at(8));
    if (!marker.empty() && data.marker == expected && age >= 0 && age <= 1'000'000) {
      if (quarantine == core::quarantine_ends) data.quarantined_until = core::Time::min();
      if (quarantine.count() > 0) data.quarantined_until = now + quarantine;
      data.marker = marker;
    }
    return look(now);
  }
};

/// The words of one encoded command.
inline std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string_view> words;
  core::take_command(bytes, words);
  return {words.begin(), words.end()};
}

/// The restart guard of one client, and its connections to some servers.
struct GuardedClient {
  explicit GuardedClient(std::vector<MarkedServer>& all, const core::RestartGuard::Settings& settings)
      : guard{settings}, outbox{all.size()}, servers{all} {
    for (const MarkedServer& server : servers) outbox.run_ids.push_back(server.run_id);
  }

  void connect(core::NodeIndex node, core::Time now) {
    outbox.run_ids[node] = servers[node].run_id;
    guard.connected(node, servers[node].look(now), now, outbox);
  }
  void connect_all(core::Time now) {
    for (core::NodeIndex node = 0; node < servers.size(); ++node) connect(node, now);
  }
  void disconnect(core::NodeIndex node, core::Time now) {
    for (Sent& sent : outbox.take()) under_way.push_back(std::move(sent));
    std::erase_if(under_way, [node](const Sent& sent) { return sent.node == node; });
    guard.disconnected(node, lost_connection(), now, outbox);
  }
  /// Executes and answers all commands that the guard has sent and sends in response. Returns their number.
  std::size_t serve(core::Time now) { return serve_some(std::numeric_limits<std::size_t>::max(), now); }
  /// The same for at most this many commands. The others stay under way until they are served.
  std::size_t serve_some(std::size_t most, core::Time now) {
    std::size_t count = 0;
    while (count < most && serve_any(0, now)) ++count;
    return count;
  }
  /// The same for one of the commands, chosen by this number. Returns false if there is none.
  bool serve_any(std::size_t which, core::Time now) {
    for (Sent& sent : outbox.take()) under_way.push_back(std::move(sent));
    if (under_way.empty()) return false;
    const auto chosen = under_way.begin() + static_cast<std::ptrdiff_t>(which % under_way.size());
    const Sent sent = std::move(*chosen);
    under_way.erase(chosen);
    guard.answered(sent.node, 0, servers[sent.node].execute(words_of(sent.command), now), now, outbox);
    return true;
  }
  /// Calls the guard if its timer is due, and serves all commands that follow. Returns their number.
  std::size_t on_time(core::Time now) {
    if (now < guard.deadline()) return 0;
    guard.timed_out(now, outbox);
    return serve(now);
  }
  /// Asks the guard for grants and lets all its waits of less than a second pass.
  void settle(core::Time now) {
    guard.want_grants(now, outbox);
    serve(now);
    while (guard.deadline() < now + std::chrono::seconds{1}) {
      now = std::max(now, guard.deadline());
      on_time(now);
    }
  }
  [[nodiscard]] std::size_t admitted() const {
    std::size_t count = 0;
    for (core::NodeIndex node = 0; node < servers.size(); ++node) count += guard.admits(node) ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::string objection(core::NodeIndex node, core::Time now) {
    const core::Trouble* const trouble = guard.objection(node, now);
    return trouble ? std::string{to_string(trouble->status)} + ": " + trouble->message : "";
  }

  core::RestartGuard guard;
  RecordingOutbox outbox;
  std::deque<Sent> under_way;  // commands that are not executed yet
  std::vector<MarkedServer>& servers;
};

/// Servers without a marker, with the run ids "run0", "run1", …
inline std::vector<MarkedServer> fresh_servers(std::size_t count = 3) {
  std::vector<MarkedServer> servers;
  for (std::size_t i = 0; i < count; ++i) servers.push_back({"run" + std::to_string(i), {}});
  return servers;
}

}  // namespace redlock::testing
