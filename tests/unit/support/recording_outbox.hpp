// An outbox that records what is sent to each node, example claims, and replies of servers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/operation/operation.hpp"

namespace redlock::testing {

/// The time at which tests start; `at(5ms)` is 5 ms later.
inline constexpr core::Time start_of_test = core::Time{} + std::chrono::hours{1};
constexpr core::Time at(core::Span after) { return start_of_test + after; }

/// ttl 1000 ms, drift 12 ms, node timeout 50 ms.
inline core::Claim example_claim() {
  using namespace std::chrono_literals;
  return {.key = "key", .owner = "me", .ttl = 1000ms, .drift = 12ms, .node_timeout = 50ms};
}
/// The same with a token: proposed is 100, and the counters are kept for a day.
inline core::Claim example_fenced_claim() {
  core::Claim claim = example_claim();
  claim.fence = core::Fence{
      .counter_key = core::counter_key(claim.key), .proposal = 100, .memory = std::chrono::hours{24}};
  return claim;
}

/// The same of a reader.
inline core::Claim example_shared_claim() {
  core::Claim claim = example_fenced_claim();
  claim.share();
  claim.belong_to(claim.owner);
  return claim;
}

/// A lease that is held for `lasts` from the start of the test.
inline std::shared_ptr<core::LeaseState> example_lease(core::Span lasts,
                                                       core::Claim claim = example_claim()) {
  return std::make_shared<core::LeaseState>(std::move(claim), at(lasts));
}

struct Sent {
  core::NodeIndex node;
  std::string command;
  core::SendOptions options;
};

class RecordingOutbox final : public core::Outbox {
 public:
  explicit RecordingOutbox(std::size_t nodes) : refusals_(nodes) {}

  /// Refuses all later commands to this node.
  void refuse(core::NodeIndex node, NodeStatus why = NodeStatus::unreachable) {
    refusals_[node] = core::Trouble{why, "refused"};
  }
  void accept(core::NodeIndex node) { refusals_[node].reset(); }

  const core::Trouble* send(core::NodeIndex node, std::string_view command, core::Operation&,
                            core::SendOptions options) override {
    sent_.push_back({node, std::string{command}, options});
    return refusals_[node] ? &*refusals_[node] : nullptr;
  }

  [[nodiscard]] const std::vector<Sent>& sent() const noexcept { return sent_; }
  /// Everything sent since the last call.
  std::vector<Sent> take() { return std::exchange(sent_, {}); }

  [[nodiscard]] std::string_view run_id(core::NodeIndex node) const noexcept override {
    return run_ids.empty() ? std::string_view{} : std::string_view{run_ids[node]};
  }
  void give_up(core::NodeIndex node, const core::Trouble&) override { given_up.push_back(node); }
  [[nodiscard]] const core::MarkerKeys* marker_keys() const noexcept override { return keys; }
  void released(std::string_view key, bool) override { released_keys.emplace_back(key); }
  std::vector<std::string> released_keys;  // of leases whose locks are free now
  std::vector<std::string> run_ids;        // of the servers when they were connected; may be empty
  std::vector<core::NodeIndex> given_up;   // connections that lead to another server
  const core::MarkerKeys* keys = nullptr;  // where a restart guard keeps its data

 private:
  std::vector<Sent> sent_;
  std::vector<std::optional<core::Trouble>> refusals_;
};

// ── replies ────────────────────────────────────────────────────────────────────────────────────────────────

inline core::Reply text_reply(core::Reply::Kind kind, std::string text) {
  core::Reply reply;
  reply.kind = kind;
  reply.text = std::move(text);
  return reply;
}
inline core::Reply ok() { return text_reply(core::Reply::Kind::status, "OK"); }
inline core::Reply nil() { return {}; }
inline core::Reply string_reply(std::string text) {
  return text_reply(core::Reply::Kind::string, std::move(text));
}
inline core::Reply error_reply(std::string text) {
  return text_reply(core::Reply::Kind::error, std::move(text));
}
inline core::Reply number(long long value) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::integer;
  reply.integer = value;
  return reply;
}
inline core::Reply array_reply(std::vector<core::Reply> elements) {
  core::Reply reply;
  reply.kind = core::Reply::Kind::array;
  reply.elements = std::move(elements);
  return reply;
}
inline core::Reply loading() { return error_reply("LOADING Redis is loading the dataset in memory"); }
inline core::Reply noauth() { return error_reply("NOAUTH Authentication required."); }
inline core::Reply wrongtype() {
  return error_reply("WRONGTYPE Operation against a key holding the wrong kind of value");
}
inline core::Reply noscript() { return error_reply("NOSCRIPT No matching script. Please use EVAL."); }
inline core::Trouble lost_connection() { return {NodeStatus::connection_lost, "reset by peer"}; }

}  // namespace redlock::testing
