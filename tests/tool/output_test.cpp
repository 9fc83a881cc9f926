// What the commands write to stdout.
#include <array>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "tool/program.hpp"
#include "tool/table.hpp"

using namespace redlock::testing;

namespace {

Program::Ending run_with_output(const std::string& redirection, const std::string& arguments,
                                const std::vector<std::string>& urls) {
  return Program{{"bash", "-c", REDLOCK_TOOL " " + arguments + " " + redirection}, {nodes_variable(urls)}}
      .wait();
}

Program::Ending run_with_full_disk(const std::string& arguments, const std::vector<std::string>& urls) {
  return run_with_output(">/dev/full", arguments, urls);
}

}  // namespace

TEST_CASE("a_command_whose_output_cannot_be_written_says_so_and_does_not_succeed") {
  LocalNodes nodes{1};
  redlock::Redlock locks{nodes.urls()};
  const redlock::Lease lease = locks.lock("r").value();
  for (const char* const arguments :
       {"status r", "status --json r", "status --seats 2 r", "list", "list --json", "watch r", "leader r",
        "leader --watch r", "revoke r", "nodes", "nodes init", "acl", "--help", "run --help", "--version",
        "release --force --yes r"}) {
    CAPTURE(arguments);
    const Program::Ending ending = run_with_full_disk(arguments, nodes.urls());
    CHECK(ending.code == 74);
    CHECK_THAT(ending.errors, contains("redlock: cannot write the output: No space left on device\n"));
  }
}

TEST_CASE("a_command_with_output_and_a_closed_stdout_says_so_and_does_not_succeed") {
  LocalNodes nodes{1};
  for (const char* const arguments : {"status r", "list", "watch r", "--help"})
    for (const char* const redirection : {">&-", "<&- >&-"}) {
      CAPTURE(arguments, redirection);
      const Program::Ending ending = run_with_output(redirection, arguments, nodes.urls());
      CHECK(ending.code == 74);
      CHECK_THAT(ending.errors, contains("redlock: cannot write the output: Bad file descriptor\n"));
    }
  CHECK(run_with_output(">&-", "run r -- true", nodes.urls()).code == 0);
  CHECK(run_with_output(">&- 2>&-", "status r", nodes.urls()).code == 74);
}

TEST_CASE("an_output_that_cannot_be_written_does_not_change_the_code_of_a_command_under_a_lock") {
  LocalNodes nodes{1};
  const Program::Ending ending = run_with_full_disk("run r -- sh -c 'echo text; exit 3'", nodes.urls());
  CHECK(ending.code == 3);
  CHECK(ending.errors.find("redlock: ") == std::string::npos);
}

TEST_CASE("the_columns_of_a_table_are_aligned_by_characters") {
  std::ostringstream printed;
  std::streambuf* const stdout_buffer = std::cout.rdbuf(printed.rdbuf());
  redlock::tool::Table<2>{}.print(std::array<redlock::tool::Table<2>::Row, 3>{
      {{"HOLDER", "TTL"}, {"gr\u00f6\u00dfer \u20ac", "1 s"}, {"smaller", "2 s"}}});
  std::cout.rdbuf(stdout_buffer);
  CHECK(printed.str() ==
        "HOLDER    TTL\n"
        "gr\u00f6\u00dfer \u20ac  1 s\n"
        "smaller   2 s\n");
}
