// What a client may tell its observer, whatever its servers say.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/client/work.hpp"
#include "fuzz/finding.hpp"
#include "redlock/error.hpp"
#include "redlock/metrics/observer.hpp"
#include "redlock/node_report.hpp"

namespace redlock::testing {

/// Checks each event by itself, and that events of calls and nodes fit together. The nodes are called `node 0`, `node 1`, and
/// so on.
template <std::size_t nodes>
class CheckingObserver final : public Observer {
 public:
  /// All locks have this key.
  explicit CheckingObserver(std::string key) : key_{std::move(key)} {}

  void attempted(const Attempt& event) override {
    ++Work::so_far().events;
    check_lock(event.resource, event.kind, event.took);
    must(!event.holder || event.failure == Errc::held, "only a lock that is held has a holder");
    if (event.holder) check_holder(*event.holder);
    acquired_ += event.failure ? 0 : 1;
  }
  void lined_up(const Line& event) override {
    ++Work::so_far().events;
    check_lock(event.resource, event.kind, event.waited);
    const bool has_place = event.step == LineStep::entered || event.step == LineStep::waiting;
    must(has_place == (event.position > 0), "a call has a place as long as it stands in line");
    must(event.position <= event.length, "a place is in the line");
    standing_ += event.step == LineStep::entered ? 1 : 0;
    if (event.step == LineStep::waiting) must(standing_ > 0, "only a call in line waits there");
    if (event.step != LineStep::granted && event.step != LineStep::left) return;
    must(standing_ > 0, "a call leaves the line once");
    --standing_;
  }
  void extended(const Extension& event) override {
    ++Work::so_far().events;
    check_lock(event.resource, event.kind, event.took);
    must(event.state != State::released, "an extension ends with a lease that is held, in doubt or lost");
    must(!event.late || *event.late >= Clock::duration{}, "no renewal is early");
  }
  void node_changed(const Node& event) override {
    ++Work::so_far().events;
    constexpr std::string_view prefix = "node ";
    must(event.node.size() == prefix.size() + 1 && event.node.starts_with(prefix), "a node has its name");
    const auto number = static_cast<std::size_t>(event.node.back() - '0');
    must(number < nodes, "a node is one of the client's");
    must(is_printable(event.message), "a message is printable");
    const bool votes = event.state == NodeState::ready;
    must(!votes || !event.trouble, "a node that votes has no trouble");
    must(votes || event.state == NodeState::connecting || event.trouble, "a node that does not vote has one");
    must(!event.reconnected || votes || event.state == NodeState::barred, "a new connection works");
    const Told told{event.state, event.trouble};
    must(last_told_.at(number) != told, "a node is reported when it has changed");
    last_told_.at(number) = told;
  }

  /// Attempts that got a lock.
  [[nodiscard]] std::size_t acquired() const noexcept { return acquired_; }
  /// Calls that stand in line, according to the events.
  [[nodiscard]] std::size_t standing() const noexcept { return standing_; }

 private:
  using Told = std::pair<NodeState, std::optional<NodeStatus>>;

  void check_lock(const std::string& resource, Kind kind, Clock::duration took) const {
    must(resource == key_, "an event has the name of its lock");
    must(kind == Kind::exclusive, "an event has the kind of its lock");
    must(took >= Clock::duration{}, "nothing takes less than no time");
  }
  static void check_holder(const Holder& holder) {
    std::ostringstream text;
    text << holder;
    must(is_printable(text.str()), "a holder is printed without controls");
    must(!holder.ttl || *holder.ttl >= Clock::duration{}, "a ttl is not negative");
  }

  const std::string key_;
  std::size_t acquired_ = 0;
  std::size_t standing_ = 0;
  std::array<std::optional<Told>, nodes> last_told_{};
};

}  // namespace redlock::testing
