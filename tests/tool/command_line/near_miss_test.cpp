// What redlock says about a command line that is nearly right.
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "tool/command_line/suggestion.hpp"
#include "tool/program.hpp"

using redlock::testing::run_tool;
using redlock::tool::nearest_command;
using redlock::tool::nearest_word;
using Words = std::vector<std::string>;

TEST_CASE("a_misspelt_command_or_option_is_answered_with_the_right_one") {
  const std::vector<std::pair<Words, std::string>> cases{
      {{"lst"}, "there is no command lst. Did you mean redlock list?"},
      {{"ls", "a"}, "there is no command ls. Did you mean redlock list?"},
      {{"stauts", "r"}, "there is no command stauts. Did you mean redlock status?"},
      {{"unlock", "r"}, "there is no command unlock. Did you mean redlock release?"},
      {{"rnu", "r", "--", "true"}, "there is no command rnu. Did you mean redlock run?"},
      {{"backup", "--", "true"}, "there is no command backup. Did you mean redlock run backup -- CMD?"},
      {{"nodes", "sett", "--max-ttl", "5m"}, "there is no command sett. Did you mean redlock nodes set?"},
      {{"run", "--tll=5s", "r", "--", "true", "--wiat"}, "there is no option --tll. Did you mean --ttl?"},
      {{"list", "--jsn"}, "there is no option --jsn. Did you mean --json?"},
      {{"--verison"}, "there is no option --verison. Did you mean --version?"},
      {{"l\x1bist"}, "there is no command l\\x1bist. Did you mean redlock list?"},
      {{"release", "backup"},
       "release ends a lock that another process holds, which has to be said. Did you mean redlock release "
       "--force "
       "backup?"},
      {{"release", "backup", "--yes"},
       "release ends a lock that another process holds, which has to be said. Did you mean redlock release "
       "--force "
       "RESOURCE?"},
  };
  for (const auto& [words, message] : cases) {
    const auto ending = run_tool(words);
    CHECK(ending.code == 64);
    CHECK(ending.errors == "redlock: " + message + "\n");
    CHECK(ending.output.empty());
  }
}

TEST_CASE("nothing_is_suggested_where_nothing_is_near") {
  for (const Words& words : {Words{"somewhere"}, Words{"list", "a", "b"}, Words{"nodes", "ls"},
                             Words{"run", "--zzzzzz", "r", "--", "true"}}) {
    const auto ending = run_tool(words);
    CHECK(ending.code == 64);
    CHECK(ending.errors.find("Did you mean") == std::string::npos);
    CHECK_FALSE(ending.errors.empty());
  }
}

TEST_CASE("a_node_in_the_wrong_place_is_refused_without_its_password") {
  const std::string node = "redis://ann:hunter2@10.0.0.1";
  const std::string help = "\nRun with --help for more information.\n";
  const std::vector<std::pair<Words, std::string>> cases{
      {{"status", "r", node}, "The following argument was not expected: redis://***@10.0.0.1" + help},
      {{"run", "--order", node, "r", "--", "true"},
       "--order: redis://***@10.0.0.1 not in {fifo,none}" + help},
      {{node, "--", "true"},
       "redlock: there is no command redis://***@10.0.0.1. Did you mean redlock run redis://***@10.0.0.1 -- "
       "CMD?\n"},
      {{"status", "r", "\x1b[2J"}, "The following argument was not expected: \\x1b[2J" + help},
  };
  for (const auto& [words, message] : cases) {
    const auto ending = run_tool(words);
    CHECK(ending.code == 64);
    CHECK(ending.errors == message);
  }
}

TEST_CASE("unexpected_words_are_named_in_their_order_but_not_those_behind_an_unknown_option") {
  CHECK(run_tool({"status", "r", "a", "b"})
            .errors.starts_with("The following arguments were not expected: a b\n"));
  CHECK(run_tool({"nodes", "--zzzzzz", "a"}).errors.starts_with("redlock: nodes has no option --zzzzzz\n"));
}

TEST_CASE("an_option_before_the_command_is_refused_by_its_place") {
  CHECK(run_tool({"--node", "redis://10.0.0.1", "list"})
            .errors.starts_with("redlock: there is no option --node before the command\n"));
}

TEST_CASE("an_option_that_ends_too_early_is_answered_with_the_whole_one") {
  CHECK(run_tool({"nodes", "--password", "swordfish"}).errors ==
        "redlock: there is no option --password. Did you mean --password-file?\n");
}

TEST_CASE("an_unknown_option_is_named_although_a_word_is_missing_beside_it") {
  CHECK(run_tool({"run", "-n", "-x", "--", "true"}).errors.starts_with("redlock: run has no option -x\n"));
  CHECK(run_tool({"run", "-n", "--", "true"}).errors.starts_with("RESOURCE is required\n"));
}

TEST_CASE("the_nearest_word_differs_in_at_most_two_letters") {
  const Words known{"run", "status", "release"};
  CHECK(nearest_word("relaese", known) == "release");   // two neighbours
  CHECK(nearest_word("rlease", known) == "release");    // one is missing
  CHECK(nearest_word("releaase", known) == "release");  // one is too many
  CHECK(nearest_word("stetes", known) == "status");     // two others
  CHECK_FALSE(nearest_word("stetis?", known));
  CHECK_FALSE(nearest_word("rxx", known));  // more than half of it
  CHECK_FALSE(nearest_word(std::string(10'000, 'r'), known));
  CHECK_FALSE(nearest_word("run", {}));
  CHECK(nearest_command("unlock", known) == "release");
  CHECK(nearest_command("rum", known) == "run");
}
