// A schedule's history, made readable: as lines of text, and as a picture.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// What is shown. It refers to the events, and does not own them.
///
/// An event does not tell whether a lost message was a command or a reply. It was a reply if it was sent at the very
/// instant at which a command of the same client was executed on the same node, else a command.
struct Picture {
  std::string title;
  std::string verdict;
  int clients = 0;  ///< at least so many have a lane; who appears in an event has one anyway
  int nodes = 0;    ///< likewise
  std::span<const Event> events;
  /// If there is one, what happened wholly before or after it is left out.
  std::optional<std::pair<Instant, Instant>> window = std::nullopt;
};

/// One line per event, in the order of their beginnings: when (in milliseconds), who, what.
[[nodiscard]] std::string text_timeline(const Picture&);

/// A self-contained SVG. Time runs downwards past a lane for every client and node. The axis is monotonic, and not to
/// scale: a round trip of microseconds and a pause of minutes both have their place, and no label covers another.
[[nodiscard]] std::string svg_timeline(const Picture&);

/// Of a history with very many messages the picture tells the texts of holds, faults and notes only.
inline constexpr int most_messages_with_text = 150;

}  // namespace redlock::simulation
