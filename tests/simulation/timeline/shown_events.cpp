#include "simulation/timeline/shown_events.hpp"

#include <algorithm>

#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

bool is_sent_by_node(const Event& event, std::span<const Event> all) {
  if (event.kind != Event::Kind::lost) return event.kind == Event::Kind::reply;
  return std::any_of(all.begin(), all.end(), [&event](const Event& other) {
    return other.kind == Event::Kind::request && other.client == event.client && other.node == event.node &&
           other.to == event.from;
  });
}

}  // namespace

std::vector<ShownEvent> shown_events(const Picture& picture) {
  std::vector<ShownEvent> shown;
  for (Event event : picture.events) {
    const bool by_node = is_sent_by_node(event, picture.events);
    event.to = std::max(event.from, event.to);
    if (picture.window) {
      const auto [begin, end] = *picture.window;
      if (event.to < begin || event.from > end) continue;
      event.from = std::max(event.from, begin);
      event.to = std::min(event.to, end);
    }
    event.text = printable(event.text);
    shown.push_back({std::move(event), by_node});
  }
  std::stable_sort(shown.begin(), shown.end(), [](const ShownEvent& one, const ShownEvent& other) {
    return one.event.from < other.event.from;
  });
  return shown;
}

std::vector<Breach> breaches(const std::vector<ShownEvent>& shown) {
  std::vector<Breach> found;
  std::vector<const Event*> earlier;  // holds
  for (const auto& [event, by_node] : shown) {
    if (event.kind != Event::Kind::hold) continue;
    for (const Event* other : earlier) {
      const Instant to = std::min(event.to, other->to);
      if (other->client == event.client || to <= event.from) continue;
      if (!found.empty() && event.from <= found.back().to)
        found.back().to = std::max(found.back().to, to);
      else
        found.push_back({event.from, to, event.client});
    }
    earlier.push_back(&event);
  }
  return found;
}

}  // namespace redlock::simulation
