// Where everything in the picture of a history goes, in whole pixels. What it looks like is not known here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/timeline/shown_events.hpp"

namespace redlock::simulation {

/// Some lines of text on one side of a lane.
struct Label {
  enum class Tone : std::uint8_t { time, note, hold, breach, fault, request, reply };
  static constexpr int font_size = 12;
  static constexpr int line_height = 14;

  Tone tone;
  int x;         ///< of the end next to the lane
  bool to_left;  ///< of x
  int top;
  std::vector<std::string> lines;

  [[nodiscard]] int left() const;
  [[nodiscard]] int right() const;
  [[nodiscard]] int bottom() const noexcept { return top + line_height * static_cast<int>(lines.size()); }
};

/// Clients are on the left with their labels to the left of their lanes, nodes on the right with theirs to the right:
/// so most of the messages cross the middle, where no label is.
///
/// From top to bottom the instants follow each other at distances that grow with the time between them, though far
/// slower, and that leave every label room below those before it.
struct TimelineLayout {
  std::vector<ShownEvent> events;
  std::vector<Breach> breaches;
  std::vector<Label> labels;
  std::map<Instant, int> y;  ///< of every instant at which something begins or ends

  std::vector<std::string> title;
  std::vector<std::string> verdict;
  int clients;
  int nodes;
  int width;
  int top;     ///< of the lanes
  int bottom;  ///< of the lanes

  static constexpr int axis_x = 62;
  [[nodiscard]] int client_x(int client) const noexcept;
  [[nodiscard]] int node_x(int node) const noexcept;
};

[[nodiscard]] TimelineLayout lay_out(const Picture&);

}  // namespace redlock::simulation
