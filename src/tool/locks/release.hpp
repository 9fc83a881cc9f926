// redlock release --force: ends a lock that another process holds.
#pragma once

#include <optional>
#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct ReleaseArguments {
  NodeChoice nodes;
  std::string resource;
  /// The owner value of the holder, or of one reader, or its beginning of at least 8 characters. None: whoever holds the lock,
  /// or all readers.
  std::optional<std::string> owner;
  bool yes = false;  ///< Do not ask.
};

/// Deletes the copies of the lock on all nodes, where they still have the holder's owner value; if readers share it, those of
/// each reader. A holder is told by the nodes, within milliseconds if it watches its lock. Without an owner it prints who holds the lock and asks on the
/// terminal, unless `yes`.
///
/// With an owner that is not the holder it deletes nothing, although some nodes may have copies of that owner. If nobody
/// holds the lock, it deletes that owner's copies and says so.
///
/// Returns `success` if a majority of the nodes answered and a copy was deleted, `conflict` if there was nothing to
/// delete, somebody else is the holder, or the answer was no, and `no_quorum` if too few nodes answered: then the holder
/// may still have the lock (`usage` if a majority is misconfigured). Throws `redlock::Error` (invalid_argument) if it
/// cannot ask, and if the beginning of an owner value is too short or fits several.
int force_release(const ReleaseArguments&);

}  // namespace redlock::tool
