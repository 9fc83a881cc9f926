// The positions of everything in the picture of a history, in whole pixels. Knows nothing of colours and shapes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/timeline/shown_events.hpp"

namespace redlock::simulation {

/// Lines of text on one side of a lane.
struct Label {
  enum class Tone : std::uint8_t { time, note, hold, breach, fault, request, reply };
  static constexpr int font_size = 12;
  static constexpr int line_height = 14;

  Tone tone;
  int x;         ///< of the end next to the lane
  bool to_left;  ///< the text is left of x
  int top;
  std::vector<std::string> lines;

  [[nodiscard]] int left() const;
  [[nodiscard]] int right() const;
  [[nodiscard]] int bottom() const noexcept { return top + line_height * static_cast<int>(lines.size()); }
};

/// Clients are on the left, with their labels to the left of their lanes; nodes are on the right, with their labels to the
/// right. So most messages cross the middle, which has no labels.
///
/// The vertical distance of two instants grows with the time between them, but far more slowly, and leaves room for every
/// label below the earlier ones.
struct TimelineLayout {
  std::vector<ShownEvent> events;
  std::vector<Breach> breaches;
  std::vector<Label> labels;
  std::map<Instant, int> y;  ///< of every instant at which an event begins or ends

  std::vector<std::string> title;
  std::vector<std::string> verdict;
  int clients;
  int nodes;
  int width;
  int top;     ///< of the lanes
  int bottom;  ///< of the lanes

  static constexpr int axis_x = 62;
  static constexpr int margin = 16;
  [[nodiscard]] int client_x(int client) const noexcept;
  [[nodiscard]] int node_x(int node) const noexcept;
};

[[nodiscard]] TimelineLayout lay_out(const Picture&);

}  // namespace redlock::simulation
