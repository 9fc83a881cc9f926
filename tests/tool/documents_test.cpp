// The man page and the shell completions of the command redlock agree with its --help.
#include <regex>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/project_file.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// The long options in a help text, without their dashes.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  const std::regex listed{R"(\n  (?:-\w,)?--([a-z-]+))"};
  for (std::sregex_iterator at{help.begin(), help.end(), listed}, end; at != end; ++at)
    options.insert((*at)[1]);
  return options;
}

/// What bash offers as completion of the last word.
std::string completed(const std::string& words) {
  const std::string script = "source " REDLOCK_SOURCE_DIR "/src/tool/completion/redlock.bash; COMP_WORDS=(" +
                             words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _redlock; echo \"${COMPREPLY[@]}\"";
  return Program{{"bash", "-c", script}}.wait().output;
}

}  // namespace

TEST_CASE("every_option_is_in_the_man_page_and_in_all_completions") {
  std::string man = read_project_file("docs/redlock.1");
  man = std::regex_replace(man, std::regex{R"(\\-)"}, "-");
  const std::string bash = read_project_file("src/tool/completion/redlock.bash");
  const std::string zsh = read_project_file("src/tool/completion/_redlock");
  const std::string fish = read_project_file("src/tool/completion/redlock.fish");
  std::set<std::string> options;
  for (const char* const command : {"run", "status", "nodes"})
    options.merge(options_in(run_tool({command, "--help"}).output));
  CHECK(options.size() >= 8);
  for (const std::string& option : options) {
    CAPTURE(option);
    CHECK(man.find("--" + option) != std::string::npos);
    CHECK(bash.find("--" + option) != std::string::npos);
    CHECK(zsh.find("--" + option) != std::string::npos);
    CHECK(fish.find("-l " + option) != std::string::npos);
  }
}

TEST_CASE("bash_completes_the_options_of_redlock_and_then_the_command") {
  CHECK(completed("redlock ''") == "run status nodes --help --version\n");
  CHECK(completed("redlock run --kill") == "--kill-after\n");
  CHECK(completed("redlock status --j") == "--json\n");
  CHECK(completed("redlock run --ttl ''") == "\n");
  CHECK((" " + completed("redlock run r -- tru")).find(" true") != std::string::npos);
}
