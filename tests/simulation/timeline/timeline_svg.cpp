#include <algorithm>
#include <string>

#include "simulation/timeline/text_box.hpp"
#include "simulation/timeline/timeline_layout.hpp"
#include "simulation/timeline/words.hpp"
#include "support/svg.hpp"

namespace redlock::simulation {
namespace {

using testing::svg::group;
using testing::svg::line;
using testing::svg::num;
using testing::svg::path;
using testing::svg::rect;
using testing::svg::text;
using Kind = Event::Kind;
using Tone = Label::Tone;

constexpr int half_bar = 7;
constexpr int half_span = 10;  // of lasting faults: wider than a hold, so that both are visible

constexpr const char* definitions = R"svg(<defs>
<marker id="command" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#36c"/></marker>
<marker id="reply" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#2a7d3f"/></marker>
<pattern id="fault" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M2 0V8" stroke="#b3261e" stroke-width="2"/></pattern>
</defs>
)svg";

constexpr const char* command_look =
    "class=\"command\" stroke=\"#36c\" stroke-width=\"1.6\" fill=\"none\" marker-end=\"url(#command)\"";
constexpr const char* reply_look =
    "class=\"reply\" stroke=\"#2a7d3f\" stroke-width=\"1.6\" fill=\"none\" marker-end=\"url(#reply)\"";
constexpr const char* lost_look = "class=\"lost\" stroke=\"#b3261e\" stroke-width=\"1.6\" fill=\"none\"";
constexpr const char* hold_look = "class=\"hold\" fill=\"#f4c95d\" stroke=\"#a87b00\"";
constexpr const char* span_look = "class=\"fault\" fill=\"url(#fault)\" stroke=\"#b3261e\"";
constexpr const char* mark_look = "class=\"mark\" fill=\"#b3261e\" stroke=\"#fff\"";
constexpr const char* breach_look = "class=\"breach\" fill=\"#fbdcd9\" stroke=\"none\"";

std::string bar(int x, int half_width, int y, int height) {
  return rect(x - half_width, y, 2 * half_width, height, R"( rx="3")");
}
std::string cross(int x, int y) {
  return line(x - 5, y - 5, x + 5, y + 5) + line(x + 5, y - 5, x - 5, y + 5);
}
std::string diamond(int x, int y) { return path("M" + num(x) + " " + num(y - 8) + "l8 8l-8 8l-8 -8z"); }

int lane_x(const TimelineLayout& layout, const Event& event) {
  if (event.client >= 0 && !is_of_a_link(event)) return layout.client_x(event.client);
  return event.node >= 0 ? layout.node_x(event.node) : TimelineLayout::axis_x;
}

std::string heading(const TimelineLayout& layout) {
  int y = 6;
  std::string title;
  std::string verdict;
  for (const std::string& one : layout.title) title += text(TimelineLayout::margin, y += 21, one);
  for (const std::string& one : layout.verdict) verdict += text(TimelineLayout::margin, y += 21, one);
  return group(R"(font-size="17" font-weight="bold" fill="#222")", title) +
         group(R"(font-size="14" fill="#333")", verdict);
}

std::string lanes(const TimelineLayout& layout) {
  std::string lines;
  std::string names;
  const auto lane = [&](int x, const std::string& name) {
    lines += line(x, layout.top, x, layout.bottom);
    names += text(x, layout.top - 8, name);
  };
  for (int client = 0; client < layout.clients; ++client) lane(layout.client_x(client), client_name(client));
  for (int node = 0; node < layout.nodes; ++node) lane(layout.node_x(node), node_name(node));
  const int x = TimelineLayout::axis_x;
  return group(R"(stroke="#bbb" stroke-width="1.5")", lines) +
         group(R"(text-anchor="middle" font-weight="bold" font-size="14" fill="#222")", names) +
         group(R"(stroke="#777" stroke-width="1.2" fill="none")",
               line(x, layout.top, x, layout.bottom) +
                   path("M" + num(x - 4) + " " + num(layout.bottom - 6) + "l4 6l4 -6")) +
         group(R"(text-anchor="end" font-size="12" fill="#555")", text(x - 8, layout.top - 8, "ms"));
}

std::string ticks(const TimelineLayout& layout) {
  std::string marks;
  for (const Label& label : layout.labels)
    if (label.tone == Tone::time) marks += line(label.x + 4, label.top + 7, label.x + 12, label.top + 7);
  return group(R"(stroke="#777")", marks);
}

std::string breach_bands(const TimelineLayout& layout) {
  std::string bands;
  for (const Breach& breach : layout.breaches)
    bands += rect(TimelineLayout::axis_x + 1, layout.y.at(breach.from),
                  layout.client_x(layout.clients - 1) + TimelineLayout::margin - TimelineLayout::axis_x,
                  layout.y.at(breach.to) - layout.y.at(breach.from));
  return group(breach_look, bands);
}

std::string bars(const TimelineLayout& layout) {
  std::string holds;
  std::string spans;
  std::string marks;
  for (const auto& [event, by_node] : layout.events) {
    if (event.kind != Kind::hold && event.kind != Kind::fault) continue;
    const int x = lane_x(layout, event);
    const int y = layout.y.at(event.from);
    const int height = std::max(layout.y.at(event.to) - y, 3);
    if (event.kind == Kind::hold)
      holds += bar(x, half_bar, y, height);
    else if (event.from < event.to)
      spans += bar(x, half_span, y, height);
    else
      marks += diamond(x, y);
  }
  return group(hold_look, holds) + group(span_look, spans) + group(mark_look, marks);
}

std::string messages(const TimelineLayout& layout) {
  constexpr int fall = 14;  // of a lost message, which never arrives
  std::string commands;
  std::string replies;
  std::string lost;
  for (const auto& [event, by_node] : layout.events) {
    if (!is_message(event)) continue;
    const int client = layout.client_x(event.client) + half_bar + 1;
    const int node = layout.node_x(event.node) - half_bar - 1;
    const int from = by_node ? node : client;
    const int to = by_node ? client : node;
    const int y = layout.y.at(event.from);
    if (event.kind == Kind::request) commands += line(from, y, to, layout.y.at(event.to));
    if (event.kind == Kind::reply) replies += line(from, y, to, layout.y.at(event.to));
    if (event.kind == Kind::lost)
      lost += line(from, y, (from + to) / 2, y + fall) + cross((from + to) / 2, y + fall);
  }
  return group(command_look, commands) + group(reply_look, replies) + group(lost_look, lost);
}

const char* look(Tone tone) {
  switch (tone) {
    case Tone::time:
      return R"(fill="#555")";
    case Tone::note:
      return R"(fill="#222")";
    case Tone::hold:
      return R"(fill="#6b4e00" font-weight="bold")";
    case Tone::breach:
      return R"(fill="#8c1d18" font-weight="bold")";
    case Tone::fault:
      return R"(fill="#8c1d18")";
    case Tone::request:
      return R"(fill="#1f3f8a")";
    case Tone::reply:
      return R"(fill="#174d26")";
  }
  return "";
}

/// Texts have a white outline, as arrows may pass behind them.
std::string labels(const TimelineLayout& layout) {
  std::string all;
  for (const Tone tone :
       {Tone::time, Tone::request, Tone::reply, Tone::note, Tone::hold, Tone::fault, Tone::breach}) {
    std::string left;
    std::string right;
    for (const Label& label : layout.labels) {
      int y = label.top - 3;
      if (label.tone != tone) continue;
      for (const std::string& words : label.lines)
        (label.to_left ? left : right) += text(label.x, y += Label::line_height, words);
    }
    all += group(std::string{R"(text-anchor="end" )"} + look(tone), left) + group(look(tone), right);
  }
  return group(
      R"(font-size="12" stroke="#fff" stroke-width="5" stroke-linejoin="round" paint-order="stroke")", all);
}

/// Explains only the symbols that occur.
std::string legend(const TimelineLayout& layout) {
  const int y = layout.bottom + 30;
  int x = TimelineLayout::margin;
  std::string signs;
  std::string words = text(TimelineLayout::margin, y + 28, "Time runs downwards, not to scale.");
  const auto entry = [&](const char* look, const std::string& sign, const std::string& meaning) {
    signs += group(look, sign);
    words += text(x + 30, y + 4, meaning);
    x += 46 + text_width(meaning, 12);
  };
  const auto occurs = [&](Kind kind) {
    return std::any_of(layout.events.begin(), layout.events.end(),
                       [kind](const ShownEvent& shown) { return shown.event.kind == kind; });
  };
  if (occurs(Kind::hold)) entry(hold_look, bar(x + 12, half_bar, y - 9, 18), "may touch the resource");
  if (!layout.breaches.empty()) entry(breach_look, rect(x + 2, y - 9, 20, 18), "two holders at once");
  if (occurs(Kind::fault)) entry(span_look, bar(x + 12, half_span, y - 9, 18), "fault");
  if (occurs(Kind::request)) entry(command_look, line(x, y, x + 24, y), "command");
  if (occurs(Kind::reply)) entry(reply_look, line(x + 24, y, x, y), "reply");
  if (occurs(Kind::lost)) entry(lost_look, line(x, y, x + 16, y) + cross(x + 16, y), "lost");
  return signs + group(R"(font-size="12" fill="#333")", words);
}

}  // namespace

std::string svg_timeline(const Picture& picture) {
  const TimelineLayout layout = lay_out(picture);
  return testing::svg::picture(layout.width, layout.bottom + 74, printable(picture.title), definitions,
                               heading(layout) + breach_bands(layout) + lanes(layout) + ticks(layout) +
                                   messages(layout) + bars(layout) + labels(layout) + legend(layout));
}

}  // namespace redlock::simulation
