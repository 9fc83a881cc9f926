// Shows the history of a schedule as lines of text or as a picture.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// The content of a timeline. Does not own the events.
///
/// An event does not say whether a lost message was a command or a reply. It counts as a reply if it was sent at the time at
/// which a command of the same client was executed on the same node, otherwise as a command.
struct Picture {
  std::string title;
  std::string verdict;
  int clients = 0;  ///< minimum number of lanes; clients that appear in events always have one
  int nodes = 0;    ///< minimum number of lanes; nodes that appear in events always have one
  std::span<const Event> events;
  /// If set, events entirely before or after it are omitted.
  std::optional<std::pair<Instant, Instant>> window = std::nullopt;
};

/// One line per event, ordered by start time: when (in milliseconds), who, what.
[[nodiscard]] std::string text_timeline(const Picture&);

/// A self-contained SVG. Time runs downwards, with a lane for every client and node. The time axis is monotonic but not to
/// scale, so that round trips of microseconds and pauses of minutes both fit. No label covers another.
[[nodiscard]] std::string svg_timeline(const Picture&);

/// With more messages than this, the picture shows only the texts of holds, faults and notes.
inline constexpr int most_messages_with_text = 150;

}  // namespace redlock::simulation
