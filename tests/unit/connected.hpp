// Sessions brought to where a story begins.
#pragma once

#include <string>

#include "redlock/core/session.hpp"
#include "unit/recorder.hpp"

namespace redlock::testing {

/// Connect timeout 500 ms, silence 1 s.
inline core::Session::Settings session_settings(const std::string& name) {
  using namespace std::chrono_literals;
  return {.name = name, .login = {}, .connect_timeout = 500ms, .silence = 1s, .seed = 1};
}

/// The replies to a greeting without login, of a master with this run_id.
inline std::vector<core::Reply> greeting_replies(const std::string& run_id) {
  core::Reply role;
  role.kind = core::Reply::Kind::array;
  role.elements = {string_reply("master")};
  return {role, string_reply("run_id:" + run_id + "\r\n"),
          string_reply(std::string{core::release_script.sha1}),
          string_reply(std::string{core::extend_script.sha1})};
}

inline void answer_greeting(core::Session& session, core::Time now) {
  for (const core::Reply& reply : greeting_replies(session.name())) session.answered(reply, now);
}

/// From idle, down or dialling to ready; everything that the greeting sends is taken.
inline void connect(core::Session& session, core::Time now) {
  session.wake(now);
  if (session.state() == core::Session::State::down) session.on_time(session.timer());
  session.take_farewell();
  session.take_dial();
  session.connected(now);
  session.sent(session.unsent().size());
  answer_greeting(session, now);
}

}  // namespace redlock::testing
