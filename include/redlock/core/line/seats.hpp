// The seats of a semaphore.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

/// The PTTL of every key.
inline constexpr std::string_view seats_source =
    "local left={} for i,key in ipairs(KEYS) do left[i]=redis.call('PTTL',key) end return left";

/// Asks for the PTTL of every seat. It names the script by its source, because an answer NOSCRIPT would not arm the keys for
/// messages about changes. (MGET would return the values, and data keys with such names may be huge.)
[[nodiscard]] inline std::string read_seats_command(std::string_view line_key, std::size_t seats) {
  std::vector<std::string> keys;
  for (std::size_t seat = 0; seat < seats; ++seat) keys.push_back(seat_key(line_key, seat));
  const std::string count = std::to_string(seats);
  std::vector<std::string_view> words{"EVAL", seats_source, count};
  words.insert(words.end(), keys.begin(), keys.end());
  std::string out;
  append_command(out, words);
  return out;
}
[[nodiscard]] inline bool tells_seats(const Reply& reply, std::size_t seats) {
  return reply.is(Reply::Kind::array) && reply.elements.size() == seats &&
         std::all_of(reply.elements.begin(), reply.elements.end(),
                     [](const Reply& left) { return left.is(Reply::Kind::integer); });
}

/// Seats of which this client knows that they became free. A call that asks for one of them first mostly gets it in one round trip.
/// It knows little: at most 64 seats each of 1000 semaphores.
class FreedSeats {
 public:
  void add(std::string_view line_key, std::size_t seat) {
    auto known = seats_.find(line_key);
    if (known == seats_.end()) {
      if (seats_.size() >= 1000) seats_.clear();
      known = seats_.emplace(line_key, std::vector<std::size_t>{}).first;
    }
    std::vector<std::size_t>& seats = known->second;
    std::erase(seats, seat);
    if (seats.size() >= 64) seats.erase(seats.begin());
    seats.push_back(seat);
  }
  /// The one that became free last; none if no seat below `count` is known.
  [[nodiscard]] std::optional<std::size_t> take(std::string_view line_key, std::size_t count) {
    const auto known = seats_.find(line_key);
    if (known == seats_.end()) return std::nullopt;
    std::vector<std::size_t>& seats = known->second;
    std::optional<std::size_t> taken;
    while (!taken && !seats.empty()) {
      if (seats.back() < count) taken = seats.back();
      seats.pop_back();
    }
    if (seats.empty()) seats_.erase(known);
    return taken;
  }

 private:
  std::map<std::string, std::vector<std::size_t>, std::less<>> seats_;
};

}  // namespace redlock::inline v1::core
