// Two endpoints that lead to one server.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Whether the server could vote when the connection was made: its marker names the run_id that it reports.
[[nodiscard]] inline bool had_own_marker(const Session& session) {
  const auto& parts = session.marker().elements;
  constexpr std::int64_t no_quarantine = -2;  // PTTL of a key that does not exist
  if (parts.size() < 2 || parts[1].integer != no_quarantine) return false;
  const std::optional<Marker> marker = Marker::parse(parts[0].text);
  return marker && marker->run_id == session.run_id();
}

/// If the session is ready and its server is connected under another name as well, only one of the two votes, until its
/// connection is lost: the first one. But a server that reports another one's run_id must not take that one's vote. So the
/// second one votes instead if the restart guard does not admit the first one, and would admit the second one. Returns the
/// node that was refused, or this one if none was. `guard` may be null.
inline NodeIndex refuse_second_name(NodeIndex node, std::vector<Session>& sessions, const RestartGuard* guard,
                                    Time now) {
  const Session& session = sessions[node];
  if (!session.ready() || session.run_id().empty()) return node;
  for (NodeIndex other = 0; other < sessions.size(); ++other) {
    const Session& first = sessions[other];
    if (other == node || !first.ready() || first.run_id() != session.run_id()) continue;
    const bool is_taken_over = guard && !guard->admits(other) && had_own_marker(session);
    const NodeIndex refused = is_taken_over ? other : node;
    const Session& votes = is_taken_over ? session : first;
    sessions[refused].refuse({NodeStatus::same_node, "the same server as " + votes.name() + ", which votes"},
                             now, std::chrono::seconds{10});
    return refused;
  }
  return node;
}

}  // namespace redlock::inline v1::core
