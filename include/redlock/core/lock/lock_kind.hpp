// What makes one kind of lock different from another on the servers.
#pragma once

#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

/// The scripts of one kind of lock. All kinds take the same keys and arguments, so a claim needs to know only its kind.
struct LockKind {
  const Script& set;       ///< Without a fencing token, where restarts are guarded.
  const Script& grant;     ///< With a fencing token.
  const Script& confirm;   ///< Raises the counter to the token that the grants agreed on.
  const Script& swap;      ///< Adopts a lock without a token, and undoes any adoption.
  const Script& extend;    ///< Prolongs a copy.
  const Script& put_back;  ///< Restores a copy that a node lost.
  const Script& release;   ///< Deletes a copy.
};

/// One holder at a time.
inline constexpr LockKind exclusive_lock{.set = set_script,
                                         .grant = grant_script,
                                         .confirm = confirm_script,
                                         .swap = swap_script,
                                         .extend = extend_script,
                                         .put_back = put_back_script,
                                         .release = release_script};

}  // namespace redlock::inline v1::core
