// Commands on sorted sets, and the script of a waiting line.
#include <string>
#include <vector>

#include "simulation/conformance/operation.hpp"
#include "simulation/conformance/words.hpp"

namespace redlock::simulation {
namespace {

using Texts = std::vector<std::string>;

/// One step of a client in a waiting line. KEYS: who waits since when, and who is alive until when. ARGV: the client, how long it has
/// waited, how long it stays alive (0: it leaves), and 1 to take a new place. Times are in microseconds.
constexpr std::string_view line_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local me, waited, life = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function first() return redis.call('ZRANGE', KEYS[1], 0, 0)[1] end

local before = first()
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[1], dead)
  redis.call('ZREM', KEYS[2], dead)
end
if life > 0 then
  local score = redis.call('ZSCORE', KEYS[1], me)
  local should = now - waited
  if ARGV[4] == '1' or not score or math.abs(score - should) > life then
    redis.call('ZADD', KEYS[1], should, me)
  end
  redis.call('ZADD', KEYS[2], now + life, me)
  redis.call('PEXPIRE', KEYS[1], life / 500)
  redis.call('PEXPIRE', KEYS[2], life / 500)
else
  redis.call('ZREM', KEYS[1], me)
  redis.call('ZREM', KEYS[2], me)
end
local head = first()
if head ~= before then
  for _, told in pairs({head, before}) do
    if told ~= me then redis.pcall('PUBLISH', 'redlock:turn:' .. string.sub(told, 1, 16), KEYS[1]) end
  end
end
local rank = redis.call('ZRANK', KEYS[1], me)
return {rank or -1, redis.call('ZCARD', KEYS[1]), rank == 0 and math.min(redis.call('ZSCORE', KEYS[2], head) - now, life) or -1}
)";

}  // namespace

Texts Operations::sorted_set_command() {
  Texts words{random_.pick({"ZADD", "ZADD", "ZREM", "ZSCORE", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZRANK"}),
              any_sorted_key(random_)};
  const auto one_or_more = [this](auto add) {
    do add();
    while (random_.one_in(4));
  };
  if (words[0] == "ZADD")
    one_or_more([&] {
      words.push_back(any_score(random_));
      words.push_back(any_member(random_));
    });
  if (words[0] == "ZREM") one_or_more([&] { words.push_back(any_member(random_)); });
  if (words[0] == "ZSCORE" || words[0] == "ZRANK") words.push_back(any_member(random_));
  if (words[0] == "ZRANGE" || words[0] == "ZRANGEBYSCORE") {
    const bool by_score = words[0] == "ZRANGEBYSCORE";
    for (int end = 0; end < 2; ++end) words.push_back(by_score ? any_bound(random_) : any_place(random_));
    if (random_.one_in(2)) words.push_back(any_case(random_, "WITHSCORES"));
    if (by_score && random_.one_in(2)) {
      words.push_back(any_case(random_, "LIMIT"));
      words.push_back(any_place(random_));
      words.push_back(any_place(random_));
    }
  }
  return words;
}

Operation Operations::call_of_line() {
  Operation operation{.words = {"EVAL", std::string{line_script}, "2"}};
  for (const std::string_view usual : {line_key, alive_key})
    operation.timed.push_back(random_.one_in(16) ? any_key(random_) : std::string{usual});
  Texts& words = operation.words;
  words.insert(words.end(), operation.timed.begin(), operation.timed.end());
  words.push_back(any_member(random_));
  words.push_back(random_.one_in(8) ? any_value(random_) : std::to_string(random_.between(0, 5) * 1'000'000));
  // A life of a few milliseconds would end during the comparison.
  const std::string life = std::to_string(std::stoll(long_life(random_)) * 500);
  words.push_back(random_.one_in(2) ? life : random_.pick({"0", "0", "-1", "1.5", "none"}));
  words.push_back(random_.pick({"0", "0", "1"}));
  return operation;
}

}  // namespace redlock::simulation
