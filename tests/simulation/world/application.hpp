// The state of a thread of a simulated application.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/world/process.hpp"

namespace redlock::simulation {

/// A lock that a thread holds.
struct Process::Held final : core::LeaseState, std::enable_shared_from_this<Held> {
  Held(core::Claim what, core::Time valid_until, core::LossQueue<Held>& watched_by)
      : LeaseState{std::move(what), valid_until}, loss_queue{watched_by} {}
  core::LossQueue<Held>& loss_queue;

 private:
  void lost_early() noexcept override { loss_queue.lost(shared_from_this()); }
};

/// One thread of the application. It acquires locks, accesses the resource and releases.
struct Process::Thread final : core::Completion {
  enum class State : std::uint8_t {
    thinking,
    between_attempts,
    asking,
    holding,
    writing,
    extending,
    releasing,
    raising
  };

  explicit Thread(Process& of) : process{of} {}
  void completed(core::Operation&) noexcept override { process.ended_ = this; }

  Process& process;
  int index = 0;
  State state = State::thinking;
  int resource = 0;
  core::Ref<core::Operation> operation;
  core::Acquisition* acquisition = nullptr;  // one of these is the operation
  core::Extension* extension = nullptr;
  core::ReleaseOperation* release_operation = nullptr;
  Surroundings::Orphan adopted;  // the lock to adopt; without an owner: none
  core::Claim claim;             // of the current attempt
  std::optional<core::Pursuit> pursuit;
  std::shared_ptr<Held> held;           // once acquired
  core::Ref<core::Operation> too_late;  // an acquisition that was granted too late and is being released
  const ScheduledCall* scheduled_call = nullptr;  // of the schedule, if it says what to do
  Instant invoked = 0;

  std::optional<Judge::LeaseIndex> lease;
  int extensions_left = 0;
  core::Time writes_at{};
  Stores::Seen seen;

  [[nodiscard]] bool finished() const { return operation && operation->done(); }
};

}  // namespace redlock::simulation
