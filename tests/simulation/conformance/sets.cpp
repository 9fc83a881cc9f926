// Commands on sets, and the scripts of shared locks.
#include <string>
#include <vector>

#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "simulation/conformance/operation.hpp"
#include "simulation/conformance/words.hpp"

namespace redlock::simulation {
namespace {

using Texts = std::vector<std::string>;

constexpr const core::Script* shared_scripts[] = {&core::shared_grant_script, &core::shared_grant_script,
                                                  &core::shared_extend_script, &core::shared_put_back_script,
                                                  &core::shared_release_script};

std::string own_key(const std::string& owner) {
  return std::string{readers_key}.append(":").append(core::holder_id(owner));
}

}  // namespace

Texts Operations::set_of_names_command() {
  Texts words{random_.pick({"SADD", "SADD", "SREM", "SISMEMBER", "SMEMBERS"}),
              random_.one_in(8) ? any_key(random_) : "names"};
  if (words[0] == "SMEMBERS") return words;
  do words.push_back(any_member(random_));
  while (words[0] != "SISMEMBER" && random_.one_in(3));
  return words;
}

/// A script of shared locks, or what an operator does to one of their keys. There are only two readers: a real server tells
/// the script the others in any order, and more than one could make a difference.
Operation Operations::call_of_reader() {
  const std::string owner = any_owner(random_);
  const std::string set{readers_key};
  const std::string own = own_key(owner);
  Operation operation{.words = {}, .expiring = {"lock", set, own}};
  if (random_.one_in(4)) {
    const std::string id{core::holder_id(owner)};
    operation.words = random_.one_in(2)   ? Texts{"DEL", random_.pick({set, own, std::string{"lock"}})}
                      : random_.one_in(2) ? Texts{random_.pick({"SADD", "SREM", "SISMEMBER"}), set, id}
                      : random_.one_in(2) ? Texts{"SMEMBERS", set}
                                          : Texts{"SET", random_.one_in(8) ? set : own, any_value(random_)};
    return operation;
  }
  const core::Script& script = *shared_scripts[random_.below(std::size(shared_scripts))];
  const bool releases = &script == &core::shared_release_script;
  operation.words = random_.one_in(4) ? Texts{"EVAL", std::string{script.source}}
                                      : Texts{"EVALSHA", std::string{script.sha1}};
  Texts& words = operation.words;
  if (releases) {
    words.insert(words.end(), {"2", "lock", set, owner});
    return operation;
  }
  words.insert(words.end(), {"3", "lock", "redlock:f:{lock}", set, owner, any_life(random_)});
  if (&script != &core::shared_extend_script) words.push_back(any_proposal(random_, now_us_));
  words.push_back(random_.one_in(2) ? "0" : any_life(random_));
  if (&script == &core::shared_grant_script) words.push_back(random_.one_in(2) ? "" : any_owner(random_));
  return operation;
}

}  // namespace redlock::simulation
