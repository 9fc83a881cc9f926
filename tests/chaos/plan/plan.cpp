#include "chaos/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "simulation/random.hpp"

namespace redlock::chaos {
namespace {

using simulation::Random;

struct Property {
  Kind kind;
  std::string_view name;
  Place place;
  int weight;  // how often it is drawn among those of its place
};
constexpr std::array properties{
    Property{Kind::crash, "crash", Place::node, 3},
    Property{Kind::crash_empty, "crash-empty", Place::node, 2},
    Property{Kind::crash_old, "crash-old", Place::node, 2},
    Property{Kind::stop, "stop", Place::node, 3},
    Property{Kind::node_clock, "node-clock", Place::node, 3},
    Property{Kind::flush_scripts, "flush-scripts", Place::node, 2},
    Property{Kind::flush_all, "flush-all", Place::node, 2},
    Property{Kind::full, "full", Place::node, 1},
    Property{Kind::sleep, "sleep", Place::node, 2},
    Property{Kind::kill_clients, "kill-clients", Place::node, 2},
    Property{Kind::kill_listeners, "kill-listeners", Place::node, 2},
    Property{Kind::no_command, "no-command", Place::node, 1},
    Property{Kind::no_channel, "no-channel", Place::node, 1},
    Property{Kind::replica, "replica", Place::node, 1},
    Property{Kind::stall, "stall", Place::link, 2},
    Property{Kind::deaf_node, "deaf-node", Place::link, 1},
    Property{Kind::deaf_client, "deaf-client", Place::link, 2},
    Property{Kind::delay, "delay", Place::link, 2},
    Property{Kind::throttle, "throttle", Place::link, 1},
    Property{Kind::close, "close", Place::link, 1},
    Property{Kind::reset, "reset", Place::link, 1},
    Property{Kind::lost, "lost-packets", Place::link, 2},
    Property{Kind::lost_to_node, "lost-commands", Place::link, 1},
    Property{Kind::lost_to_client, "lost-replies", Place::link, 1},
    Property{Kind::client_stop, "client-stop", Place::client, 3},
    Property{Kind::client_kill, "client-kill", Place::client, 2},
    Property{Kind::client_clock, "client-clock", Place::client, 1},
};
const Property& property_of(Kind kind) { return properties.at(static_cast<std::size_t>(kind)); }

/// Draws the faults of one target after the other, so that each has its own sequence.
class Drawing {
 public:
  explicit Drawing(const Shape& shape) : shape_{shape}, random_{shape.seed * 2 + (is_within() ? 0 : 1)} {
    const bool is_odd = shape.seed % 2 == 1;
    if (is_within() ? !is_odd : is_odd) return;
    const int losing = is_within() ? (shape.nodes - 1) / 2 : shape.nodes;
    const int first = static_cast<int>(random_.between(0, shape.nodes - 1));
    for (int i = 0; i < losing; ++i) losing_.push_back((first + i) % shape.nodes);
  }

  Plan draw() {
    for (int node = 0; node < shape_.nodes; ++node) add_target(Place::node, node, 4000 / shape_.haste);
    for (int link = 0; link < halves * shape_.nodes; ++link)
      add_target(Place::link, link, 9000 / shape_.haste);
    for (int client = 0; client < shape_.clients; ++client)
      add_target(Place::client, client, 9000 / shape_.haste);
    std::ranges::stable_sort(plan_.faults, {}, &Fault::at);
    return plan_;
  }

 private:
  [[nodiscard]] bool is_within() const { return shape_.profile == Profile::within; }

  [[nodiscard]] bool may_happen(Kind kind, int target) const {
    if (!shape_.only.empty() && std::ranges::find(shape_.only, kind) == shape_.only.end()) return false;
    if (kind == Kind::node_clock) return !is_within();
    if (kind == Kind::client_clock) return losing_.empty();
    if (kind == Kind::client_stop) return shape_.stops_clients;
    if (kind == Kind::client_kill) return target < shape_.clients - shape_.lasting;
    if (loses_packets(kind)) return shape_.loses_packets;
    if (loses_data(kind)) return std::ranges::find(losing_, target) != losing_.end();
    return true;
  }

  void add_target(Place place, int target, int pause_ms) {
    if (std::ranges::none_of(properties, [&](const Property& each) {
          return each.place == place && may_happen(each.kind, target);
        }))
      return;
    const milliseconds end = shape_.length;
    for (milliseconds at{random_.between(0, pause_ms)}; at < end;) {
      Fault fault = draw_fault(place, target, at);
      fault.length = std::min(fault.length, end - at);
      at += fault.length + milliseconds{random_.between(pause_ms / 4, 2 * pause_ms)};
      plan_.faults.push_back(fault);
    }
  }

  Fault draw_fault(Place place, int target, milliseconds at) {
    int total = 0;
    for (const Property& each : properties)
      if (each.place == place && may_happen(each.kind, target)) total += each.weight;
    std::int64_t drawn = random_.between(1, total);
    Kind kind{};
    for (const Property& each : properties) {
      if (each.place != place || !may_happen(each.kind, target)) continue;
      kind = each.kind;
      if ((drawn -= each.weight) <= 0) break;
    }
    milliseconds length{random_.skewed(50, longest_fault.count())};
    const Part part = draw_part(kind, target, at);
    // A killed process of `redlock run` needs no healing. The length says how long the process is looked for.
    if (kind == Kind::client_kill && part != Part::client) length = longest_fault;
    return {.kind = kind,
            .at = at,
            .length = length,
            .target = target,
            .amount = draw_amount(kind, target),
            .part = part,
            .way = draw_way(kind, at)};
  }

  /// By the time, so that it does not change what else is drawn.
  [[nodiscard]] Part draw_part(Kind kind, int target, milliseconds at) const {
    const bool has_parts = kind == Kind::client_stop || kind == Kind::client_kill;
    if (!has_parts || std::ranges::find(shape_.running, target) == shape_.running.end()) return Part::client;
    return std::array{Part::run, Part::watchdog, Part::command}.at(static_cast<std::size_t>(at.count()) % 3);
  }

  /// By the time, as well.
  [[nodiscard]] static Way draw_way(Kind kind, milliseconds at) {
    if (kind != Kind::throttle) return Way::both;
    return std::array{Way::both, Way::commands, Way::replies}.at(static_cast<std::size_t>(at.count()) % 3);
  }

  int draw_amount(Kind kind, int target) {
    const auto drawn = [this](std::int64_t least, std::int64_t most) {
      return static_cast<int>(random_.between(least, most));
    };
    switch (kind) {
      case Kind::node_clock:
        return drawn(-largest_error.count(), largest_error.count());
      case Kind::client_clock:
        return drawn(-3'600'000, 3'600'000);
      case Kind::delay:
        return drawn(1, 150);
      case Kind::throttle:
        return drawn(1, 5);
      case Kind::replica:
        return (target + drawn(1, shape_.nodes - 1)) % shape_.nodes;
      default:
        return 0;
    }
  }

  const Shape& shape_;
  Random random_;
  std::vector<int> losing_;  // nodes that may lose their data
  Plan plan_;
};

}  // namespace

std::string_view name_of(Kind kind) { return property_of(kind).name; }
std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const Property& each : properties) all.push_back(each.kind);
  return all;
}
std::string_view name_of(Part part) {
  constexpr std::array<std::string_view, 4> names{"the client", "redlock run", "the watchdog", "the command"};
  return names.at(static_cast<std::size_t>(part));
}
Place place_of(Kind kind) { return property_of(kind).place; }

bool loses_data(Kind kind) {
  return kind == Kind::crash_empty || kind == Kind::crash_old || kind == Kind::flush_all ||
         kind == Kind::replica;
}

bool loses_packets(Kind kind) {
  return kind == Kind::lost || kind == Kind::lost_to_node || kind == Kind::lost_to_client;
}

Plan draw_plan(const Shape& shape) { return Drawing{shape}.draw(); }

Plan draw_plan_of_restarts(const Shape& shape) {
  Random random{shape.seed};
  const milliseconds end = shape.length;
  Plan plan{{{.kind = Kind::reset, .at = milliseconds{0}, .length = end, .target = 2}}};
  for (milliseconds at{random.between(1000, 3000)}; at < end; at += milliseconds{random.between(1000, 3000)})
    plan.faults.push_back(
        {.kind = Kind::crash_old, .at = at, .length = std::min(milliseconds{50}, end - at), .target = 1});
  return plan;
}

std::string describe(const Fault& fault, int nodes) {
  std::string text{name_of(fault.kind)};
  if (fault.amount != 0) text += " " + std::to_string(fault.amount);
  if (fault.way != Way::both) text += fault.way == Way::commands ? " of commands" : " of replies";
  switch (place_of(fault.kind)) {
    case Place::node:
      return text + " of node " + std::to_string(fault.target);
    case Place::link:
      return text + " between node " + std::to_string(fault.target % nodes) + " and half " +
             std::to_string(fault.target / nodes);
    case Place::client:
      break;
  }
  const std::string_view part = fault.part == Part::client ? "" : name_of(fault.part);
  return text.append(" of ")
      .append(part)
      .append(part.empty() ? "" : " of ")
      .append(client_name(fault.target));
}

}  // namespace redlock::chaos
