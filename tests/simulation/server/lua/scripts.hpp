// Runs the scripts of simulated servers in a Lua interpreter.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulation/server/command.hpp"
#include "simulation/server/flaw.hpp"
#include "simulation/server/lua/lua_values.hpp"

namespace redlock::simulation {

/// Executes the commands of redis.call and redis.pcall.
class ScriptCommands {
 public:
  virtual ~ScriptCommands() = default;
  virtual void call(Words words, Reply& reply) = 0;
};

/// Lua 5.1 with the rules of Redis. Scripts leave nothing behind, so that all servers of a thread share one interpreter.
///
/// Not movable; for use by one thread. Keeps every source, as there are few and they run often.
class Interpreter {
 public:
  Interpreter() : Interpreter{Flaw::none} {}
  explicit Interpreter(Flaw flaw);

  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// A compiled script and its digest.
  struct Program {
    std::string_view digest;
    int function = 0;
  };

  /// The SHA-1 of a source.
  const std::string& digest(std::string_view source);

  /// Returns nothing if the source does not compile; `error` then has the reason.
  std::optional<Program> compile(std::string_view source, Reply& error);

  /// Runs a script to its end and sets its reply.
  void run(const Program& program, Words keys, Words values, ScriptCommands& commands, Reply& reply);

  [[nodiscard]] Flaw flaw() const noexcept { return flaw_; }

 private:
  struct Close {
    void operator()(lua_State* lua) const noexcept { lua_close(lua); }
  };
  struct Source {
    std::string digest;
    std::optional<int> function;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Source& source(std::string_view text);
  void set_global(const char* name, Words values);
  void report_failure(const Program& program, Reply& reply);

  static int redis_call(lua_State* lua);
  static int redis_pcall(lua_State* lua);
  /// Pushes the reply. Returns true if it is an error.
  bool forward(lua_State* lua);

  const Flaw flaw_;
  std::unordered_map<std::string, Source, Hash, std::equal_to<>> sources_;
  std::unique_ptr<lua_State, Close> lua_;
  int globals_ = 0;
  ScriptCommands* commands_ = nullptr;  // of the script that runs
  // Members only to reuse their memory.
  std::vector<std::string_view> words_;
  std::vector<NumberText> numbers_;
  Reply answer_;
};

}  // namespace redlock::simulation
