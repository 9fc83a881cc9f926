// What the restart guard knows about one node.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// What a client expects the markers of its nodes to say, and what it concludes from them.
struct ExpectedMarker {
  std::size_t nodes = 0;
  std::string_view deployment;  // empty if it is not known
  bool uptime_counts = false;   // against the quarantine of a node with its marker of an earlier run
  bool is_durable = false;      // a server keeps all data over a restart
  std::chrono::milliseconds highest_ceiling = std::chrono::milliseconds::max();  // of a node that may vote
  const MarkerKeys* keys = &keys_without_prefix;
};

namespace detail {
/// What to say of a marker's key that holds something else.
[[nodiscard]] inline std::string no_marker_in(const MarkerKeys& keys, std::string_view found) {
  return (keys.marker + " does not contain a marker; if no other program uses that key, delete it (found: ")
      .append(found)
      .append(")");
}
}  // namespace detail

struct GuardedNode {
  /// The transitions are drawn at `RestartGuard`.
  enum class Standing : std::uint8_t {
    away,         // not connected
    asked,        // a reply about its marker is due, and it may not grant before
    failed,       // there was no reply, or an invalid one
    lost,         // it has no marker of its current run: it lost its data, or is new
    foreign,      // its marker is of another deployment, or no marker at all
    quarantined,  // it lost its data recently
    unassigned,   // its quarantine is over, but its deployment is not known yet
    admitted      // it may grant
  };

  Standing standing = Standing::away;
  std::string run_id;            // of the server to which the connection was made
  std::string text;              // the value of the marker's key
  std::size_t ending_size = 0;   // of what no other node's marker contains
  std::optional<Marker> marker;  // the parsed text, if it is a marker
  Time quarantined_until = Time::min();
  std::optional<Trouble> failure;
  long long looked_at = 0;        // the server's time in microseconds when the marker was read
  std::chrono::seconds uptime{};  // of the server when the marker was read
  Time read_at{};
  Time unchanged_since = never;  // since when every reply had this text
  // Numbers of the guard's events: the one in which this text arrived first, the one in which the last reply was read, and
  // the last one before the last command was sent.
  std::uint64_t changed_in = 0;
  std::uint64_t read_in = 0;
  std::uint64_t asked_in = 0;
  bool is_asked = false;        // a reply about its marker is due
  bool is_wanted = false;       // a look was wanted since that command was sent
  bool is_second_name = false;  // its server is connected as another node, so there is no marker to be read

  /// How long a marker must stay missing or unnamed before the guard believes that no other client is marking the node.
  static constexpr Span between_looks = std::chrono::milliseconds{200};

  /// Takes the reply of `mark_script` about these keys. `durable`: the server keeps all data over a restart. The caller, `RestartGuard`,
  /// derives the standing from it. Returns false if another server, or another run of it, has answered.
  bool read(const Reply& reply, const MarkerKeys& keys, bool durable, std::uint64_t event, Time now) {
    read_at = now;
    read_in = event;
    is_asked = false;
    standing = Standing::failed;
    const auto& parts = reply.elements;
    if (!reply.is(Reply::Kind::array) || parts.size() != 5 || !parts[0].is(Reply::Kind::string) ||
        !parts[1].is(Reply::Kind::integer) || !parts[2].is(Reply::Kind::integer) ||
        !parts[3].is(Reply::Kind::integer) || !parts[4].is(Reply::Kind::string)) {
      failure = trouble_of(reply, "a valid answer about the marker");
      if (failure->status == NodeStatus::wrong_type)
        failure = Trouble{NodeStatus::other_deployment, detail::no_marker_in(keys, failure->message)};
      return true;
    }
    if (parts[4].text != run_id) {
      failure = {
          NodeStatus::server_error,
          "reports another run_id than when the connection was made: connect to the server itself, not to "
          "a proxy in front of several"};
      return false;
    }
    failure.reset();
    if (run_id.empty() && !durable)
      failure = {NodeStatus::server_error,
                 "does not report its run_id, so a restart would go unnoticed: set durable_nodes if it is "
                 "durable, else set restart_guard to off"};
    standing = Standing::lost;
    if (unchanged_since == never || text != parts[0].text) {
      unchanged_since = now;
      changed_in = event;
    }
    text = parts[0].text;
    ending_size = Marker::ending_of(text).size();
    marker = Marker::parse(text);
    quarantined_until = end_of_quarantine(parts[1].integer, now);
    looked_at = parts[2].integer;
    uptime = std::clamp<std::chrono::seconds>(std::chrono::seconds{parts[3].integer}, {}, longest_believed);
    return true;
  }

  [[nodiscard]] std::string_view ending() const noexcept {
    return {text.data() + text.size() - ending_size, ending_size};
  }

  /// Where the node stands now. It is settled by what was read, unless the node is away or a reply is due.
  [[nodiscard]] Standing standing_at(Time now, const ExpectedMarker& expected) const {
    if (standing == Standing::away || standing == Standing::asked) return standing;
    if (failure) return Standing::failed;
    if (text.empty()) return Standing::lost;
    if (!agrees_with(expected)) return Standing::foreign;
    // Nobody uses a name that was given to an earlier run.
    if (marker->is_named() && marker->deployment != expected.deployment)
      return is_of_earlier_run(expected) && !expected.deployment.empty() ? Standing::lost : Standing::foreign;
    if (is_of_earlier_run(expected)) return Standing::lost;
    if (marker->limits.ceiling > expected.highest_ceiling) return Standing::foreign;
    if (now < quarantined_until) return Standing::quarantined;
    return marker->is_named() ? Standing::admitted : Standing::unassigned;
  }
  /// For how long the server has been running, to the second.
  [[nodiscard]] Span running_for(Time now) const noexcept { return uptime + (now - read_at); }
  /// The node is connected and does not vote for a reason that a later look may find gone.
  [[nodiscard]] bool is_barred() const noexcept {
    return standing == Standing::failed || standing == Standing::foreign ||
           standing == Standing::quarantined || standing == Standing::unassigned;
  }
  [[nodiscard]] bool is_reached() const noexcept { return standing != Standing::away && !failure; }
  [[nodiscard]] bool agrees_with(const ExpectedMarker& expected) const noexcept {
    return marker && marker->nodes == expected.nodes;
  }
  [[nodiscard]] bool is_of_earlier_run(const ExpectedMarker& expected) const noexcept {
    return marker->run_id != run_id && !expected.is_durable;
  }
  /// The node has a marker of the expected deployment. Precondition: the deployment is known.
  [[nodiscard]] bool belongs(const ExpectedMarker& expected) const noexcept {
    return is_reached() && agrees_with(expected) && marker->deployment == expected.deployment;
  }
  /// No other one of `nodes` has a marker that names the same node: a server that was a replica for a while has the marker
  /// of its master. Precondition: it has a marker.
  [[nodiscard]] bool is_only_one_with_its_name(const std::vector<GuardedNode>& nodes) const {
    return std::ranges::count_if(nodes, [this](const GuardedNode& other) {
             return other.marker && other.marker->node == marker->node;
           }) == 1;
  }
  /// The node has kept its marker since it was written.
  [[nodiscard]] bool is_intact(const ExpectedMarker& expected) const noexcept {
    return belongs(expected) && !is_of_earlier_run(expected);
  }
  /// The node has a marker that names no deployment, or none at all.
  [[nodiscard]] bool is_unnamed(const ExpectedMarker& expected) const noexcept {
    return text.empty() || (agrees_with(expected) && !marker->is_named());
  }
  /// The node waits, or has waited, without knowing its deployment.
  [[nodiscard]] bool waits_unnamed() const noexcept {
    return standing == Standing::unassigned || (standing == Standing::quarantined && !marker->is_named());
  }
  /// The text was the same in two looks with some time between them.
  [[nodiscard]] bool is_settled() const noexcept { return read_at >= later(unchanged_since, between_looks); }
  /// Whether it takes a second look to know that the node still has no marker, or none with a name.
  [[nodiscard]] bool needs_second_look(const ExpectedMarker& expected) const noexcept {
    const bool is_missing = standing == Standing::lost && text.empty();
    const bool waits_unnamed =
        standing == Standing::quarantined && is_unnamed(expected) && !expected.deployment.empty();
    return (is_missing || waits_unnamed) && !is_settled();
  }
  /// When to take it. While a reply is due there is nothing to do: that reply is the look, or decides when the next one is.
  [[nodiscard]] Time second_look(const ExpectedMarker& expected) const noexcept {
    return needs_second_look(expected) && !is_asked ? later(unchanged_since, between_looks) : never;
  }
  /// Returns true if a node whose standing is `lost` certainly has no valid marker.
  [[nodiscard]] bool is_certain() const noexcept { return !text.empty() || is_settled(); }

  /// The marker to write. A new name contains the time, which makes the text unique: once it is lost it never returns, so
  /// a late mark cannot mistake another text for it.
  [[nodiscard]] std::string new_marker(std::string_view deployment, std::size_t nodes,
                                       const TtlLimits& limits, bool keeps_name = true) const {
    const bool is_named = marker && keeps_name;
    return Marker{.deployment = std::string{deployment},
                  .nodes = nodes,
                  .limits = limits,
                  .node = is_named ? marker->node : name_of({run_id, std::to_string(looked_at)}),
                  .run_id = run_id}
        .text();
  }

 private:
  [[nodiscard]] static Time end_of_quarantine(long long pttl, Time now) noexcept {
    if (pttl == -1) return never;
    if (pttl < 0) return Time::min();
    using std::chrono::milliseconds;
    return later(now, std::min<milliseconds>(milliseconds{pttl}, longest_believed) + milliseconds{1});
  }
};

}  // namespace redlock::inline v1::core
