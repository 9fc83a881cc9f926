// Parses the command line, and runs the command that it names.
#pragma once

#include <string>
#include <vector>

namespace redlock::tool {

/// Returns the exit code. The words before `--` are parsed; the words after it are the command of `redlock run`, passed on
/// unchanged. Wrong usage is explained on stderr. Throws what the commands throw.
int run_command_line(const std::vector<std::string>& words);

}  // namespace redlock::tool
