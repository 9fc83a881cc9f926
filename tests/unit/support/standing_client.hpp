// A client's line without an engine: its nodes, the calls that wait, and what it sends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/line/lines.hpp"
#include "unit/support/guarded_nodes.hpp"
#include "unit/support/recording_outbox.hpp"

namespace redlock::testing {

/// Nodes that are all well, unless a test says otherwise.
struct LineNodesOfTest final : core::LineContext {
  explicit LineNodesOfTest(std::size_t nodes)
      : ready(nodes, true),
        granting(nodes, true),
        hearing(nodes, true),
        blind(nodes, false),
        distrusted(nodes, false) {}

  [[nodiscard]] const core::LineTimes& times() const noexcept override { return line_times; }
  [[nodiscard]] bool is_ready(core::NodeIndex node) const override { return ready[node]; }
  [[nodiscard]] bool may_grant(core::NodeIndex node, std::chrono::milliseconds) override {
    return granting[node];
  }
  [[nodiscard]] std::string_view server(core::NodeIndex node) const override { return names[node]; }
  void contradicted(core::NodeIndex node, core::Time) override { contradictions.push_back(node); }
  [[nodiscard]] bool is_distrusted(core::NodeIndex node, core::Time) const override {
    return distrusted[node];
  }
  [[nodiscard]] bool hears(core::NodeIndex node) const override { return hearing[node]; }
  [[nodiscard]] bool is_blind(core::NodeIndex node) const override { return blind[node]; }
  void begin_listening() override { ++listening; }
  void end_listening() override { --listening; }
  void wake_listeners(core::Time) override {}
  bool arm(core::NodeIndex node, core::Operation& sender, core::Step, core::Step caching,
           core::Outbox& outbox) override {
    return blind[node] ||
           !outbox.send(node, core::command({"CLIENT", "CACHING", "YES"}), sender, {.step = caching});
  }
  void tracking_refused(core::NodeIndex node, const core::Trouble&, core::Time) override {
    blind[node] = true;
  }
  [[nodiscard]] std::uint64_t random() override { return 0; }

  core::LineTimes line_times;
  std::vector<bool> ready;
  std::vector<bool> granting;
  std::vector<bool> hearing;
  std::vector<bool> blind;
  std::vector<bool> distrusted;
  std::vector<core::NodeIndex> contradictions;
  int listening = 0;
  std::string names[5] = {"a", "b", "c", "d", "e"};
};

/// A call that waits for the lock `key`, or for a seat of the semaphore `key`.
struct TestWaiter final : core::Waiter {
  explicit TestWaiter(core::Time called_at, std::size_t seats = 0, bool is_shared = false) {
    using namespace std::chrono_literals;
    terms_ = {seats > 0 ? core::line_of_seats("key") : "key", called_at, 1000ms, 50ms, seats, is_shared};
  }
  void attempt_in_line(Turn turn, core::Time, core::Outbox&) override {
    ++(turn == Turn::own ? attempts : attempts_out_of_turn);
  }
  void turned_away(core::Time, core::Outbox&) override { ++times_turned_away; }
  void refused(core::NodeIndex, const core::Trouble& why, core::Time, core::Outbox&) override {
    refusal = why.message;
  }
  int attempts = 0;
  int attempts_out_of_turn = 0;
  int times_turned_away = 0;
  std::string refusal;
};

/// The reply of the line's script.
inline core::Reply place_reply(long long rank, long long length, std::string line = "line 1",
                               long long ahead_left = -1, bool can_publish = true) {
  return array_reply({number(rank), number(length), number(ahead_left), number(can_publish ? 1 : 0),
                      string_reply(std::move(line))});
}

struct StandingClient {
  explicit StandingClient(std::size_t count) : nodes{count}, outbox{count}, lines{member, count, nodes} {}

  void advance(core::Time now) { lines.advance(now, outbox); }
  void join(TestWaiter& waiter, core::Time now) {
    key = waiter.terms().key;
    lines.join(waiter);
    advance(now);
  }
  /// Answers the oldest command of this kind that was sent to the node: its first words, or `script` for the line's.
  void answer(core::NodeIndex node, std::string_view kind, const core::Reply& reply, core::Time now) {
    collect();
    for (auto sent = under_way.begin(); sent != under_way.end(); ++sent) {
      if (sent->first.node != node || kind_of(sent->first.command) != kind) continue;
      const core::Step step = sent->first.options.step;
      core::Operation* const sender = sent->second;
      under_way.erase(sent);
      sender->answered(node, step, reply, now, outbox);
      return advance(now);
    }
    throw std::runtime_error("node " + std::to_string(node) + " was sent no " + std::string{kind});
  }
  /// The kinds of all commands since the last call that have not been answered, each with its node: `2 PTTL`.
  [[nodiscard]] std::vector<std::string> sent() {
    collect();
    return std::exchange(kinds, {});
  }
  [[nodiscard]] int count(std::string_view kind) {
    int number_of_kind = 0;
    for (const std::string& each : sent()) number_of_kind += each.substr(2) == kind ? 1 : 0;
    return number_of_kind;
  }
  /// The node that orders the line.
  [[nodiscard]] core::NodeIndex gate() const {
    core::Gates gates{nodes.ready.size()};
    return *gates.best(key, nodes, {});
  }
  /// Makes the call the first one in line, with the key held on all nodes for a second.
  void become_head(core::Time now) {
    answer(gate(), "stand", place_reply(0, 1), now);
    for (core::NodeIndex node = 0; node < nodes.ready.size(); ++node) answer(node, "PTTL", number(1000), now);
    static_cast<void>(sent());
  }

  static std::string kind_of(const std::string& command) {
    const std::vector<std::string> words = words_of(command);
    if (words[0] != "EVALSHA" && words[0] != "EVAL") return words[0];
    if (words[1] == core::release_script.sha1 || words[1] == core::release_script.source) return "lower";
    if (words[1] == core::seats_source) return "seats";
    if (words[1] == core::readable_source) return "readable";
    return words.at(7).empty() ? "leave" : "stand";
  }

  const std::string member = "0123456789abcdef.test";
  LineNodesOfTest nodes;

 private:
  /// Remembers which line has sent what. A test has one line.
  class Remembering final : public core::Outbox {
   public:
    explicit Remembering(std::size_t count) : recording{count} {}
    const core::Trouble* send(core::NodeIndex node, std::string_view command, core::Operation& sender,
                              core::SendOptions options) override {
      const core::Trouble* const refused = recording.send(node, command, sender, options);
      last_sender = core::Ref<core::Operation>{&sender};
      return refused;
    }
    RecordingOutbox recording;
    core::Ref<core::Operation> last_sender;
  };
  void collect() {
    for (Sent& each : outbox.recording.take()) {
      kinds.push_back(std::to_string(each.node) + " " + kind_of(each.command));
      under_way.emplace_back(std::move(each), outbox.last_sender.get());
    }
  }

 public:
  Remembering outbox;
  core::Lines lines;
  std::vector<std::pair<Sent, core::Operation*>> under_way;
  std::vector<std::string> kinds;
  std::string key = "key";  // of the line
};

}  // namespace redlock::testing
