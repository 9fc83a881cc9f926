// What a client process is told to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::chaos {

/// What one client process does again and again until it gets SIGTERM.
enum class Role : std::uint8_t {
  plain,    // holds without renewal, sometimes beyond the deadline, and extends by hand
  renewed,  // holds a lock that renews itself
  fenced,   // changes two stores, of which one checks tokens
  waiting,  // stands in line
  giving,   // hands its lock over to another process
  taking,   // adopts these locks
  running,  // starts `redlock run`, again and again
  reading,  // holds a lock shared, or as its writer, which may become a reader
  loading,  // locks in many threads without a pause
  command,  // is what `redlock run` runs
};

struct Task {
  Role role = Role::plain;
  bool is_guarded = true;
  bool uses_tokens = true;  // for the store that checks them; without, writes are before the deadline only
  std::uint64_t seed = 1;
  std::string log;       // where it writes what happens
  std::string folder;    // of files that clients share: the stores, and locks that are handed over
  std::string tool;      // the command `redlock`
  std::string own;       // this program
  std::string run_file;  // where it writes which process is the latest `redlock run`
  std::vector<std::string> nodes;
};

/// Does it until SIGTERM. Throws if something fails that no fault explains.
void perform(const Task&);

}  // namespace redlock::chaos
