// What makes one kind of lock different from another on the servers.
#pragma once

#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"

namespace redlock::inline v1::core {

/// The scripts of one kind of lock. All kinds take the same keys and arguments, so a claim needs to know only its kind.
struct LockKind {
  const Script& grant;     ///< With a fencing token.
  const Script& confirm;   ///< Raises the counter to the token that the grants agreed on.
  const Script& extend;    ///< Prolongs a copy.
  const Script& put_back;  ///< Restores a copy that a node lost.
  const Script& release;   ///< Deletes a copy.
};

/// One holder at a time.
inline constexpr LockKind exclusive_lock{.grant = grant_script,
                                         .confirm = confirm_script,
                                         .extend = extend_script,
                                         .put_back = put_back_script,
                                         .release = release_script};

/// Any number of readers at a time. The holders of the exclusive lock with the same key are the writers.
inline constexpr LockKind shared_lock{.grant = shared_grant_script,
                                      .confirm = confirm_script,
                                      .extend = shared_extend_script,
                                      .put_back = shared_put_back_script,
                                      .release = shared_release_script};

}  // namespace redlock::inline v1::core
