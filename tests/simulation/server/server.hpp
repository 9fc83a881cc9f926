// A simulated Redis server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "simulation/server/command.hpp"
#include "simulation/server/keyspace.hpp"
#include "simulation/server/lua/scripts.hpp"

namespace redlock::simulation {

/// Answers commands as Redis 7.0 does: those that the library sends and that tests look with. It has one database, no
/// password, and no clock: every command is told the time.
///
/// | mode          | as a server that                  | refuses                                                   |
/// |---------------|-----------------------------------|-----------------------------------------------------------|
/// | serving       | works                             | nothing                                                   |
/// | loading       | reads its data in                 | all but TIME, ROLE, INFO, ECHO, AUTH, SELECT              |
/// | read_only     | is a replica                      | writes, with READONLY; scripts go as far as their first   |
/// | out_of_memory | has reached its `maxmemory`       | what may need memory, with OOM; a script may once it wrote |
///
/// What scripts are known, and which data are kept, is up to `restart()`.
class Server final : private ScriptCommands {
 public:
  enum class Mode : std::uint8_t { serving, loading, read_only, out_of_memory };

  /// The interpreter outlives it.
  Server(Interpreter& interpreter, std::string run_id);

  /// Runs one command, of one word at least, at the server's own wall clock.
  Reply execute(Words words, std::int64_t now_us);

  /// The key as it is at that time; null if it is missing or expired. Nothing is deleted.
  [[nodiscard]] const Entry* find(std::string_view key, std::int64_t now_us) const;
  /// With those that have expired, and that nobody has asked for since.
  [[nodiscard]] const Keyspace& keys() const noexcept { return keys_; }

  /// Comes up again with these keys: without scripts, and serving.
  void restart(Keyspace kept, std::string run_id);
  void set_mode(Mode mode) noexcept { mode_ = mode; }
  void replace_keys(Keyspace keys) noexcept { keys_ = std::move(keys); }

  /// From now on, and after restarts, too, another script runs where the original is called; its digest stays.
  /// Throws `std::invalid_argument` where Lua does not understand it.
  void patch(const core::Script& original, std::string_view patched);

 private:
  using Program = Interpreter::Program;

  void call(Words words, Reply& reply) override;  // of the script that runs
  void run(const Command& command, Words words, Reply& reply);
  [[nodiscard]] std::string_view refusal(const Command& command) const noexcept;
  void evaluate(const Command& command, Words words, Reply& reply);
  void script(const Command& command, Words words, Reply& reply);
  void role(const Answer& answer) const;
  void info(Words words, const Answer& answer) const;
  [[nodiscard]] const Program* known(std::string_view digest) const noexcept;
  const Program* learn(std::string_view source, Reply& error);

  Interpreter* interpreter_;
  std::string run_id_;
  Keyspace keys_;
  std::vector<Program> programs_;  // known by their digests
  std::vector<Program> patches_;
  std::int64_t now_us_ = 0;  // of the command that runs
  bool wrote_ = false;       // the script that runs
  Mode mode_ = Mode::serving;
};

}  // namespace redlock::simulation
