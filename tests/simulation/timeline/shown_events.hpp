// What a picture shows of a history.
#pragma once

#include <utility>
#include <vector>

#include "simulation/timeline/timeline.hpp"

namespace redlock::simulation {

struct ShownEvent {
  Event event;           ///< its text printable; its instants within the window
  bool by_node = false;  ///< a message that the node sent
};

/// In the order of their beginnings; those that begin at the same instant as they were written down.
[[nodiscard]] std::vector<ShownEvent> shown_events(const Picture&);

/// When the lock was broken: two clients held at once. `by` is the one that held last of all.
struct Breach {
  Instant from;
  Instant to;
  int by;
};
/// Each as long as it lasts, in the order of their beginnings.
[[nodiscard]] std::vector<Breach> breaches(const std::vector<ShownEvent>&);

[[nodiscard]] inline bool is_message(const Event& event) noexcept {
  return event.client >= 0 && event.node >= 0 &&
         (event.kind == Event::Kind::request || event.kind == Event::Kind::reply ||
          event.kind == Event::Kind::lost);
}
/// A fault of what is between both. It is shown on the node's lane.
[[nodiscard]] inline bool is_of_a_link(const Event& event) noexcept {
  return event.kind == Event::Kind::fault && event.client >= 0 && event.node >= 0;
}

}  // namespace redlock::simulation
