// The program redlock-chaos.
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "testing/process.hpp"

using namespace redlock::testing;

// Its servers are restarted for the first time after a second, so nothing is found.
TEST_CASE("a_run_that_fails_keeps_its_logs_and_says_where") {
  const TempFolder folder;
  const std::string output = folder.path() / "said";
  const pid_t run =
      detail::launch({.arguments = {"/usr/bin/env", "TMPDIR=" + folder.path().string(), REDLOCK_CHAOS,
                                    "--mutant", "marker-without-run-id", "--restarts", "--seconds", "1"},
                      .output = output});
  int status = 0;
  REQUIRE(::waitpid(run, &status, 0) == run);
  std::ifstream file{output};
  const std::string said{std::istreambuf_iterator<char>{file}, {}};
  CAPTURE(said);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 1));
  CHECK_THAT(said, contains("The mutant was not found."));
  const std::string lead = "The logs are in ";
  const std::size_t at = said.find(lead);
  REQUIRE(at != std::string::npos);
  const std::filesystem::path logs = said.substr(at + lead.size(), said.find('\n', at) - at - lead.size());
  CHECK(std::filesystem::file_size(logs / "faults") > 0);
}
