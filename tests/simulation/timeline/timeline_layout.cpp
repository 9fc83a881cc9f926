#include "simulation/timeline/timeline_layout.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "simulation/timeline/text_box.hpp"
#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

using Kind = Event::Kind;
using Tone = Label::Tone;

constexpr int client_pitch = 215;
constexpr int node_pitch = 130;
constexpr int middle = 110;  // between the last client and the first node
constexpr int beside = 13;   // from a lane to its labels
constexpr int least_width = 640;
constexpr int title_line = 21;

/// Grows more slowly than time, so that everything fits: 12 pixels for 100 us, 20 for 1 ms, 70 for 1 s, 116 for a minute.
int distance(Instant from, Instant to) {
  const auto us = (static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)) / 1000;
  const int magnitude = static_cast<int>(std::bit_width(us));
  return 4 + magnitude * magnitude / 6;
}

/// The lowest occupied line of every column of the picture.
class Skyline {
 public:
  explicit Skyline(int width) : taken_(static_cast<std::size_t>(width)) {}

  /// The first line that is below all labels on these columns.
  [[nodiscard]] int free(const Label& label) const {
    return *std::max_element(taken_.begin() + label.left(), taken_.begin() + label.right());
  }
  void take(const Label& label) {
    std::fill(taken_.begin() + label.left(), taken_.begin() + label.right(), label.bottom());
  }

 private:
  std::vector<int> taken_;
};

/// The labels of one instant before it has a position.
struct Row {
  bool shows_time = false;  ///< otherwise the time is shown only if there is room
  std::vector<Label> labels;
};
using Rows = std::map<Instant, Row>;

class Labelling {
 public:
  explicit Labelling(const TimelineLayout& layout)
      : layout_{layout},
        messages_are_told_{std::count_if(layout.events.begin(), layout.events.end(),
                                         [](const ShownEvent& shown) { return is_message(shown.event); }) <=
                           most_messages_with_text} {}

  [[nodiscard]] Rows rows() && {
    for (const ShownEvent& shown : layout_.events)
      is_message(shown.event) ? add_message(shown) : add(shown.event);
    for (const Breach& breach : layout_.breaches)
      put(breach.from, beside_client(breach.by, Tone::breach, "two holders at once"));
    return std::move(rows_);
  }

 private:
  void add_message(const ShownEvent& shown) {
    const auto& [event, by_node] = shown;
    rows_[event.from];
    if (event.kind != Kind::lost) rows_[event.to];
    if (!messages_are_told_) return;
    if (event.kind == Kind::request) put(event.to, beside_node(event.node, Tone::request, event.text));
    if (event.kind == Kind::reply) put(event.from, beside_node(event.node, Tone::reply, event.text));
    if (event.kind != Kind::lost) return;
    put(event.from, by_node ? beside_node(event.node, Tone::fault, event.text + ": lost")
                            : beside_client(event.client, Tone::fault,
                                            event.text + " to " + node_name(event.node) + ": lost"));
  }

  void add(const Event& event) {
    rows_[event.from].shows_time = rows_[event.to].shows_time = true;
    switch (event.kind) {
      case Kind::hold:
        put(event.from,
            beside_lane(event, Tone::hold, "holds" + (event.text.empty() ? "" : ": " + event.text)));
        put(event.to, beside_lane(event, Tone::hold, "holds no longer"));
        break;
      case Kind::fault:
        put(event.from,
            beside_lane(event, Tone::fault,
                        is_of_a_link(event) ? client_name(event.client) + ": " + event.text : event.text));
        break;
      default:
        put(event.from, beside_lane(event, Tone::note, event.text));
    }
  }

  void put(Instant instant, Label label) {
    if (!label.lines.front().empty()) rows_[instant].labels.push_back(std::move(label));
  }

  [[nodiscard]] Label beside_lane(const Event& event, Tone tone, const std::string& text) const {
    if (event.client >= 0 && !is_of_a_link(event)) return beside_client(event.client, tone, text);
    if (event.node >= 0) return beside_node(event.node, tone, text);
    return label(tone, layout_.axis_x + beside, false, client_pitch, text);
  }
  [[nodiscard]] Label beside_client(int client, Tone tone, const std::string& text) const {
    return label(tone, layout_.client_x(client) - beside, true, client_pitch, text);
  }
  [[nodiscard]] Label beside_node(int node, Tone tone, const std::string& text) const {
    return label(tone, layout_.node_x(node) + beside, false, node_pitch, text);
  }
  [[nodiscard]] static Label label(Tone tone, int x, bool to_left, int pitch, const std::string& text) {
    constexpr std::size_t most_lines = 4;
    return {tone, x, to_left, 0, wrapped(text, Label::font_size, pitch - 2 * beside - 4, most_lines)};
  }

  const TimelineLayout& layout_;
  const bool messages_are_told_;
  Rows rows_;
};

/// Places the rows from top to bottom. No label covers another: an instant moves down until there is room, and its further
/// labels go below.
void place(TimelineLayout& layout, Rows rows) {
  constexpr int half = Label::line_height / 2;
  Skyline skyline{layout.width};
  int y = layout.top + 24;
  Instant before = rows.empty() ? 0 : rows.begin()->first;
  int lowest = y;
  const auto settle = [&](Label label) {
    label.top = std::max(y - half, skyline.free(label));
    skyline.take(label);
    lowest = std::max(lowest, label.bottom());
    layout.labels.push_back(std::move(label));
  };
  for (auto& [instant, row] : rows) {
    y += distance(std::exchange(before, instant), instant);
    const Label time{Tone::time, layout.axis_x - 8, true, 0, {milliseconds(instant, 1)}};
    if (row.shows_time) row.labels.push_back(time);
    for (const Label& label : row.labels) y = std::max(y, skyline.free(label) + half);
    layout.y.emplace(instant, y);
    for (Label& label : row.labels) settle(std::move(label));
    if (!row.shows_time && skyline.free(time) <= y - half) settle(time);
  }
  layout.bottom = std::max(lowest, y) + 24;
}

}  // namespace

int Label::left() const {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, font_size));
  return to_left ? std::max(x - width, 0) : x;
}
int Label::right() const {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, font_size));
  return to_left ? x : x + width;
}

int TimelineLayout::client_x(int client) const noexcept {
  return axis_x + client_pitch * (client + 1) - TimelineLayout::margin;
}
int TimelineLayout::node_x(int node) const noexcept {
  return axis_x + client_pitch * clients + middle - TimelineLayout::margin + node_pitch * node;
}

TimelineLayout lay_out(const Picture& picture) {
  constexpr std::size_t most_lines = 3;
  TimelineLayout layout{};
  layout.events = shown_events(picture);
  layout.breaches = breaches(layout.events);
  layout.clients = picture.clients;
  layout.nodes = picture.nodes;
  for (const auto& [event, by_node] : layout.events) {
    layout.clients = std::max(layout.clients, event.client + 1);
    layout.nodes = std::max(layout.nodes, event.node + 1);
  }
  layout.width = std::max(least_width, layout.node_x(layout.nodes) + TimelineLayout::margin);
  layout.title = wrapped(printable(picture.title), 17, layout.width - 2 * TimelineLayout::margin, most_lines);
  layout.verdict =
      wrapped(printable(picture.verdict), 14, layout.width - 2 * TimelineLayout::margin, most_lines);
  layout.top = title_line * static_cast<int>(layout.title.size() + layout.verdict.size()) + 60;
  place(layout, Labelling{layout}.rows());
  return layout;
}

}  // namespace redlock::simulation
