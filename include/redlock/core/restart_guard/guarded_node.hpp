// What a guard knows of one node.
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
  /// `RestartGuard` draws how one follows from the other.
  enum class Standing : std::uint8_t {
    away,         // no connection
    asked,        // an answer about its marker is due
    failed,       // there was none, or it made no sense
    lost,         // it has no marker of this run: it lost its data, or is new
    foreign,      // its marker is not ours
    quarantined,  // it lost its data not long ago
    unassigned,   // long ago, but of which deployment it is nobody knows yet
    admitted
  };

  Standing standing = Standing::away;
  std::string run_id;
  std::string text;              // the marker, as it was read
  std::optional<Marker> marker;  // if it is one
  Time quarantined_until = Time::min();
  std::optional<Trouble> failure;
  Time read_at{};
  Time missing_since = never;
  bool was_missing_twice = false;

  /// How long a marker has to be missing to be believed lost.
  static constexpr Span between_looks = std::chrono::milliseconds{200};

  /// What `mark_script` answered; `durable`: its server loses nothing by a restart. What follows from it `RestartGuard` says.
  void read(const Reply& reply, bool durable, Time now) {
    read_at = now;
    standing = Standing::failed;
    const auto& parts = reply.elements;
    if (!reply.is(Reply::Kind::array) || parts.size() != 2 || !parts[0].is(Reply::Kind::string) ||
        !parts[1].is(Reply::Kind::integer)) {
      failure = trouble_of(reply, "an answer about the marker");
      return;
    }
    failure.reset();
    if (run_id.empty() && !durable)
      failure = {
          NodeStatus::server_error,
          "does not tell its run_id, so nobody would see it restart: if it is durable say so, else set "
          "restart_guard to off"};
    standing = Standing::lost;
    text = parts[0].text;
    marker = Marker::parse(text);
    quarantined_until = end_of_quarantine(parts[1].integer, now);
    was_missing_twice = text.empty() && now >= later(missing_since, between_looks);
    if (!text.empty()) missing_since = never;
    if (text.empty() && missing_since == never) missing_since = now;
  }

  /// When to look again whether the marker is missing.
  [[nodiscard]] Time second_look() const noexcept {
    const bool is_missing = standing == Standing::lost && missing_since != never;
    return is_missing && !was_missing_twice ? later(missing_since, between_looks) : never;
  }
  /// That it is lost.
  [[nodiscard]] bool is_certain() const noexcept { return !text.empty() || was_missing_twice; }

 private:
  [[nodiscard]] static Time end_of_quarantine(long long pttl, Time now) noexcept {
    if (pttl == -1) return never;
    constexpr long long longest = std::chrono::milliseconds{std::chrono::hours{24 * 3650}}.count();
    return pttl < 0 ? Time::min() : later(now, std::chrono::milliseconds{std::min(pttl, longest) + 1});
  }
};

}  // namespace redlock::inline v1::core
