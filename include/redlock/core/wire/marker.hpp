// The marker, which the restart guard stores on every node to notice lost data.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

inline constexpr std::string_view marker_key = "redlock:node";
inline constexpr std::string_view quarantine_key = "redlock:quarantine";

/// Each key prefix has a marker and a quarantine of its own, because its users agree on the nodes, and need not know who
/// else uses the same servers.
struct MarkerKeys {
  MarkerKeys() = default;
  explicit MarkerKeys(std::string_view prefix) {
    if (prefix.empty()) return;
    marker.append(":").append(prefix);
    quarantine.append(":").append(prefix);
  }
  std::string marker{marker_key};
  std::string quarantine{quarantine_key};
};
inline const MarkerKeys keys_without_prefix;

/// What the marker of a node that may grant begins with and contains. The last two arguments of a command for a grant.
struct RequiredMarker {
  std::string_view beginning{};  // the same for all nodes
  std::string_view ending{};     // in no other node's marker; empty if nodes are durable

  /// The two arguments, encoded.
  [[nodiscard]] std::string arguments() const {
    std::string out;
    encode(out);
    return out;
  }
  /// Likewise, with the memory of `out`.
  void encode(std::string& out) const {
    out.resize(beginning.size() + ending.size() + 2 * framing);
    const char* const end = write_argument(write_argument(out.data(), beginning), ending);
    out.resize(static_cast<std::size_t>(end - out.data()));
  }
};

/// The deployment in the marker of a node that waits without knowing its deployment.
inline constexpr std::string_view no_deployment = "none";

/// Two limits, which only ever rise, and the ceiling before `max_ttl`.
struct TtlLimits {
  std::chrono::milliseconds max_ttl{};  // of the locks that may be taken
  std::chrono::milliseconds ceiling{};  // of the locks for which a node that lost its data waits

  bool operator==(const TtlLimits&) const = default;
};

/// The text of a marker begins with what all nodes of a deployment share, so that scripts can compare a known prefix:
///
///     redlock 1 deployment=5f0c… nodes=5 max_ttl=60000 ceiling=300000 node=91ab… run_id=6d2e…
///
/// The ceiling is left out while it equals `max_ttl`. The names of deployments and nodes have 16 hex digits.
struct Marker {
  std::string deployment;  // `no_deployment` if it was not known when the marker was written
  std::size_t nodes = 0;
  TtlLimits limits;
  std::string node;    // stays the same when the server restarts with its data
  std::string run_id;  // of the server when the marker was written

  [[nodiscard]] std::string beginning() const {
    return "redlock 1 deployment=" + deployment + " nodes=" + std::to_string(nodes) + " ";
  }
  [[nodiscard]] std::string text() const {
    std::string text = beginning() + "max_ttl=" + std::to_string(limits.max_ttl.count());
    if (limits.ceiling != limits.max_ttl) text += " ceiling=" + std::to_string(limits.ceiling.count());
    return text + " node=" + node + " run_id=" + run_id;
  }

  /// The part of a marker's text that the markers of other nodes and of other runs do not contain.
  [[nodiscard]] static std::string_view ending_of(std::string_view text) noexcept {
    return text.substr(std::min(text.find(" node="), text.size()));
  }

  [[nodiscard]] bool is_named() const noexcept { return deployment != no_deployment; }

  /// Returns none for a text of another program or of a later version, and if a name does not have the fixed form.
  [[nodiscard]] static std::optional<Marker> parse(std::string_view text) {
    Marker marker;
    std::int64_t max_ttl = 0;
    bool is_marker = skip(text, "redlock 1 deployment=") && take(text, marker.deployment) &&
                     skip(text, "nodes=") && take(text, marker.nodes) && skip(text, "max_ttl=") &&
                     take(text, max_ttl);
    std::int64_t ceiling = max_ttl;
    if (skip(text, "ceiling=")) is_marker = is_marker && take(text, ceiling);
    is_marker = is_marker && skip(text, "node=") && take(text, marker.node) && skip(text, "run_id=");
    if (!is_marker || !is_name(marker.node)) return std::nullopt;
    if (marker.is_named() && !is_name(marker.deployment)) return std::nullopt;
    if (max_ttl <= 0 || ceiling < max_ttl || ceiling > greatest_limit) return std::nullopt;
    marker.limits = {std::chrono::milliseconds{max_ttl}, std::chrono::milliseconds{ceiling}};
    marker.run_id = text;
    return marker;
  }

 private:
  static constexpr std::int64_t greatest_limit =
      std::int64_t{365} * 24 * 3'600'000;  // ms, as for `Options::max_ttl`

  static bool is_name(std::string_view text) noexcept {
    return text.size() == 16 && text.find_first_not_of(lower_hex) == std::string_view::npos;
  }
  static bool skip(std::string_view& text, std::string_view expected) noexcept {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
  }
  /// Takes the word up to the next space.
  static bool take(std::string_view& text, std::string& word) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return false;
    word = text.substr(0, space);
    text.remove_prefix(space + 1);
    return !word.empty();
  }
  template <class Number>
  static bool take(std::string_view& text, Number& number) {
    std::string word;
    if (!take(text, word)) return false;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
  }
};

/// A name for the servers with these run_ids, or for other words: 16 hex digits (FNV-1a). Clients that see the same
/// servers at the same time compute the same name, so they need not agree on one.
[[nodiscard]] inline std::string name_of(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (const std::string& word : words) {
    for (const char c : word) add(static_cast<unsigned char>(c));
    add(' ');
  }
  std::string name;
  for (int shift = 56; shift >= 0; shift -= 8) append_hex(name, static_cast<unsigned char>(hash >> shift));
  return name;
}

/// Returns an array of the marker's text (empty if there is no marker), the quarantine's PTTL, the server's time in
/// microseconds, for how many seconds the server has been running (zero if it was a replica in this run, because then it
/// may have forgotten what it granted in this run), and its run_id (empty if it does not report one).
///
/// If ARGV[2] is not empty and the marker is still ARGV[1], it first writes ARGV[2] as the new marker and begins a
/// quarantine of ARGV[3] ms. If ARGV[3] is 0, the quarantine stays as it is; if it is -1, the quarantine ends. A mark
/// that arrives more than a second after the look that it is based on changes nothing. ARGV[4]: the time which that
/// look returned.
///
/// Marker and quarantine are written together, so each loss of data begins one quarantine, however many clients notice
/// the loss. The quarantine ends by itself. It is set even if there is one already, because a restored old snapshot may
/// contain an old quarantine that is nearly over.
inline constexpr std::string_view mark_script =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "local about=call('INFO','replication') "
    "local server=call('INFO','server') "
    "local uptime=string.find(about,'role:master',1,true) and "
    "string.find(about,'second_repl_offset:-1',1,true) "
    "and string.match(server,'uptime_in_seconds:(%d+)') "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),now,tonumber(uptime or 0),"
    "string.match(server,'run_id:(%S+)') or ''}";

/// What a mark does to the node's quarantine: begins one of that length, or one of these.
inline constexpr std::chrono::milliseconds quarantine_stays{0};
inline constexpr std::chrono::milliseconds quarantine_ends{-1};

/// The command that only reads marker and quarantine.
[[nodiscard]] inline std::string look_command(const MarkerKeys& keys = keys_without_prefix) {
  return command({"EVAL", mark_script, "2", keys.marker, keys.quarantine, "", "", "0", "0"});
}
/// `looked_at`: the server's time from the look that returned `expected`.
[[nodiscard]] inline std::string mark_command(const MarkerKeys& keys, std::string_view expected,
                                              std::string_view marker, std::chrono::milliseconds quarantine,
                                              long long looked_at) {
  return command({"EVAL", mark_script, "2", keys.marker, keys.quarantine, expected, marker,
                  std::to_string(quarantine.count()), std::to_string(looked_at)});
}

}  // namespace redlock::inline v1::core
