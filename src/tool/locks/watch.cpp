#include "tool/locks/watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "os/pause.hpp"
#include "redlock/core/base/printable.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/line_text.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/change_listeners.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/semaphore/seats.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

constexpr std::chrono::milliseconds shortest_pause{
    10};  // between two looks: one node cannot keep the others busy
constexpr std::chrono::milliseconds pause_if_deaf{100};  // while a node cannot report changes
constexpr std::chrono::milliseconds longest_pause{1000};

using Reports = std::vector<NodeReport>;
using When = std::chrono::system_clock::time_point;

/// What a line is printed for, when it changes.
struct Seen {
  LockState::Kind kind = LockState::Kind::free;
  std::string owner = {};
  std::vector<Holder> readers = {};
  std::size_t reader_count = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

/// A lock, as it was seen last.
struct Watched {
  std::string resource;
  LockState state = {};
  Reports reports = {};
  std::optional<Seen> last = {};  // none: it was not seen yet

  /// Returns true if there is something new to print.
  bool note(Reports seen) {
    reports = std::move(seen);
    state = lock_state_of(reports);
    const Seen now{state.kind, state.owner, readers_in(reports), reader_count_in(reports)};
    return std::exchange(last, now) != now;
  }
};

std::string line_of(const Watched& lock, std::size_t in_line) {
  std::ostringstream line;
  const LockState& state = lock.state;
  if (state.kind == LockState::Kind::held) {
    line << "held by " << Holder{state.owner};
    if (const auto token = token_of(lock.reports, state.owner)) line << ", token " << token->value();
  } else if (state.kind == LockState::Kind::shared) {
    line << "held by " << readers_text(lock.reports);
  } else if (state.kind == LockState::Kind::kept) {
    line << describe_kept(state);
  } else if (state.kind == LockState::Kind::free) {
    line << "free";
  } else {
    line << "unknown: only " << std::ranges::count_if(lock.reports, has_voted) << " of "
         << lock.reports.size() << " nodes voted";
  }
  line << line_length_text(in_line);
  return line.str();
}

std::string json_of(When when, const Watched& lock, std::span<const InLine> line) {
  nlohmann::json json = lock_json(lock.resource, lock.state, lock.reports);
  json["time_ms"] = milliseconds_of(when.time_since_epoch());
  json["nodes_answered"] = std::ranges::count_if(lock.reports, has_voted);
  json["line"] = line_json(line);
  return json_text(json);
}

/// Prints what has changed since the last call.
class Screen {
 public:
  Screen(Redlock& locks, const WatchArguments& arguments)
      : locks_{locks}, is_semaphore_{arguments.seats > 0}, is_json_{arguments.json} {
    names_ = is_semaphore_ ? names_of_seats(arguments.resource, arguments.seats)
                           : std::vector<std::string>{arguments.resource};
    for (const std::string& name : names_) watched_.push_back({name});
  }

  [[nodiscard]] const std::vector<std::string>& resources() const noexcept { return names_; }

  void update() {
    std::vector<Reports> all = inspect_all(locks_, names_);
    std::optional<std::vector<InLine>> line;
    for (std::size_t at = 0; at < all.size(); ++at) {
      Watched& lock = watched_[at];
      if (!lock.note(std::move(all[at]))) continue;
      if (!line || !is_semaphore_) line = line_for(locks_, lock.resource, lock.reports);
      print(lock, *line);
    }
  }

 private:
  void print(const Watched& lock, const std::vector<InLine>& line) const {
    const When when = std::chrono::system_clock::now();
    if (is_json_) {
      std::cout << json_of(when, lock, line) << std::endl;
      return;
    }
    std::cout << time_column(when);
    if (is_semaphore_)
      std::cout << core::printable(lock.resource) << "  ";
    else if (kind_of(lock.resource, lock.state.kind, lock.state.owner) == "seat")
      std::cout << "seat of " << core::printable(seat_in(lock.resource)->semaphore) << ": ";
    std::cout << line_of(lock, line.size()) << std::endl;
    if (lock.state.kind == LockState::Kind::unknown) write_reports(std::cerr, lock.reports);
  }

  Redlock& locks_;
  const bool is_semaphore_;
  const bool is_json_;
  std::vector<std::string> names_;
  std::vector<Watched> watched_;
};

/// The keys that change when the locks change hands.
std::vector<std::string> keys_of(const std::vector<std::string>& resources, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const std::string& resource : resources) {
    keys.push_back(prefix + resource);
    keys.push_back(core::readers_key(prefix + resource));
  }
  return keys;
}

}  // namespace

int watch_lock(const WatchArguments& arguments) {
  SignalForwarder signals;
  std::optional<SignalForwarder::Preparation> preparation{std::in_place, signals};
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  preparation.reset();
  Screen screen{locks, arguments};
  ChangeListeners listeners{nodes.endpoints, keys_of(screen.resources(), nodes.options.key_prefix),
                            nodes.options.credentials};
  while (!signals.stop().stop_requested()) {
    const Clock::time_point begun = Clock::now();
    screen.update();
    if (!std::cout || is_output_closed()) return killed_by_signal + SIGPIPE;
    detail::pause_until(begun + shortest_pause, signals.stop());
    listeners.wait(begun + (listeners.deaf() > 0 ? pause_if_deaf : longest_pause), signals.stop());
  }
  return code_after_watching(signals.stopped_by());
}

}  // namespace redlock::tool
