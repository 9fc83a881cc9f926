// Users and passwords of nodes in the words of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redlock/endpoint.hpp"

namespace redlock::tool {

/// A command line without the users and passwords of its nodes. Each is replaced by its number among the logins.
struct CommandLine {
  std::vector<std::string> words;
  std::vector<Secret> logins = {};
};

/// Takes users and passwords out of the URLs of `--node`, and overwrites them where every user of the machine can read the
/// command line.
[[nodiscard]] CommandLine take_command_line(int argc, char** argv);

/// The node with this URL, in which a number may stand for user and password. Throws as `Endpoint` does.
[[nodiscard]] Endpoint node_at(std::string_view url, const std::vector<Secret>& logins);

/// The name of an option in a word that begins with a hyphen, without a value behind it, which may be a password.
[[nodiscard]] std::string option_name(std::string_view word);

/// The text, such as a message, without what may be the user and the password of a URL, or of one that is written wrongly, and
/// without the value in `--name=value`.
[[nodiscard]] std::string without_credentials(std::string text);

}  // namespace redlock::tool
