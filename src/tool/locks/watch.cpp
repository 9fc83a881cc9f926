#include "tool/locks/watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "os/pause.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/line_text.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/change_listeners.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"
#include "tool/run/signal_forwarder.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

constexpr std::chrono::milliseconds shortest_pause{
    10};  // between two looks: one node cannot keep the others busy
constexpr std::chrono::milliseconds pause_if_deaf{100};  // while a node cannot report changes
constexpr std::chrono::milliseconds longest_pause{1000};

using Reports = std::vector<NodeReport>;
using When = std::chrono::system_clock::time_point;

std::string line_of(When when, const LockState& state, const Reports& reports) {
  std::ostringstream line;
  line << time_column(when);
  if (state.kind == LockState::Kind::held) {
    line << "held by " << Holder{state.owner};
    if (const auto token = token_of(reports, state.owner)) line << ", token " << token->value();
  } else if (state.kind == LockState::Kind::shared) {
    line << "held by " << readers_text(readers_in(reports));
  } else if (state.kind == LockState::Kind::kept) {
    line << describe_kept(state);
  } else if (state.kind == LockState::Kind::free) {
    line << "free";
  } else {
    line << "unknown: only " << std::ranges::count_if(reports, has_voted) << " of " << reports.size()
         << " nodes answered";
  }
  line << line_length_text(line_in(reports).size());
  return line.str();
}

std::string json_of(When when, const std::string& resource, const LockState& state, const Reports& reports) {
  nlohmann::json json{{"time_ms", milliseconds_of(when.time_since_epoch())},
                      {"resource", resource},
                      {"state", to_string(state.kind)},
                      {"nodes_answered", std::ranges::count_if(reports, has_voted)},
                      {"line", line_json(line_in(reports))}};
  if (state.kind == LockState::Kind::shared) json["readers"] = readers_json(readers_in(reports));
  if (state.kind != LockState::Kind::held) return json_text(json);
  add_holder(json, state.owner);
  if (const auto token = token_of(reports, state.owner)) json["token"] = token->value();
  return json_text(json);
}

/// What a line is printed for, when it changes.
struct Seen {
  LockState::Kind kind;
  std::string owner;
  std::vector<Holder> readers;

  friend bool operator==(const Seen&, const Seen&) = default;
};

}  // namespace

int watch_lock(const WatchArguments& arguments) {
  const SignalForwarder signals;
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::string key = nodes.options.key_prefix + arguments.resource;
  ChangeListeners listeners{nodes.endpoints, {key, core::readers_key(key)}, nodes.options.credentials};
  std::optional<Seen> last;
  while (!signals.stop().stop_requested()) {
    const Clock::time_point begun = Clock::now();
    const Reports reports = locks.inspect(arguments.resource);
    const LockState state = lock_state_of(reports);
    const Seen now{state.kind, state.owner, readers_in(reports)};
    if (std::exchange(last, now) != now) {
      const When when = std::chrono::system_clock::now();
      std::cout << (arguments.json ? json_of(when, arguments.resource, state, reports)
                                   : line_of(when, state, reports))
                << std::endl;
    }
    if (!std::cout || is_output_closed()) return killed_by_signal + SIGPIPE;
    detail::pause_until(begun + shortest_pause, signals.stop());
    listeners.wait(begun + (listeners.deaf() > 0 ? pause_if_deaf : longest_pause), signals.stop());
  }
  return code_after_watching(signals.stopped_by());
}

}  // namespace redlock::tool
