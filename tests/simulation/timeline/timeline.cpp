#include "simulation/timeline/timeline.hpp"

#include <algorithm>

#include "simulation/timeline/shown_events.hpp"
#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

std::string exact(Instant instant) { return milliseconds(instant, 3); }

std::string who(const ShownEvent& shown) {
  const auto& event = shown.event;
  if (event.client < 0) return event.node < 0 ? "" : node_name(event.node);
  if (event.node < 0) return client_name(event.client);
  if (shown.by_node) return node_name(event.node) + " -> " + client_name(event.client);
  const std::string between = is_message(event) ? " -> " : " and ";
  return client_name(event.client) + between + node_name(event.node);
}

std::string what(const Event& event) {
  const std::string until = " until " + exact(event.to);
  switch (event.kind) {
    case Event::Kind::request:
      return event.text + " (executed at " + exact(event.to) + ")";
    case Event::Kind::reply:
      return event.text + " (read at " + exact(event.to) + ")";
    case Event::Kind::lost:
      return event.text + " (lost)";
    case Event::Kind::fault:
      return "! " + event.text + (event.to > event.from ? until : "");
    case Event::Kind::hold:
      return "holds" + until + (event.text.empty() ? "" : ": " + event.text);
    case Event::Kind::note:
      break;
  }
  return event.text;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string line(const std::string& when, const std::string& who, const std::string& what) {
  constexpr std::size_t when_width = 12;
  constexpr std::size_t who_width = 20;
  return std::string(when_width - std::min(when_width, when.size()), ' ') + when + "  " +
         padded(who, who_width) + "  " + what + "\n";
}

}  // namespace

std::string text_timeline(const Picture& picture) {
  std::string text = printable(picture.title) + "\n" + printable(picture.verdict) + "\n\n";
  text += line("ms", "who", "what");
  for (const ShownEvent& shown : shown_events(picture))
    text += line(exact(shown.event.from), who(shown), what(shown.event));
  return text;
}

}  // namespace redlock::simulation
