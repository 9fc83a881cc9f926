// A session whose connection a test controls.
#pragma once

#include <optional>
#include <string>

#include "redlock/core/node/session.hpp"
#include "unit/support/handshake_replies.hpp"
#include "unit/support/recording_operation.hpp"
#include "unit/support/recording_outbox.hpp"

namespace redlock::testing {

/// Connect timeout 500 ms, silence after 200 ms.
inline core::Session::Settings example_settings(const std::string& name = "node") {
  using namespace std::chrono_literals;
  return {.name = name, .login = {}, .connect_timeout = 500ms, .silence = 200ms, .seed = 1};
}

struct SessionHarness {
  explicit SessionHarness(const core::Session::Settings& settings = example_settings()) : session{settings} {}

  /// Connects; the server answers the handshake.
  void connect(core::Time now, const std::string& run_id = "run") {
    session.connected();
    take_bytes();
    for (const core::Reply& reply : handshake_replies(run_id)) session.answered(reply, now);
    static_cast<void>(session.send_waiting([](const auto&) { return std::optional<std::string>{""}; }, now));
  }
  /// Dials for the first time and is ready.
  void make_ready(core::Time now) {
    session.wake(now);
    session.take_dial();
    connect(now);
  }
  /// Queues a command. Returns false if the session refuses it.
  bool send(const std::string& command, core::Step step, core::Time now, core::Time send_by = core::never) {
    return !session.send(command, {core::Ref<core::Operation>{operation.get()}, step, false}, send_by, now);
  }
  bool release(const std::string& command, core::Step step, core::Time now,
               core::Time send_by = core::never) {
    return !session.send(command, {core::Ref<core::Operation>{operation.get()}, step, true}, send_by, now);
  }
  /// Takes all unsent bytes, as the kernel would.
  std::string take_bytes() {
    std::string bytes{session.unsent()};
    session.sent(bytes.size());
    return bytes;
  }
  void disconnect(core::Time now) { session.disconnected(lost_connection(), now); }

  core::Session session;
  core::Ref<RecordingOperation> operation{new RecordingOperation{{}}};
};

}  // namespace redlock::testing
