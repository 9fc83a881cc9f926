// A claim: the key and owner value of one attempt, and the commands to set, extend and release it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lock/fence.hpp"
#include "redlock/core/lock/lock_kind.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/resp.hpp"

namespace redlock::inline v1::core {

struct Claim {
  const LockKind* kind = &exclusive_lock;
  std::string key;
  std::string
      owner;  // new for every attempt, so that a late release of an earlier attempt cannot free a later lock
  std::chrono::milliseconds ttl{};
  Span drift{};
  Span node_timeout{};
  std::optional<Fence> fence{};  // none for a plain SET, without a token
  std::uint64_t token = 0;       // once acquired with a fence
  std::string
      adopted_owner{};   // for an adoption, the current owner value; else empty, and the key must not exist
  std::string marker{};  // what the marker of a node that may grant begins with; empty if all nodes may grant
  const MarkerKeys* marker_keys = &keys_without_prefix;

  /// Returns true if the reply to `set_command` contains the owner and ttl of a key that exists already. Only the replies
  /// of some scripts do.
  [[nodiscard]] bool tells_holder() const noexcept { return fence || !adopted_owner.empty(); }
  [[nodiscard]] bool sets_by_script() const noexcept { return tells_holder() || !marker.empty(); }
  /// Sets the key. Like `put_back_command`, it must never follow a release of this owner value. With a marker, its last
  /// argument is missing: the ending of the node's marker.
  [[nodiscard]] std::string set_command(Form form = Form::digest) const {
    if (!fence && !adopted_owner.empty())  // the engine sends it only to nodes that may grant
      return kind->swap.call({key}, {adopted_owner, owner, ttl_text()}, form);
    if (!fence && marker.empty()) return command({"SET", key, owner, "NX", "PX", ttl_text()});
    if (!fence)
      return kind->set.call({key, marker_keys->marker, marker_keys->quarantine}, {owner, ttl_text(), marker},
                            form, 1);
    const std::string proposal = std::to_string(fence->proposal);
    if (marker.empty())
      return kind->grant.call({key, fence->counter_key},
                              {owner, ttl_text(), proposal, memory_text(), marker, adopted_owner}, form);
    return kind->grant.call({key, fence->counter_key, marker_keys->marker, marker_keys->quarantine},
                            {owner, ttl_text(), proposal, memory_text(), marker, adopted_owner}, form, 1);
  }
  /// Returns true if `set_command` lacks its last argument.
  [[nodiscard]] bool names_the_node() const noexcept {
    return !marker.empty() && (fence || adopted_owner.empty());
  }
  /// Undoes `set_command`. To be sent after it on the same connection.
  [[nodiscard]] std::string undo_command(Form form = Form::digest) const {
    if (adopted_owner.empty()) return release_command(form);
    return kind->swap.call({key}, {owner, adopted_owner, ttl_text()}, form);
  }
  [[nodiscard]] std::string confirm_command(std::uint64_t granted, std::uint64_t wanted,
                                            Form form = Form::digest) const {
    return kind->confirm.call({key, fence->counter_key},
                              {owner, std::to_string(granted), std::to_string(wanted), memory_text()}, form);
  }
  /// Like `extend_command`, does not set the key, so it may follow a release of this owner value.
  [[nodiscard]] std::string release_command(Form form = Form::digest) const {
    return kind->release.call({key}, {owner}, form);
  }
  [[nodiscard]] std::string extend_command(Form form = Form::digest) const {
    if (!fence) return kind->extend.call({key}, {owner, ttl_text()}, form);
    return kind->extend.call({key, fence->counter_key}, {owner, ttl_text(), memory_text()}, form);
  }
  /// Valid once the lock was acquired.
  [[nodiscard]] std::string put_back_command(Form form = Form::digest) const {
    if (!fence) return command({"SET", key, owner, "NX", "PX", ttl_text()});
    return kind->put_back.call({key, fence->counter_key},
                               {owner, ttl_text(), std::to_string(token), memory_text()}, form);
  }

 private:
  [[nodiscard]] std::string ttl_text() const { return std::to_string(ttl.count()); }
  [[nodiscard]] std::string memory_text() const { return std::to_string(fence->memory.count()); }
};

}  // namespace redlock::inline v1::core
