#include "tool/command_line/near_miss.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "redlock/core/base/printable.hpp"
#include "tool/command_line/credentials.hpp"
#include "tool/command_line/suggestion.hpp"

namespace redlock::tool {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Returns null if there is none with this name.
const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&name](const CLI::App* command) { return command->check_name(name); });
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// A command that is no command.
std::optional<std::string> unknown_command(const CLI::App& app, const std::string& word, bool has_separator) {
  const std::string refusal = "there is no command " + core::printable(word) + ". Did you mean redlock ";
  const std::string parents = app.get_parent() ? app.get_name() + ' ' : "";
  if (const auto name = nearest_command(word, commands_of(app))) return refusal + parents + *name + '?';
  if (has_separator) return refusal + "run " + core::printable(word) + " -- CMD?";
  return std::nullopt;
}

/// The only option whose name goes on with a hyphen where this one ends: `--password-file` for `--password`.
std::optional<std::string> longer_option(const std::string& name, const std::vector<std::string>& known) {
  const auto goes_on = [&](const std::string& other) { return other.starts_with(name + '-'); };
  const auto found = std::ranges::find_if(known, goes_on);
  if (found == known.end() || std::ranges::count_if(known, goes_on) > 1) return std::nullopt;
  return *found;
}

/// The first option that the command does not have, if it has one with nearly the same name.
std::optional<std::string> unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  const std::vector<std::string> known = options_of(command);
  for (const std::string& word : words) {
    const std::string name = option_name(word);
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    auto nearest = nearest_word(name, known);
    if (!nearest) nearest = longer_option(name, known);
    if (nearest) return "there is no option " + core::printable(name) + ". Did you mean " + *nearest + '?';
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> near_miss(const CLI::App& app, const std::vector<std::string>& words) {
  const auto separator = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own{words.begin(), separator};
  if (own.empty() || own.front().starts_with('-')) return unknown_option(app, own);
  const CLI::App* const command = find_command(app, own.front());
  if (!command) return unknown_command(app, own.front(), separator != words.end());
  if (auto explanation = unknown_option(*command, own)) return explanation;
  if (!commands_of(*command).empty() && own.size() > 1 && !own[1].starts_with('-'))
    return find_command(*command, own[1]) ? std::nullopt : unknown_command(*command, own[1], false);
  if (command->get_name() == "release" && std::ranges::find(own, "--force") == own.end())
    return "release ends a lock that another process holds, which has to be said. Did you mean redlock "
           "release --force " +
           (own.size() == 2 && !own[1].starts_with('-') ? core::printable(own[1]) : "RESOURCE") + '?';
  return std::nullopt;
}

}  // namespace redlock::tool
