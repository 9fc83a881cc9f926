// How a client guards restarts.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/marker.hpp"

namespace redlock::inline v1::core {

struct GuardSettings {
  std::size_t nodes = 0;
  std::chrono::milliseconds max_ttl{};  // of a new deployment; and no node that lost its data waits for less
  std::optional<Span> drift{};          // none: `default_drift`
  Span discovery_time{};                // how long to wait for the other nodes while no deployment is known
  bool strict = false;                  // the nodes of a new deployment are quarantined as well
  bool durable = false;                 // the servers keep all data over a restart
  Span between_visits = std::chrono::seconds{1};  // between looks at a node that does not vote, at least
  MarkerKeys keys{};
};

}  // namespace redlock::inline v1::core
