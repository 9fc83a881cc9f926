// What one server says about itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::tool {

/// What a right is for.
enum class Use : std::uint8_t {
  locking,   ///< Without it the node cannot vote, or the lock cannot be extended or released.
  noticing,  ///< Without it deleted locks are noticed late.
  lining,    ///< Without it calls do not stand in line, or overtake those who do.
  sharing,   ///< Without it locks cannot be taken shared.
  asking,    ///< Without it holders are not asked to give a lock up.
  naming,    ///< Without it connections have no name on the server.
};

/// A command, key or channel that the user may not use.
struct MissingRight {
  Use use = Use::locking;
  std::string rule;  ///< What an ACL rule needs, such as `+pexpire` or `~redlock:node`.
};

/// The server's clock against those of this machine.
struct ClockFacts {
  std::chrono::nanoseconds offset{};              ///< How far it is ahead of this machine's wall clock.
  std::chrono::nanoseconds offset_uncertainty{};  ///< The offset is this much more or less at most.
  double rate = 0;                                ///< By which part it runs faster: 0.01 is one percent.
  double rate_uncertainty = 0;
};

/// Every member that is empty could not be seen. Texts are the server's: any bytes.
struct NodeFacts {
  std::string trouble = {};  ///< Why the server did not answer to the end; empty if it did.
  std::string address = {};  ///< The IP address that the connection leads to; empty for a unix socket.
  std::optional<std::chrono::sys_seconds> certificate_end = {};  ///< Of the server's certificate.
  std::optional<std::chrono::sys_seconds> own_certificate_end =
      {};  ///< Of the client's, which the server may ask for.
  std::optional<std::string> version = {};
  std::optional<std::string> run_id = {};
  std::optional<std::string> mode = {};  ///< `standalone`, `cluster` or `sentinel`.
  std::optional<std::string> role = {};
  std::optional<std::chrono::seconds> uptime = {};

  std::optional<bool> appends = {};  ///< Whether it writes an append-only file.
  std::optional<std::string> appendfsync = {};
  std::optional<std::string> save = {};  ///< When it writes snapshots; empty text: never.
  std::optional<std::string> eviction_policy = {};
  std::optional<std::uint64_t> memory_used = {};   ///< Bytes.
  std::optional<std::uint64_t> memory_limit = {};  ///< Bytes; 0: no limit.

  std::optional<core::Trouble> refusal = {};  ///< Why it refuses to write, other than for missing rights.

  std::optional<std::string> marker_text = {};  ///< Empty text: there is no marker.
  std::optional<core::Marker> marker = {};

  std::optional<std::chrono::nanoseconds> round_trip = {};  ///< The shortest of several.
  std::optional<ClockFacts> clock = {};

  std::optional<std::vector<MissingRight>> missing = {};
  /// The user may not use the key of the lock; it is among the missing rights.
  bool refuses_resource = false;
  std::optional<bool> tracks = {};  ///< Whether the server can report deleted locks.
};

}  // namespace redlock::tool
