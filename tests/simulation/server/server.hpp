// A simulated Redis server.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "simulation/server/channels.hpp"
#include "simulation/server/command.hpp"
#include "simulation/server/keyspace.hpp"
#include "simulation/server/lua/scripts.hpp"

namespace redlock::simulation {

/// What clients may not do. The default forbids nothing.
struct Acl {
  std::vector<std::string> forbidden = {};  // commands in lower case
  std::string channels = {};                // only channels that begin so may be used

  [[nodiscard]] bool forbids(const Command& command) const noexcept {
    return std::ranges::find(forbidden, command.name) != forbidden.end();
  }
  [[nodiscard]] bool forbids_channel(const Command& command, Words words) const noexcept {
    const Words used = command.name == "publish"     ? words.subspan(1, 1)
                       : command.name == "subscribe" ? words.subspan(1)
                                                     : Words{};
    return !std::ranges::all_of(used,
                                [this](std::string_view channel) { return channel.starts_with(channels); });
  }
};

/// Answers the commands that the library and the tests send, as Redis 7.0 does. It has one database, no password, and no
/// clock: the caller passes the time with every command.
///
/// | mode          | as a server that                  | refuses                                                   |
/// |---------------|-----------------------------------|-----------------------------------------------------------|
/// | serving       | works                             | nothing                                                   |
/// | loading       | loads its data                    | all but TIME, ROLE, INFO, ECHO, AUTH, SELECT, PUBLISH, (UN)SUBSCRIBE |
/// | read_only     | is a replica                      | writes, with READONLY; a script runs up to its first write |
/// | out_of_memory | has reached its `maxmemory`       | commands that may need memory, with OOM, except in a script that has already written |
///
/// Scripts and data are kept until `restart()`, which decides what remains. A client that has subscribed to channels may
/// only subscribe, unsubscribe and PING, as over RESP2. The caller delivers the messages that are published.
class Server final : private ScriptCommands {
 public:
  enum class Mode : std::uint8_t { serving, loading, read_only, out_of_memory };

  /// The interpreter must outlive the server.
  Server(Interpreter& interpreter, std::string run_id);

  /// Runs one command of at least one word, of a client that does not subscribe. `now_us`: the server's wall clock.
  Reply execute(Words words, std::int64_t now_us);
  /// Runs a command that a connection sends, and adds its replies. (UN)SUBSCRIBE replies for each channel. The caller chooses
  /// the numbers of connections, which are not negative.
  void execute(int connection, Words words, std::int64_t now_us, std::vector<Reply>& replies);
  /// What was published since the last call.
  [[nodiscard]] std::vector<Channels::Message> take_messages() { return channels_.take_messages(); }
  void disconnected(int connection) { channels_.forget(connection); }
  void disconnect_all() noexcept { channels_ = {}; }

  /// Returns null if the key is missing or expired at that time. Deletes nothing.
  [[nodiscard]] const Entry* find(std::string_view key, std::int64_t now_us) const;
  /// How many commands have run that write, also in scripts: as long as it stays the same, nothing but time changes a key.
  [[nodiscard]] std::uint64_t writes() const noexcept { return writes_; }
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
  /// Like an ACL file, it survives restarts.
  void set_acl(Acl acl) { acl_ = std::move(acl); }
  void replace_keys(Keyspace keys) noexcept { keys_ = std::move(keys); }

  /// Runs another script wherever the original is called, under the same digest, also after restarts.
  /// Throws `std::invalid_argument` if the script does not compile.
  void patch(const core::Script& original, std::string_view patched);

 private:
  using Program = Interpreter::Program;

  void call(Words words, Reply& reply) override;  // of the script that runs
  const Command* accept(Words words, bool listens, const Answer& answer) const;
  void run(const Command& command, Words words, Reply& reply);
  [[nodiscard]] std::string_view refusal(const Command& command) const noexcept;
  void publish(Words words, const Answer& answer);
  void subscribe(int connection, Words channels, std::vector<Reply>& replies);
  void unsubscribe(int connection, Words channels, std::vector<Reply>& replies);
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
  Channels channels_;
  Acl acl_;
  std::vector<Program> programs_;  // known by their digests
  std::vector<Program> patches_;
  std::int64_t started_us_ = 0;
  std::int64_t now_us_ = 0;  // of the command that runs
  std::uint64_t writes_ = 0;
  bool wrote_ = false;        // the script that runs
  bool was_replica_ = false;  // in this run
  Mode mode_ = Mode::serving;
};

}  // namespace redlock::simulation
