// Parses the command line.
#pragma once

#include <functional>
#include <iosfwd>

#include "tool/command_line/credentials.hpp"

namespace redlock::tool {

struct Commands;

/// Returns what `execute` returns, which is given the command and its arguments. The words before `--` are parsed; the words
/// after it are the command of `redlock run`, passed on unchanged. Asked for help, it writes that to `out`. Wrong usage is
/// explained on `err`, in printable text without passwords of nodes. Then nothing is executed, and the exit code is
/// returned. Throws what `execute` throws.
int run_command_line(CommandLine line, const std::function<int(const Commands&)>& execute, std::ostream& out,
                     std::ostream& err);

}  // namespace redlock::tool
