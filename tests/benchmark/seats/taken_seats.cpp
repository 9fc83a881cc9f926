#include "benchmark/seats/taken_seats.hpp"

#include "redlock/core/wire/keys.hpp"

namespace redlock::benchmark {
namespace {

constexpr std::string_view change_hands =
    "for i,key in ipairs(KEYS) do "
    "if i>ARGV[1]+0 then redis.call('SET',key,'somebody') else redis.call('DEL',key) end end "
    "return 'OK'";

}  // namespace

TakenSeats::TakenSeats(const std::vector<RawAddress>& servers) : nodes_(servers.begin(), servers.end()) {}

void TakenSeats::take(std::string_view semaphore) {
  const std::string given_up = std::to_string(taken_.size());
  std::vector<std::string> keys = std::move(taken_);
  taken_.clear();
  const std::string line_key = core::line_of_seats(semaphore);
  for (std::size_t seat = 0; seat < seats / 2; ++seat) taken_.push_back(core::seat_key(line_key, seat));
  keys.insert(keys.end(), taken_.begin(), taken_.end());

  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words{"EVAL", change_hands, count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.push_back(given_up);
  for (NodeConnection& node : nodes_) node.ask(words);
}

}  // namespace redlock::benchmark
