// The state of a thread of a simulated application.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "redlock/core/lease/asking.hpp"
#include "redlock/core/lease/breaking.hpp"
#include "simulation/world/process.hpp"

namespace redlock::simulation {

/// A lock that a thread holds.
struct Process::Held final : core::LeaseState, std::enable_shared_from_this<Held> {
  Held(core::Claim what, core::Time valid_until, core::LossQueue<Held>& watched_by)
      : LeaseState{std::move(what), valid_until}, loss_queue{watched_by} {}
  core::LossQueue<Held>& loss_queue;
  bool is_requested = false;  // since that was looked at

 private:
  void asked(std::string_view) noexcept override { is_requested = true; }
  void lost_early() noexcept override { loss_queue.lost(shared_from_this()); }
};

/// The call of a thread, as shipped. Its attempts are counted, and mutants change them.
class Process::ObservedPursuit final : public core::Pursuit {
 public:
  ObservedPursuit(Call call, Thread& thread);
  using Pursuit::is_standing;

 private:
  Attempt make_attempt(core::Claim&& claim) override;
  void child_ended(core::Operation& child, core::Time now, core::Outbox& outbox) override;
  void attempt_in_line(Turn turn, core::Time now, core::Outbox& outbox) override;

  Thread& thread_;
};

/// Likewise, the call of a thread for all locks.
class Process::ObservedJointPursuit final : public core::JointPursuit {
 public:
  ObservedJointPursuit(core::LockCall call, std::vector<core::Claim>&& claims, Thread& thread);
  using JointPursuit::is_standing;

 private:
  core::Ref<core::JointAcquisition> make_attempt(std::vector<core::Claim>&& claims) override;

  Thread& thread_;
};

/// One attempt of such a call.
class Process::ObservedJointAttempt final : public core::JointAcquisition {
 public:
  ObservedJointAttempt(std::vector<core::Claim>&& claims, std::size_t nodes,
                       core::Acquisition::Purpose purpose, Process& process)
      : JointAcquisition{std::move(claims), nodes, purpose}, process_{process} {}

 private:
  void child_ended(core::Operation& child, core::Time now, core::Outbox& outbox) override;

  Process& process_;
};

/// One thread of the application. It acquires locks, accesses the resource and releases.
struct Process::Thread final : core::Completion {
  enum class State : std::uint8_t {
    thinking,
    asking,
    asking_for_all,
    holding,
    writing,
    extending,
    releasing,
    raising,
    checking,
    requesting,
    breaking
  };

  explicit Thread(Process& of) : process{of} {}
  void completed(core::Operation&) noexcept override { process.ended_ = this; }

  Process& process;
  int index = 0;
  bool is_companion = false;  // makes no calls: it uses one of the locks that another thread has got together
  State state = State::thinking;
  int resource = 0;  // of the semaphore any, until the call has got one
  core::Ref<core::Operation> operation;
  ObservedPursuit* pursuit = nullptr;  // one of these is the operation
  ObservedJointPursuit* joint_pursuit = nullptr;
  core::Extension* extension = nullptr;
  core::ReleaseOperation* release_operation = nullptr;
  core::LeaseCheck* check = nullptr;
  core::Asking* asking = nullptr;
  core::Breaking* breaking = nullptr;
  Surroundings::Orphan adopted;                   // the lock to adopt; without an owner: none
  bool is_reader = false;                         // the call is for a shared lock
  std::shared_ptr<Held> writer;                   // the lease that the call makes a shared one
  core::Claim claim;                              // of the current attempt
  core::Time gives_up_at{};                       // when a call that waits ends
  std::shared_ptr<Held> held;                     // once acquired
  bool is_too_late = false;                       // the lock was granted too late, and is being released
  const ScheduledCall* scheduled_call = nullptr;  // of the schedule, if it says what to do
  Instant invoked = 0;
  int wakes = 0;  // how often it was told when to go on

  std::optional<Judge::LeaseIndex> lease;
  std::vector<Judge::Asked> asked_together;     // by the attempts of the call, if it is for all locks
  std::vector<Judge::LeaseIndex> got_together;  // the leases of the other locks of the call
  int extensions_left = 0;
  core::Time writes_at{};
  Stores::Seen seen;

  [[nodiscard]] bool finished() const { return operation && operation->done(); }
  /// It sleeps until the next attempt of its call.
  [[nodiscard]] bool pauses(core::Time now) const { return operation && now < operation->pauses_until(); }
};

}  // namespace redlock::simulation
