// The events of one simulated schedule.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::simulation {

/// Nanoseconds of the world's true time, which no simulated clock shows exactly.
using Instant = std::int64_t;

struct Event {
  enum class Kind : std::uint8_t {
    request,  ///< A command from a client to a node: sent at `from`, executed at `to`.
    reply,    ///< A reply from a node to a client: sent at `from`, read at `to`.
    lost,     ///< A command or reply that never arrives; `to` is when this is certain.
    fault,    ///< A fault of the node, the client or the link between them, until `to`.
    hold,     ///< The client may access the resource.
    note,     ///< Any other event, as text.
  };
  Kind kind;
  Instant from;
  Instant to;
  int client;  ///< -1: none
  int node;    ///< -1: none
  std::string text;

  bool operator==(const Event&) const = default;
};

/// Records events only if they are kept.
class History {
 public:
  explicit History(bool kept = false) noexcept : kept_{kept} {}

  [[nodiscard]] bool kept() const noexcept { return kept_; }
  void add(Event event) {
    if (kept_) events_.push_back(std::move(event));
  }
  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }

 private:
  bool kept_;
  std::vector<Event> events_;
};

}  // namespace redlock::simulation
