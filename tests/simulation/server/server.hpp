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

/// Answers the commands that the library and the tests send, as Redis 7.0 does. It has one database, no password, and no
/// clock: the caller passes the time with every command.
///
/// | mode          | as a server that                  | refuses                                                   |
/// |---------------|-----------------------------------|-----------------------------------------------------------|
/// | serving       | works                             | nothing                                                   |
/// | loading       | loads its data                    | all but TIME, ROLE, INFO, ECHO, AUTH, SELECT              |
/// | read_only     | is a replica                      | writes, with READONLY; a script runs up to its first write |
/// | out_of_memory | has reached its `maxmemory`       | commands that may need memory, with OOM, except in a script that has already written |
///
/// Scripts and data are kept until `restart()`, which decides what remains.
class Server final : private ScriptCommands {
 public:
  enum class Mode : std::uint8_t { serving, loading, read_only, out_of_memory };

  /// The interpreter must outlive the server.
  Server(Interpreter& interpreter, std::string run_id);

  /// Runs one command of at least one word. `now_us`: the server's wall clock.
  Reply execute(Words words, std::int64_t now_us);

  /// Returns null if the key is missing or expired at that time. Deletes nothing.
  [[nodiscard]] const Entry* find(std::string_view key, std::int64_t now_us) const;
  /// Includes expired keys that no command has accessed since.
  [[nodiscard]] const Keyspace& keys() const noexcept { return keys_; }

  [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }
  /// Restarts with these keys, without scripts, in mode `serving`. `now_us`: the server's wall clock, from which its
  /// uptime counts.
  void restart(Keyspace kept, std::string run_id, std::int64_t now_us);
  /// The server was a replica and is a master again. `replace_keys` gives it the data of its former master.
  void promote() noexcept { was_replica_ = true; }
  /// Reports the run_id of the other server, which must outlive this one, or its own again if it is null.
  void pose_as(const Server* other) noexcept { posed_as_ = other; }
  void set_mode(Mode mode) noexcept { mode_ = mode; }
  void replace_keys(Keyspace keys) noexcept { keys_ = std::move(keys); }

  /// Runs another script wherever the original is called, under the same digest, also after restarts.
  /// Throws `std::invalid_argument` if the script does not compile.
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
  const Server* posed_as_ = nullptr;
  Keyspace keys_;
  std::vector<Program> programs_;  // known by their digests
  std::vector<Program> patches_;
  std::int64_t started_us_ = 0;
  std::int64_t now_us_ = 0;   // of the command that runs
  bool wrote_ = false;        // the script that runs
  bool was_replica_ = false;  // in this run
  Mode mode_ = Mode::serving;
};

}  // namespace redlock::simulation
