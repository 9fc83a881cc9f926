// What a node is told to remember, so that it is noticed when it forgets.
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

/// Beginning with what all nodes of a deployment share, so that scripts compare one known text:
///
///     redlock 1 deployment=5f0c… nodes=5 max_ttl=60000 node=91ab… run_id=6d2e…
struct Marker {
  std::string deployment;  // `none`: it was not known when the node was marked
  std::size_t nodes = 0;
  std::chrono::milliseconds max_ttl{};
  std::string node;    // stays when the server restarts with its data
  std::string run_id;  // of the server when it was marked

  [[nodiscard]] std::string beginning() const {
    return "redlock 1 deployment=" + deployment + " nodes=" + std::to_string(nodes) +
           " max_ttl=" + std::to_string(max_ttl.count()) + " ";
  }
  [[nodiscard]] std::string text() const { return beginning() + "node=" + node + " run_id=" + run_id; }

  /// None: somebody else's text, or a later version's.
  [[nodiscard]] static std::optional<Marker> parse(std::string_view text) {
    Marker marker;
    std::int64_t max_ttl = 0;
    const bool is_marker = skip(text, "redlock 1 deployment=") && take(text, marker.deployment) &&
                           skip(text, "nodes=") && take(text, marker.nodes) && skip(text, "max_ttl=") &&
                           take(text, max_ttl) && skip(text, "node=") && take(text, marker.node) &&
                           skip(text, "run_id=");
    if (!is_marker) return std::nullopt;
    marker.max_ttl = std::chrono::milliseconds{max_ttl};
    marker.run_id = text;
    return marker;
  }

 private:
  static bool skip(std::string_view& text, std::string_view expected) noexcept {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
  }
  /// The word up to the next space.
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

/// A name for what has these run_ids: who sees the same servers at the same time calls them the same, so nobody has to
/// agree with anybody. 16 hex digits (FNV-1a).
[[nodiscard]] inline std::string name_of(std::vector<std::string> run_ids) {
  std::sort(run_ids.begin(), run_ids.end());
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (const std::string& run_id : run_ids) {
    for (const char c : run_id) add(static_cast<unsigned char>(c));
    add(' ');
  }
  std::string name;
  for (int shift = 56; shift >= 0; shift -= 8) append_hex(name, static_cast<unsigned char>(hash >> shift));
  return name;
}

/// Reads the marker, and how long the quarantine lasts: an array of both, the text empty where there is no marker, the
/// time as PTTL tells it. Before that, where the marker is still what it was when it was read (ARGV[1]), writes the
/// new one (ARGV[2]), and begins a quarantine of ARGV[3] ms, if that is not 0.
///
/// The quarantine comes with the marker that ends it, so it is begun once for each loss, whoever sees it, and
/// ends by itself. It is set anew, and not only if it is missing: an old snapshot brings back an old one, that is nearly over.
inline constexpr std::string_view mark_script =
    "local call=redis.call "
    "if ARGV[2]~='' and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2])}";

/// Only looks.
[[nodiscard]] inline std::string look_command() {
  return command({"EVAL", mark_script, "2", marker_key, quarantine_key, "", "", "0"});
}
[[nodiscard]] inline std::string mark_command(std::string_view expected, std::string_view marker,
                                              std::chrono::milliseconds quarantine) {
  return command({"EVAL", mark_script, "2", marker_key, quarantine_key, expected, marker,
                  std::to_string(quarantine.count())});
}

}  // namespace redlock::inline v1::core
