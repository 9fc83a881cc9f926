#include "redlock/core/wire/scripts.hpp"

#include <algorithm>
#include <string>

#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "support/catch.hpp"

using namespace redlock::core;

TEST_CASE("a_script_is_called_by_its_digest_or_by_its_source") {
  CHECK(release_script.call({"key"}, {"me"}) == command({"EVALSHA", release_script.sha1, "1", "key", "me"}));
  CHECK(release_script.call({"key"}, {"me"}, Form::source) ==
        command({"EVAL", release_script.source, "1", "key", "me"}));
  CHECK(extend_script.call({"key"}, {"me", "1000"}) ==
        command({"EVALSHA", extend_script.sha1, "1", "key", "me", "1000"}));
  CHECK(extend_script.call({"key"}, {"me", "1000"}, Form::source) ==
        command({"EVAL", extend_script.source, "1", "key", "me", "1000"}));
  CHECK(grant_script.call({"key", "counter"}, {"me", "1000", "7", "0"}) ==
        command({"EVALSHA", grant_script.sha1, "2", "key", "counter", "me", "1000", "7", "0"}));
}

TEST_CASE("keys_that_are_empty_are_left_out_and_not_counted") {
  CHECK(release_script.call({"key", ""}, {"me"}) == release_script.call({"key"}, {"me"}));
  CHECK(grant_script.call({"key", "counter", ""}, {"me", ""}) ==
        command({"EVALSHA", grant_script.sha1, "2", "key", "counter", "me", ""}));
  CHECK(grant_script.call({"key", "counter", ""}, {"me"}, Form::digest, &keys_without_prefix, "flag") +
            RequiredMarker{"beginning", "ending"}.arguments() ==
        command({"EVALSHA", grant_script.sha1, "5", "key", "counter", "redlock:node", "redlock:quarantine",
                 "flag", "me", "beginning", "ending"}));
}

TEST_CASE("digests_are_40_lower_case_hex_digits") {
  for (const Script* const script : all_scripts) {
    CHECK(script->sha1.size() == 40);
    CHECK(script->sha1.find_first_not_of("0123456789abcdef") == script->sha1.npos);
  }
}

TEST_CASE("no_script_that_may_follow_a_release_can_set_an_owner_value") {
  // Therefore each of them may follow a release of the same owner value.
  std::string release{release_script.source};
  const std::string keeps = "'SET',KEYS[1],'" + std::string{kept_value} + "',";
  release.erase(release.find(keeps), keeps.size());
  for (const std::string& script :
       {release, std::string{extend_script.source}, std::string{shared_release_script.source},
        std::string{shared_extend_script.source}})
    for (const auto* const writes : {"'SET", "'GETSET", "'APPEND", "'RESTORE", "'RENAME", "'COPY"})
      CHECK(script.find(writes) == script.npos);
}
