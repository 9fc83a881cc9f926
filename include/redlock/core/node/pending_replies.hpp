// The replies that are due on one connection.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "redlock/core/base/ring.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/operation.hpp"

namespace redlock::inline v1::core {

/// The operation that a pending reply belongs to, and how the command was sent (see `SendOptions`).
struct ReplySlot {
  Ref<Operation> operation{};  // null: the reply is ignored
  Step step = 0;
  bool is_release = false;
  bool always_read = false;
  bool grants = false;
  bool lacks_marker = false;
  bool is_login = false;  // the reply is for the session
  Time since{};           // when the command was queued on the connection
};

/// The slots of all unanswered commands, in the order of the commands. Their number is limited, because a node that does
/// not answer must not cost memory without end.
class PendingReplies {
 public:
  /// Further commands are refused, except releases. These are sent but their replies are ignored, so that they keep no
  /// operation alive.
  static constexpr std::size_t most = 16384;
  static constexpr std::size_t most_with_releases = 65536;

  [[nodiscard]] bool has_room_for(const ReplySlot& slot) const noexcept {
    return slots_.size() < (slot.is_release ? most_with_releases : most);
  }
  [[nodiscard]] bool is_crowded() const noexcept { return slots_.size() >= most; }
  [[nodiscard]] static std::string crowd() {
    return "more than " + std::to_string(most) + " commands are unanswered";
  }

  /// Afterwards one `push` throws nothing.
  void make_room() { slots_.make_room(); }
  void push(ReplySlot&& slot, Time now) {
    slot.since = now;
    must_read_ += must_be_read(slot) ? 1 : 0;
    slots_.push(std::move(slot));
  }
  /// Precondition: not empty.
  ReplySlot pop() {
    ReplySlot slot = slots_.pop();
    must_read_ -= must_be_read(slot) ? 1 : 0;
    return slot;
  }
  void clear() noexcept {
    slots_.clear();
    must_read_ = 0;
  }

  [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
  /// Replies are due that must be read even if no operation waits for them.
  [[nodiscard]] bool must_read() const noexcept { return must_read_ > 0; }
  /// Since when the oldest command is unanswered; `never` if all are answered.
  [[nodiscard]] Time oldest() const noexcept { return slots_.empty() ? never : slots_.front().since; }

 private:
  static bool must_be_read(const ReplySlot& slot) noexcept { return slot.is_release || slot.always_read; }

  Ring<ReplySlot> slots_;
  std::size_t must_read_ = 0;
};

}  // namespace redlock::inline v1::core
