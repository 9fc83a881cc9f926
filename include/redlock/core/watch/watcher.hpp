// Who wants to be told of changed keys.
#pragma once

#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Receives what the listeners hear (`Listeners::add`). It only notes what to do, and sends its commands later.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The key was changed on this node, and is not armed there any more. It need not be one that this watcher reads.
  virtual void key_changed(NodeIndex, std::string_view key, Time now) = 0;
  /// Any key may have been changed on this node, and none is armed there any more.
  virtual void all_keys_changed(NodeIndex, Time now) = 0;
  /// The node's connection for commands was lost: what was sent over it is not answered any more.
  virtual void disconnected(NodeIndex) {}
  /// Somebody has published a message.
  virtual void message(NodeIndex, std::string_view /*channel*/, std::string_view /*payload*/, Time /*now*/) {}
};

}  // namespace redlock::inline v1::core
