// The commands of the command line, with their options.
#pragma once

#include <cstdint>
#include <vector>

#include "redlock/login/secret.hpp"
#include "tool/acl/acl.hpp"
#include "tool/check/check.hpp"
#include "tool/election/leader.hpp"
#include "tool/locks/list.hpp"
#include "tool/locks/release.hpp"
#include "tool/locks/revoke.hpp"
#include "tool/locks/watch.hpp"
#include "tool/nodes/commands.hpp"
#include "tool/run/run.hpp"
#include "tool/status.hpp"

namespace CLI {
class App;
}

namespace redlock::tool {

enum class CommandName : std::uint8_t {
  run,
  elect,
  leader,
  status,
  list,
  watch,
  release,
  revoke,
  check,
  nodes,
  set,
  init,
  acl
};

/// The command line's commands with their arguments.
struct Commands {
  /// Adds the commands to `app`. Parsing a command line with `app` fills the arguments.
  explicit Commands(CLI::App& app);
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// Which one the command line names, after it was parsed.
  [[nodiscard]] CommandName chosen() const;

  /// Users and passwords of the nodes: see `node_at`.
  void set_logins(std::vector<Secret>);

  RunArguments run_arguments;
  RunArguments elect_arguments;
  LeaderArguments leader_arguments;
  StatusArguments status_arguments;
  ListArguments list_arguments;
  WatchArguments watch_arguments;
  ReleaseArguments release_arguments;
  RevokeArguments revoke_arguments;
  CheckArguments check_arguments;
  NodesArguments nodes_arguments;
  AclArguments acl_arguments;
  CLI::App* run;
  CLI::App* elect;
  CLI::App* leader;
  CLI::App* status;
  CLI::App* list;
  CLI::App* watch;
  CLI::App* release;
  CLI::App* revoke;
  CLI::App* check;
  CLI::App* nodes;
  CLI::App* set;
  CLI::App* init;
  CLI::App* acl;
};

}  // namespace redlock::tool
