// A C++ file as the checker sees it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace redlock::layers {

/// One `#include` line.
struct Include {
  std::string name;  // what stands between the quotes or the angle brackets
  bool is_quoted = false;
  int line = 0;
};

/// A function that is defined outside of other functions.
struct Function {
  std::string signature;  // up to the opening brace, in one line
  int line = 0;           // where the signature begins
  int lines = 0;          // from there to the closing brace, both included, with blank lines and comments
};

/// All of a file. Throws std::runtime_error if it cannot be read.
std::string text_of(const std::filesystem::path& file);

int line_count(const std::string& text);

std::vector<Include> includes_of(const std::string& text);

/// Blanks out comments, preprocessor lines and the contents of literals. Keeps the line breaks.
std::string without_comments_and_literals(const std::string& text);

/// The function definitions at the scope of namespaces and types, found by matching braces. Throws
/// std::runtime_error if the braces do not match. Relies on the project's format: a space precedes the opening
/// brace of a body, and none precedes that of a member initializer. A lambda is part of the function around it;
/// outside of functions it is a function of its own. So is a requires-expression.
std::vector<Function> functions_of(const std::string& text);

}  // namespace redlock::layers
