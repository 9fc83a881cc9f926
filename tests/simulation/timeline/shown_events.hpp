// The events of a history that a picture shows.
#pragma once

#include <utility>
#include <vector>

#include "simulation/timeline/timeline.hpp"

namespace redlock::simulation {

struct ShownEvent {
  Event event;           ///< with printable text, and times clipped to the window
  bool by_node = false;  ///< whether the node sent this message
};

/// Ordered by start time. Events with the same start time keep their recorded order.
[[nodiscard]] std::vector<ShownEvent> shown_events(const Picture&);

/// A time in which two clients held the lock at once. `by` is the client that got it last.
struct Breach {
  Instant from;
  Instant to;
  int by;
};
/// Ordered by start time. Touching breaches are merged.
[[nodiscard]] std::vector<Breach> breaches(const std::vector<ShownEvent>&);

[[nodiscard]] inline bool is_message(const Event& event) noexcept {
  return event.client >= 0 && event.node >= 0 &&
         (event.kind == Event::Kind::request || event.kind == Event::Kind::reply ||
          event.kind == Event::Kind::lost);
}
/// A fault of the link between a client and a node. It is shown on the node's lane.
[[nodiscard]] inline bool is_of_a_link(const Event& event) noexcept {
  return event.kind == Event::Kind::fault && event.client >= 0 && event.node >= 0;
}

}  // namespace redlock::simulation
