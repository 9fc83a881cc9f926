// Two endpoints that lead to one server.
#pragma once

#include <chrono>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// If the server of `session`, one of `sessions`, is connected under another name as well, only that one votes, until its
/// connection is lost. Precondition: the session is ready.
inline void refuse_if_same_server(Session& session, const std::vector<Session>& sessions, Time now) {
  for (const Session& one : sessions)
    if (&one != &session && one.ready() && !one.run_id().empty() && one.run_id() == session.run_id())
      return session.refuse({NodeStatus::same_node, "the same server as " + one.name() + ", which votes"},
                            now, std::chrono::seconds{10});
}

}  // namespace redlock::inline v1::core
