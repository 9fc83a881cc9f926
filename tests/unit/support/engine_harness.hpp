// An engine whose connections a test controls.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "unit/support/recording_operation.hpp"
#include "unit/support/session_harness.hpp"

namespace redlock::testing {

/// Nodes named "node 0", "node 1", …; connect timeout 500 ms, silence after 200 ms.
struct EngineHarness {
  explicit EngineHarness(std::size_t nodes,
                         const std::optional<core::RestartGuard::Settings>& guard = std::nullopt,
                         Observer* observer = nullptr)
      : engine{settings(nodes), std::chrono::milliseconds{500}, 1, guard, observer} {}

  core::Ref<RecordingOperation> submit(RecordingOperation::Plan plan, core::Time now,
                                       core::Time give_up_at = core::never) {
    core::Ref<RecordingOperation> operation{new RecordingOperation{std::move(plan)}};
    operation->give_up_at = give_up_at;
    engine.submit(core::Ref<core::Operation>{operation.get()}, now);
    return operation;
  }
  void abandon(const core::Ref<RecordingOperation>& operation, core::Time now) {
    engine.abandon(core::Ref<core::Operation>{operation.get()}, Errc::cancelled, now);
  }
  /// Connects a node; the server answers the handshake.
  void connect(core::NodeIndex node, core::Time now) { connect(node, now, "run " + std::to_string(node)); }
  /// `marker`: the reply to the guard's look at the marker.
  void connect(core::NodeIndex node, core::Time now, const std::string& run_id,
               const std::optional<core::Reply>& marker = std::nullopt) {
    engine.session(node).take_closing();
    engine.session(node).take_dial();
    engine.connected(node);
    std::string handshake{engine.session(node).unsent()};
    engine.session(node).sent(handshake.size());
    for (const core::Reply& reply : handshake_replies(run_id)) engine.answered(node, reply, now);
    if (marker) engine.answered(node, *marker, now);
  }
  /// Connects all nodes; no operation is left.
  void make_ready(core::Time now) {
    const auto first = submit({.nodes = 0, .connections = 0}, now);
    abandon(first, now);
    engine.finished().clear();
    for (core::NodeIndex node = 0; node < engine.nodes(); ++node) connect(node, now);
  }
  void answer(core::NodeIndex node, const std::string& text, core::Time now) {
    engine.answered(node, text_reply(core::Reply::Kind::status, text), now);
  }
  void disconnect(core::NodeIndex node, core::Time now) { engine.disconnected(node, lost_connection(), now); }
  std::string take_bytes(core::NodeIndex node) {
    std::string bytes{engine.session(node).unsent()};
    engine.session(node).sent(bytes.size());
    return bytes;
  }
  /// How often the engine has returned the operation as finished since the last call for any operation.
  std::size_t take_finished(const core::Ref<RecordingOperation>& operation) {
    std::size_t count = 0;
    for (const auto& finished : std::exchange(engine.finished(), {}))
      count += finished.get() == operation.get() ? 1 : 0;
    return count;
  }

  core::Engine engine;

 private:
  static std::vector<core::Session::Settings> settings(std::size_t nodes) {
    std::vector<core::Session::Settings> all;
    for (std::size_t node = 0; node < nodes; ++node)
      all.push_back(example_settings("node " + std::to_string(node)));
    return all;
  }
};

using Events = std::vector<std::string>;

}  // namespace redlock::testing
