// A simulated server for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "simulation/server/readable.hpp"
#include "simulation/server/server.hpp"

namespace redlock::simulation {

/// A server and its clock, which starts at one second. Tests set it.
struct ServerFixture {
  Interpreter interpreter;
  Server server{interpreter, "the-run-id"};
  std::int64_t now_ms = 1'000;

  /// The reply in readable form.
  std::string command(std::initializer_list<std::string_view> words) {
    return readable(server.execute(Words{words.begin(), words.size()}, now_ms * 1000));
  }
  /// The replies to a connection's command.
  std::string command_of(int connection, std::initializer_list<std::string_view> words) {
    Reply replies;
    Answer{replies}.array({});
    server.execute(connection, Words{words.begin(), words.size()}, now_ms * 1000, replies.elements);
    return readable(replies);
  }
  /// What a script returns.
  std::string eval(std::string_view source, std::string_view key = "key", std::string_view value = "value") {
    return command({"EVAL", source, "1", key, value});
  }
};

}  // namespace redlock::simulation
