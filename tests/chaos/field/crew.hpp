// The client processes of a run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/clock/clock_file.hpp"
#include "chaos/judge/trace.hpp"
#include "chaos/plan/plan.hpp"
#include "chaos/worker/task.hpp"
#include "os/descriptor.hpp"
#include "testing/process_group.hpp"

namespace redlock::chaos {

/// How all clients of a run are started.
struct CrewOrders {
  std::vector<Role> roles;  // by the clients' numbers
  std::string program;      // of the clients
  std::string tool;         // the command `redlock`
  std::string clock_library;
  std::string folder;                      // for logs and what clients share
  std::vector<std::string> environment{};  // variables of all
  std::vector<std::string> more{};         // arguments for all
  bool is_memory_judged = false;           // of those that make the full load
  std::uint64_t seed = 1;
  std::vector<std::vector<std::string>> nodes;  // the addresses for each half
};

/// Client processes that are killed, stopped and started again.
/// One thread makes all calls.
class Crew {
 public:
  /// Starts all. Throws std::system_error.
  Crew(CrewOrders orders, const testing::detail::ProcessGroup& group);

  /// Returns false if the process that it concerns is not there at the moment. Throws std::system_error.
  bool begin(const Fault&);
  void end(const Fault&);
  /// Asks all to end. Says what is wrong if one does not do so soon, or fails.
  [[nodiscard]] std::optional<std::string> finish();
  /// Says which client has ended by itself, with the end of what it wrote.
  [[nodiscard]] std::optional<std::string> failure();
  /// What a sanitizer has reported about a client or a process that it started.
  [[nodiscard]] std::optional<std::string> sanitizer_report() const;

  [[nodiscard]] std::string log_of(int client) const;
  /// The client's process; 0 if it is dead.
  [[nodiscard]] pid_t process_of(int client) const { return members_[static_cast<std::size_t>(client)].pid; }

 private:
  struct Member {
    pid_t pid = 0;               // 0: killed
    detail::Descriptor stopped;  // its stopped process
    std::uint64_t starts = 0;
  };
  void start(int client);
  /// Lets its process go on if one is stopped.
  void resume(Member&);
  [[nodiscard]] std::string said_by(int client) const;
  [[nodiscard]] std::string run_file(int client) const;
  [[nodiscard]] detail::Descriptor victim_of(const Fault&) const;
  Member& member(int client) { return members_[static_cast<std::size_t>(client)]; }

  const CrewOrders orders_;
  const pid_t group_;
  std::vector<ClockFile> clocks_;
  std::vector<Member> members_;
};

}  // namespace redlock::chaos
