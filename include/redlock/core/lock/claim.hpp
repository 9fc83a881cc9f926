// A claim: the key and owner value of one attempt, and the commands to set, extend and release it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lock/fence.hpp"
#include "redlock/core/lock/lock_kind.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// The keys of a reader beside the lock's own.
struct ReaderKeys {
  std::string readers;  // the set of all readers of the lock
  std::string own;      // has the owner value, after whose id it is named
};

struct Claim {
  const LockKind* kind = &exclusive_lock;
  std::string key;
  std::string
      line_key{};  // of the seat of a semaphore: the line of those who wait for any of them; else empty
  std::string
      owner;  // new for every attempt, so that a late release of an earlier attempt cannot free a later lock
  std::optional<ReaderKeys> reader{};  // of a shared lock
  std::chrono::milliseconds ttl{};
  std::chrono::milliseconds lock_delay{};  // after a loss, nobody gets the lock for so long
  std::chrono::milliseconds at_least{};    // nor for so long after the begin of the attempt
  Span drift{};
  Span node_timeout{};
  std::optional<Fence> fence{};   // none for a plain SET, without a token
  std::uint64_t token = 0;        // once acquired with a fence
  Time kept_until = Time::min();  // once acquired, with `at_least`
  std::string
      adopted_owner{};  // for an adoption, the current owner value; else empty, and the key must not exist
  const MarkerKeys* marker_keys = nullptr;  // null: nodes grant whatever their marker is
  bool heeds_flag = false;                  // while there is one, nodes do not grant
  Observer::Kind observed_as = Observer::Kind::exclusive;

  /// Makes it a claim to a shared lock.
  void share() {
    kind = &shared_lock;
    reader = ReaderKeys{readers_key(key), {}};
  }
  void belong_to(std::string new_owner) {
    owner = std::move(new_owner);
    if (reader) reader->own = reader_key(key, holder_id(owner));
  }
  [[nodiscard]] bool is_seat() const noexcept { return !line_key.empty(); }
  [[nodiscard]] bool is_shared() const noexcept { return reader.has_value(); }
  /// The key that has the owner value on the nodes that granted it.
  [[nodiscard]] const std::string& copy_key() const noexcept { return reader ? reader->own : key; }
  /// For how long nodes keep the key.
  [[nodiscard]] std::chrono::milliseconds key_ttl() const noexcept { return ttl + lock_delay; }
  /// The copies of a lost lease are not released, then or later: they keep others from the lock until they expire.
  [[nodiscard]] bool is_kept_when_lost() const noexcept {
    return lock_delay > std::chrono::milliseconds::zero();
  }
  /// Returns true if the reply to `set_command` contains the owner and ttl of a key that exists already. Only the replies
  /// of some scripts do.
  [[nodiscard]] bool tells_holder() const noexcept { return fence || !adopted_owner.empty(); }
  /// Returns true if `set_command` calls a script.
  [[nodiscard]] bool sets_by_script() const noexcept { return tells_holder() || marker_keys; }
  /// Returns true if nodes that have the flag of a line refuse `set_command`. The plain SET does not see it.
  [[nodiscard]] bool is_held_back_by_flag() const noexcept { return heeds_flag && sets_by_script(); }
  /// Sets the key. Like `put_back_command`, it must never follow a release of this owner value. With `marker_keys`, its
  /// last two arguments are missing (`RequiredMarker`).
  [[nodiscard]] std::string set_command(Form form = Form::digest) const {
    if (fence)
      return kind->grant.call(
          {key, fence->counter_key, readers()},
          {owner, ttl_text(), std::to_string(fence->proposal), memory_text(), adopted_owner}, form,
          marker_keys, flag());
    if (!adopted_owner.empty())
      return swap_script.call({key}, {adopted_owner, owner, ttl_text()}, form, marker_keys);
    if (marker_keys) return set_script.call({key}, {owner, ttl_text()}, form, marker_keys, flag());
    return command({"SET", key, owner, "NX", "PX", ttl_text()});
  }
  /// Undoes `set_command`. To be sent after it on the same connection. A writer that did not become a reader is none any more
  /// either.
  [[nodiscard]] std::string undo_command(Form form = Form::digest) const {
    if (adopted_owner.empty() || is_shared()) return release_command(form);
    return swap_script.call({key}, {owner, adopted_owner, ttl_text()}, form);
  }
  [[nodiscard]] std::string confirm_command(std::uint64_t granted, std::uint64_t wanted,
                                            Form form = Form::digest) const {
    return kind->confirm.call({copy_key(), fence->counter_key},
                              {owner, std::to_string(granted), std::to_string(wanted), memory_text()}, form);
  }
  /// Like `extend_command`, does not set the key, so it may follow a release of this owner value.
  [[nodiscard]] std::string release_command(Form form = Form::digest) const {
    return kind->release.call({key, readers()}, {owner}, form);
  }
  /// `begun`: when the attempt began.
  void acquired(std::uint64_t with_token, Time begun) noexcept {
    token = with_token;
    if (at_least > at_least.zero()) kept_until = later(begun, at_least);
  }
  /// Returns true if the key has to stay when the lock is released now.
  [[nodiscard]] bool is_kept(Time now) const noexcept { return now < kept_until; }
  /// The release of a lock that was acquired: the key stays until `kept_until`, without an owner.
  [[nodiscard]] std::string release_command(Time now, Form form = Form::digest) const {
    if (!is_kept(now)) return release_command(form);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(kept_until - now);
    return kind->release.call({key}, {owner, std::to_string(left.count())}, form);
  }
  [[nodiscard]] std::string extend_command(Form form = Form::digest) const {
    if (!fence) return kind->extend.call({key}, {owner, ttl_text()}, form);
    return kind->extend.call({key, fence->counter_key, readers()}, {owner, ttl_text(), memory_text()}, form);
  }
  /// Valid once the lock was acquired.
  [[nodiscard]] std::string put_back_command(Form form = Form::digest) const {
    if (!fence) return command({"SET", key, owner, "NX", "PX", ttl_text()});
    return kind->put_back.call({key, fence->counter_key, readers()},
                               {owner, ttl_text(), std::to_string(token), memory_text()}, form);
  }

 private:
  [[nodiscard]] std::string_view readers() const noexcept {
    return reader ? std::string_view{reader->readers} : std::string_view{};
  }
  [[nodiscard]] std::string flag() const {
    return heeds_flag ? flag_key(is_seat() ? line_key : key) : std::string{};
  }
  [[nodiscard]] std::string ttl_text() const { return std::to_string(key_ttl().count()); }
  [[nodiscard]] std::string memory_text() const { return std::to_string(fence->memory.count()); }
};

}  // namespace redlock::inline v1::core
