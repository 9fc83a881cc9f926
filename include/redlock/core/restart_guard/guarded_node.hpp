// What the restart guard knows about one node.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

struct GuardedNode {
  /// The transitions are drawn at `RestartGuard`.
  enum class Standing : std::uint8_t {
    away,         // not connected
    asked,        // a reply about its marker is due
    failed,       // there was no reply, or an invalid one
    lost,         // it has no marker of its current run: it lost its data, or is new
    foreign,      // its marker is of another deployment, or no marker at all
    quarantined,  // it lost its data recently
    unassigned,   // its quarantine is over, but its deployment is not known yet
    admitted      // it may grant
  };

  Standing standing = Standing::away;
  std::string run_id;
  std::string text;              // the value of the marker's key
  std::optional<Marker> marker;  // the parsed text, if it is a marker
  Time quarantined_until = Time::min();
  std::optional<Trouble> failure;
  Time read_at{};
  Time missing_since = never;
  bool was_missing_twice = false;

  /// How long a marker must be missing before the guard believes that it is lost.
  static constexpr Span between_looks = std::chrono::milliseconds{200};

  /// Takes the reply of `mark_script`. `durable`: the server keeps all data over a restart. The caller, `RestartGuard`,
  /// derives the standing from it.
  void read(const Reply& reply, bool durable, Time now) {
    read_at = now;
    standing = Standing::failed;
    const auto& parts = reply.elements;
    if (!reply.is(Reply::Kind::array) || parts.size() != 2 || !parts[0].is(Reply::Kind::string) ||
        !parts[1].is(Reply::Kind::integer)) {
      failure = trouble_of(reply, "a valid answer about the marker");
      return;
    }
    failure.reset();
    if (run_id.empty() && !durable)
      failure = {NodeStatus::server_error,
                 "does not report its run_id, so a restart would go unnoticed: set durable_nodes if it is "
                 "durable, else set restart_guard to off"};
    standing = Standing::lost;
    text = parts[0].text;
    marker = Marker::parse(text);
    quarantined_until = end_of_quarantine(parts[1].integer, now);
    was_missing_twice = text.empty() && now >= later(missing_since, between_looks);
    if (!text.empty()) missing_since = never;
    if (text.empty() && missing_since == never) missing_since = now;
  }

  /// When to check for the second time whether the marker is missing.
  [[nodiscard]] Time second_look() const noexcept {
    const bool is_missing = standing == Standing::lost && missing_since != never;
    return is_missing && !was_missing_twice ? later(missing_since, between_looks) : never;
  }
  /// Returns true if a node whose standing is `lost` certainly has no valid marker.
  [[nodiscard]] bool is_certain() const noexcept { return !text.empty() || was_missing_twice; }

 private:
  [[nodiscard]] static Time end_of_quarantine(long long pttl, Time now) noexcept {
    if (pttl == -1) return never;
    constexpr long long longest = std::chrono::milliseconds{std::chrono::hours{24 * 3650}}.count();
    return pttl < 0 ? Time::min() : later(now, std::chrono::milliseconds{std::min(pttl, longest) + 1});
  }
};

}  // namespace redlock::inline v1::core
