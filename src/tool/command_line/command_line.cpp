#include "tool/command_line/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/version.hpp"
#include "tool/command_line/commands.hpp"
#include "tool/command_line/credentials.hpp"
#include "tool/command_line/help_texts.hpp"
#include "tool/command_line/near_miss.hpp"
#include "tool/exit_code.hpp"

namespace redlock::tool {
namespace {

std::vector<std::string> without_credentials(std::vector<std::string> words) {
  for (std::string& word : words) word = tool::without_credentials(std::move(word));
  return words;
}

/// The words that no option and no command takes. One behind an option is not repeated: it may be a password.
std::string unexpected(const std::vector<std::string>& unknown, const std::vector<std::string>& words) {
  std::string reason = unknown.size() > 1 ? "The following arguments were not expected:"
                                          : "The following argument was not expected:";
  for (const std::string& word : unknown) {
    const auto follows_option = [&](const std::string& option, const std::string& next) {
      return option.starts_with('-') && next == word;
    };
    const bool is_hidden = std::ranges::adjacent_find(words, follows_option) != words.end();
    reason += ' ' + (is_hidden ? "***" : word);
  }
  return reason;
}

/// CLI11 reports a missing word before an unknown option, although that is why the word is missing, and reports all words
/// behind that option, in reverse.
std::string reason_of(const CLI::ParseError& error, const CLI::App& app,
                      const std::vector<std::string>& words) {
  const std::vector<std::string> unknown = app.remaining(true);
  const bool is_about_words = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!is_about_words || unknown.empty()) return error.what();
  const auto option = std::ranges::find_if(unknown, [](const auto& word) { return word.starts_with('-'); });
  if (option == unknown.end()) return unexpected(unknown, words);
  const std::vector<std::string> before_command = app.remaining(false);
  const std::vector<CLI::App*> commands = app.get_subcommands();
  if (commands.empty() || std::ranges::find(before_command, *option) != before_command.end())
    return "redlock: there is no option " + option_name(*option) + " before the command";
  return "redlock: " + commands.front()->get_name() + " has no option " + option_name(*option);
}

}  // namespace

int run_command_line(CommandLine line, const std::function<int(const Commands&)>& execute, std::ostream& out,
                     std::ostream& err) {
  const std::vector<std::string>& words = line.words;
  const auto separator = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> own{words.begin(), separator};
  std::reverse(own.begin(), own.end());  // the order that CLI11 expects

  CLI::App app{about, "redlock"};
  app.set_version_flag("--version", "redlock " + std::string{redlock::version()});
  Commands commands{app};
  std::vector<std::string> command;
  if (separator != words.end()) command.assign(separator + 1, words.end());
  commands.run_arguments.command = commands.elect_arguments.command = command;
  const auto runs_command = [&] { return commands.run->parsed() || commands.elect->parsed(); };
  try {
    app.parse(std::move(own));
    // Checked here, because CLI11 would check this before it reports an unknown word.
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
    if (runs_command() && command.empty()) {
      const std::vector<std::string>& words_of_run = commands.run_arguments.resources;
      if (separator == words.end() && words_of_run.size() > 1) throw CLI::ExtrasError{words_of_run};
      throw CLI::RequiredError{"-- CMD (the command to run)"};
    }
    if (!runs_command() && separator != words.end()) throw CLI::ExtrasError{{"--"}};
    const NodesArguments& nodes_arguments = commands.nodes_arguments;
    if (commands.set->parsed() && !nodes_arguments.nodes.max_ttl) throw CLI::RequiredError{"--max-ttl"};
    for (const CLI::App* const change : {commands.set, commands.init})
      for (const char* const option : {"--wait", "--json"})
        if (change->parsed() && commands.nodes->count(option) > 0)
          throw CLI::ExcludesError{change->get_name(), option};
    if (commands.set->parsed() && commands.nodes->count("--resource") > 0)
      throw CLI::ExcludesError{"set", "--resource"};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err), success;
    if (const auto explanation = near_miss(app, without_credentials(words))) {
      err << "redlock: " << *explanation << '\n';
      return usage;
    }
    const bool has_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (!has_extra || separator != words.end() || !runs_command()) {
      err << core::printable(tool::without_credentials(reason_of(error, app, words)), std::string::npos)
          << "\nRun with --help for more information.\n";
      return usage;
    }
    err << "redlock: put -- before the command, as in: redlock "
        << (commands.elect->parsed() ? "elect NAME" : "run RESOURCE") << " -- CMD\n";
    return usage;
  }
  commands.set_logins(std::move(line.logins));
  return execute(commands);
}

}  // namespace redlock::tool
