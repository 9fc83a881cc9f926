// Commands on sorted sets, and the script of a waiting line.
#include <string>
#include <vector>

#include "redlock/core/wire/scripts.hpp"
#include "simulation/conformance/operation.hpp"
#include "simulation/conformance/words.hpp"

namespace redlock::simulation {
namespace {

using Texts = std::vector<std::string>;

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
  const core::Script& script = core::line_script;
  Operation operation{.words = {"EVAL", std::string{script.source}, "3"}};
  for (const std::string_view usual : {line_key, alive_key, born_key})
    operation.timed.push_back(random_.one_in(16) ? any_key(random_) : std::string{usual});
  Texts& words = operation.words;
  words.insert(words.end(), operation.timed.begin(), operation.timed.end());
  words.push_back(any_member(random_));
  switch (random_.below(4)) {
    case 0:
      words.push_back("");  // leaves
      break;
    case 1:
      words.push_back(random_.one_in(2) ? any_value(random_) : "-1");
      break;
    default:
      words.push_back(std::to_string(random_.between(0, 5) * 1'000'000));
  }
  // A life of a few milliseconds would end during the comparison.
  words.push_back(random_.one_in(2) ? long_life(random_)
                                    : random_.pick({"4000000", "4000000", "0", "-1", "none"}));
  words.push_back(random_.pick({"0", "0", "1"}));
  words.push_back(random_.pick({"0", "0", "1"}));
  return operation;
}

}  // namespace redlock::simulation
