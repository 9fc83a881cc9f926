// A session in the hands of a story.
#pragma once

#include <optional>
#include <string>

#include "redlock/core/node/session.hpp"
#include "unit/support/handshake_replies.hpp"
#include "unit/support/probe.hpp"
#include "unit/support/recorder.hpp"

namespace redlock::testing {

/// Connect timeout 500 ms, silence after 200 ms.
inline core::Session::Settings example_settings(const std::string& name = "node") {
  using namespace std::chrono_literals;
  return {.name = name, .login = {}, .connect_timeout = 500ms, .silence = 200ms, .seed = 1};
}

struct Line {
  explicit Line(const core::Session::Settings& settings = example_settings()) : session{settings} {}

  /// The connection is there, and the server answers the handshake.
  void greet(core::Time now, const std::string& run_id = "run") {
    session.connected(now);
    take_bytes();
    for (const core::Reply& reply : greeting_replies(run_id)) session.answered(reply, now);
    static_cast<void>(session.send_waiting(true, now));
  }
  /// Dials for the first time and is ready.
  void make_ready(core::Time now) {
    session.wake(now);
    session.take_dial();
    greet(now);
  }
  /// Queues a command; whether its reply will come.
  bool send(const std::string& command, core::Step step, core::Time now, core::Time send_by = core::never) {
    return !session.send(command, {core::Ref<core::Operation>{probe.get()}, step, false}, send_by, now);
  }
  bool release(const std::string& command, core::Step step, core::Time now,
               core::Time send_by = core::never) {
    return !session.send(command, {core::Ref<core::Operation>{probe.get()}, step, true}, send_by, now);
  }
  /// All that is to be sent, as if the kernel had taken it.
  std::string take_bytes() {
    std::string bytes{session.unsent()};
    session.sent(bytes.size());
    return bytes;
  }
  void lose(core::Time now) { session.disconnected(lost_connection(), now); }

  core::Session session;
  core::Ref<Probe> probe{new Probe{{}}};
};

}  // namespace redlock::testing
