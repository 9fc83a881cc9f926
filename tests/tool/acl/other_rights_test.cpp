// What the rules of no feature allow.
#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/network/raw_client.hpp"
#include "tool/acl/limited_user.hpp"
#include "tool/acl/rules.hpp"

namespace {

using namespace redlock::testing;
using redlock::tool::acl_rules;
using redlock::tool::all_features;
using redlock::tool::Feature;

using Command = std::vector<std::string>;

/// A connection of the user.
struct Intruder {
  explicit Intruder(const LimitedUser& f) : client{f.nodes.port(0)} {
    REQUIRE(client.command({"AUTH", "app", "secret"}) == "OK");
  }
  bool is_refused(const Command& command) { return client.command(command).starts_with("-NOPERM"); }
  /// Inside a script.
  bool is_refused_by_script(const Command& command) {
    std::string call = "return redis.call(";
    for (const std::string& word : command) call += (call.ends_with('(') ? "'" : ",'") + word + '\'';
    const std::string answer = client.command({"EVAL", call + ")", "0"});
    return answer.starts_with("-ERR The user executing the script can't ") ||  // Redis 7.0
           answer.starts_with("-NOPERM ACL failure in script: ");
  }

  RawClient client;
};

/// Of an administrator.
const std::vector<Command> of_administrator{{"FLUSHALL"},
                                            {"KEYS", "*"},
                                            {"MONITOR"},
                                            {"SHUTDOWN", "NOSAVE"},
                                            {"CONFIG", "SET", "maxmemory", "1"},
                                            {"DEBUG", "SLEEP", "0"},
                                            {"MODULE", "LIST"},
                                            {"ACL", "LIST"},
                                            {"CLIENT", "LIST"},
                                            {"CLIENT", "KILL", "TYPE", "normal"},
                                            {"REPLICAOF", "NO", "ONE"},
                                            {"FUNCTION", "LIST"},
                                            {"SCRIPT", "FLUSH"},
                                            {"PSUBSCRIBE", "*"},
                                            {"SUBSCRIBE", "other"},
                                            {"PUBLISH", "other", "text"}};

/// What a feature and those that include it allow, and no other.
struct Right {
  Command command;
  std::vector<Feature> features;
};
const std::vector<Right> rights{
    {{"SET", "app:r", "x"},
     {Feature::plain, Feature::fenced, Feature::renewed, Feature::waiting, Feature::shared,
      Feature::operating}},
    {{"GET", "redlock:f:{app:r}"}, {Feature::fenced, Feature::shared, Feature::operating}},
    {{"GETRANGE", "redlock:a:{app:r}:x", "0", "1"}, {Feature::renewed, Feature::operating}},
    {{"PEXPIRE", "app:r", "99999"},
     {Feature::renewed, Feature::waiting, Feature::shared, Feature::operating}},
    {{"CLIENT", "CACHING", "YES"}, {Feature::renewed, Feature::waiting, Feature::operating}},
    {{"ZADD", "redlock:qo:{app:r}", "1", "x"}, {Feature::waiting, Feature::operating}},
    {{"PUBLISH", "redlock:turn:0", ""}, {Feature::waiting, Feature::operating}},
    {{"SADD", "redlock:s:{app:r}", "x"}, {Feature::shared, Feature::operating}},
    {{"SCAN", "0"}, {Feature::operating}},
    {{"CONFIG", "GET", "maxmemory"}, {Feature::operating}}};

}  // namespace

TEST_CASE("the_rules_of_no_feature_allow_the_commands_of_an_administrator") {
  LimitedUser f{some_prefix()};
  for (const Feature feature : all_features) {
    f.allow(acl_rules({feature}, f.prefix));
    Intruder intruder{f};
    for (const Command& command : of_administrator) {
      CAPTURE(f.prefix, name_of(feature), command);
      CHECK(intruder.is_refused(command));
    }
    for (const Command& command : {Command{"FLUSHALL"}, {"KEYS", "*"}, {"SCAN", "0"}})
      if (feature != Feature::operating) CHECK(intruder.is_refused_by_script(command));
  }
}

TEST_CASE("the_rules_of_a_feature_allow_the_commands_of_no_other_one") {
  LimitedUser f{"app:"};
  for (const Feature feature : all_features) {
    f.allow(acl_rules({feature}, f.prefix));
    Intruder intruder{f};
    for (const Right& right : rights) {
      CAPTURE(name_of(feature), right.command);
      CHECK(intruder.is_refused(right.command) == (std::ranges::count(right.features, feature) == 0));
    }
  }
}

TEST_CASE("a_user_with_a_key_prefix_has_no_right_to_the_keys_of_others") {
  LimitedUser f{"app:"};
  for (const Feature feature : all_features) {
    f.allow(acl_rules({feature}, f.prefix));
    Intruder intruder{f};
    for (const std::string key :
         {"r", "other:r", "app", "redlock:node", "redlock:quarantine",
          "redlock:node:other:", "redlock:node:app:x", "redlock:quarantine:other:", "redlock:f:{other:r}",
          "redlock:ft:other:{r}", "redlock:a:{other:r}", "redlock:at:other:{r}", "redlock:qo:{other:r}",
          "redlock:qw:{other:r}", "redlock:qwt:other:{r}", "redlock:s:{other:r}", "redlock:st:other:{r}"}) {
      CAPTURE(name_of(feature), key);
      CHECK(intruder.is_refused({"SET", key, "x"}));
      CHECK(intruder.is_refused({"DEL", key}));
      CHECK(intruder.is_refused({"GETRANGE", key, "0", "9"}));
      CHECK(intruder.is_refused_by_script({"SET", key, "x"}));
    }
  }
}
