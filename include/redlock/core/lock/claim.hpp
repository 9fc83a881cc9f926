// One owner value on one key: what an attempt claims, and its holder holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lock/fence.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"

namespace redlock::inline v1::core {

struct Claim {
  std::string key;
  std::string owner;  // fresh for every attempt, else a delayed release of an earlier one frees a later one
  std::chrono::milliseconds ttl{};
  Span drift{};
  Span node_timeout{};
  std::optional<Fence> fence{};  // none: a plain SET, without a token
  std::uint64_t token = 0;       // once acquired with a fence
  std::string adopted_owner{};   // whose lock it is until then; empty: nobody's may it be
  std::string marker{};          // what the marker of a node that may grant begins with; empty: all may

  /// Whether the answer to `set_command` tells the owner and ttl of a key that was there: only a script's does.
  [[nodiscard]] bool tells_holder() const noexcept { return fence || !adopted_owner.empty(); }
  [[nodiscard]] bool sets_by_script() const noexcept { return tells_holder() || !marker.empty(); }
  /// Sets the key, as `put_back` does: never behind a release of this owner value.
  [[nodiscard]] std::string set_command(Form form = Form::digest) const {
    if (!fence && !adopted_owner.empty())  // the engine sends it only to nodes that may grant
      return swap_script.call({key}, {adopted_owner, owner, ttl_text()}, form);
    if (!fence && marker.empty()) return command({"SET", key, owner, "NX", "PX", ttl_text()});
    if (!fence) return set_script.call({key, marker_key, quarantine_key}, {owner, ttl_text(), marker}, form);
    const std::string proposal = std::to_string(fence->proposal);
    if (marker.empty())
      return grant_script.call({key, fence->counter_key},
                               {owner, ttl_text(), proposal, memory_text(), marker, adopted_owner}, form);
    return grant_script.call({key, fence->counter_key, marker_key, quarantine_key},
                             {owner, ttl_text(), proposal, memory_text(), marker, adopted_owner}, form);
  }
  /// Undoes `set_command`; sent behind it on the same connection.
  [[nodiscard]] std::string undo_command(Form form = Form::digest) const {
    if (adopted_owner.empty()) return release_command(form);
    return swap_script.call({key}, {owner, adopted_owner, ttl_text()}, form);
  }
  [[nodiscard]] std::string confirm_command(std::uint64_t granted, std::uint64_t wanted,
                                            Form form = Form::digest) const {
    return confirm_script.call({key, fence->counter_key},
                               {owner, std::to_string(granted), std::to_string(wanted), memory_text()}, form);
  }
  /// Sets nothing, as `extend` does, so it may follow any release of this owner value.
  [[nodiscard]] std::string release_command(Form form = Form::digest) const {
    return release_script.call({key}, {owner}, form);
  }
  [[nodiscard]] std::string extend_command(Form form = Form::digest) const {
    if (!fence) return extend_script.call({key}, {owner, ttl_text()}, form);
    return extend_script.call({key, fence->counter_key}, {owner, ttl_text(), memory_text()}, form);
  }
  /// Once acquired.
  [[nodiscard]] std::string put_back_command(Form form = Form::digest) const {
    if (!fence) return command({"SET", key, owner, "NX", "PX", ttl_text()});
    return put_back_script.call({key, fence->counter_key},
                                {owner, ttl_text(), std::to_string(token), memory_text()}, form);
  }

 private:
  [[nodiscard]] std::string ttl_text() const { return std::to_string(ttl.count()); }
  [[nodiscard]] std::string memory_text() const { return std::to_string(fence->memory.count()); }
};

}  // namespace redlock::inline v1::core
