// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "tool/nodes.hpp"
#include "values/time_text.hpp"

namespace redlock::tool {

/// Adds an option whose value is a time. A text that is no time is reported as wrong usage.
template <class Value>
CLI::Option* add_time(CLI::App& command, const std::string& name, Value& value, const std::string& text) {
  const auto parse = [&value, name](const std::string& given) {
    try {
      value = detail::parse_time(given);
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError{name, error.what()};
    }
  };
  return command.add_option_function<std::string>(name, parse, text)->type_name("TIME");
}

/// Adds the options that say which nodes there are, and on what all their users agree.
void add_nodes(CLI::App& command, NodeChoice& nodes);

}  // namespace redlock::tool
