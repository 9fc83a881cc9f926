// The replies of a healthy server to the handshake.
#pragma once

#include <string>
#include <vector>

#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "unit/support/recording_outbox.hpp"

namespace redlock::testing {

inline core::Reply role_reply(const std::string& role) {
  return array_reply({string_reply(role), number(0), nil()});
}

inline std::vector<core::Reply> handshake_replies(const std::string& run_id, const core::Login& login = {}) {
  std::vector<core::Reply> replies;
  if (!login.user.empty() || !login.password.empty()) replies.push_back(ok());
  if (login.db != 0) replies.push_back(ok());
  replies.push_back(role_reply("master"));
  replies.push_back(
      string_reply("# Server\r\nredis_version:7.0.15\r\nrun_id:" + run_id + "\r\ntcp_port:1\r\n"));
  for (const core::Script* const script : core::loaded_scripts)
    replies.push_back(string_reply(std::string{script->sha1}));
  return replies;
}

}  // namespace redlock::testing
