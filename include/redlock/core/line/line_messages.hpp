// The keys, times and replies of the waiting line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

/// The keys of one line. All but the flag are only on the node that orders the line.
struct LineKeys {
  std::string order;
  std::string alive;
  std::string born;
  std::string flag;

  explicit LineKeys(std::string_view lock_key)
      : order{companion_key("qo", lock_key)},
        alive{companion_key("qa", lock_key)},
        born{companion_key("qb", lock_key)},
        flag{flag_key(lock_key)} {}
};

/// The channel on which a member of lines hears that it became the first one, or is no longer.
[[nodiscard]] inline std::string turn_channel(std::string_view member) {
  return std::string{"redlock:turn:"}.append(member.substr(0, 16));
}

/// The lock of which this is the key of the order; none for another key.
[[nodiscard]] inline std::optional<std::string_view> lock_key_of_order(std::string_view order_key) noexcept {
  constexpr std::string_view tagged = "redlock:qot:";
  constexpr std::string_view plain = "redlock:qo:{";
  if (order_key.starts_with(tagged)) return order_key.substr(tagged.size());
  if (!order_key.starts_with(plain) || !order_key.ends_with('}')) return std::nullopt;
  return order_key.substr(plain.size(), order_key.size() - plain.size() - 1);
}

/// Stands in the line, or looks where the member stands. `anew`: its call is another one than before.
[[nodiscard]] inline std::string stand_command(const LineKeys& keys, std::string_view member, Span waited,
                                               bool anew, bool tests_publishing,
                                               std::chrono::milliseconds life, Form form = Form::digest) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  return line_script.call({keys.order, keys.alive, keys.born},
                          {member, std::to_string(micros), std::to_string(life.count()), anew ? "1" : "0",
                           tests_publishing ? "1" : "0"},
                          form);
}
[[nodiscard]] inline std::string leave_command(const LineKeys& keys, std::string_view member,
                                               std::chrono::milliseconds life, Form form = Form::digest) {
  return line_script.call({keys.order, keys.alive, keys.born},
                          {member, "", std::to_string(life.count()), "0", "0"}, form);
}

/// The reply of `line_script`.
struct LinePlace {
  std::int64_t rank = -1;  // from 0 on; -1: does not stand there
  std::int64_t length = 0;
  std::optional<Span> ahead_left{};  // after this time all before it count as dead
  bool can_publish = true;
  std::string line;  // names the line since it was formed
};
/// Returns none for a reply that the script does not give.
[[nodiscard]] inline std::optional<LinePlace> read_place(const Reply& reply, std::chrono::milliseconds life) {
  const auto& parts = reply.elements;
  if (!reply.is(Reply::Kind::array) || parts.size() != 5 || !parts[4].is(Reply::Kind::string))
    return std::nullopt;
  for (std::size_t at = 0; at < 4; ++at)
    if (!parts[at].is(Reply::Kind::integer)) return std::nullopt;
  constexpr std::size_t longest_name = 100;
  if (parts[0].integer < -1 || parts[0].integer >= parts[1].integer || parts[4].text.size() > longest_name)
    return std::nullopt;
  LinePlace place{.rank = parts[0].integer,
                  .length = parts[1].integer,
                  .can_publish = parts[3].integer == 1,
                  .line = parts[4].text};
  if (parts[2].integer >= 0)
    place.ahead_left = std::chrono::milliseconds{std::min<std::int64_t>(parts[2].integer, life.count())};
  return place;
}

}  // namespace redlock::inline v1::core
