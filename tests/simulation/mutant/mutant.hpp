// Deliberate mistakes, which the simulation must find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/lease_check.hpp"
#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/line/line_context.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/lock/joint_acquisition.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

/// One deliberate mistake. The core itself is unchanged: a mutant changes its inputs and outputs, or the scripts on the
/// servers. Functions that it does not override behave correctly.
class Mutant {
 public:
  /// A kind of world.
  using Worlds = bool (*)(const Schedule&);
  struct Patch {
    const core::Script* original;
    std::string source;
  };

  /// Sends a command on a separate connection. The answer is ignored.
  using SendSeparately = std::function<void(core::NodeIndex, std::string_view command)>;

  virtual ~Mutant() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whether the mistake can show in this world. A search for it leaves out the others.
  [[nodiscard]] bool matters_in(const Schedule& schedule) const { return !worlds_ || worlds_(schedule); }
  void only_matters_in(Worlds worlds) noexcept { worlds_ = worlds; }
  [[nodiscard]] virtual std::vector<Patch> patches() const { return {}; }
  /// Called if the clients of the world use the restart guard.
  virtual void before_start(core::RestartGuard::Settings& guard) const { static_cast<void>(guard); }
  /// `previous_owner`: owner value of the previous attempt; empty if there is none.
  virtual void before_attempt(core::Claim& claim, const std::string& previous_owner) const {
    static_cast<void>(claim), static_cast<void>(previous_owner);
  }
  virtual void before_hold(core::Claim& claim) const { static_cast<void>(claim); }
  virtual void before_check(core::LeaseCheck::Subject& subject) const { static_cast<void>(subject); }
  virtual void before_extension(core::LeaseState& held) const { static_cast<void>(held); }
  /// Puts something between the engine and the operation.
  [[nodiscard]] virtual std::unique_ptr<core::Operation> wrap(std::unique_ptr<core::Operation> operation,
                                                              std::size_t nodes,
                                                              const SendSeparately& send_separately) const {
    static_cast<void>(nodes), static_cast<void>(send_separately);
    return operation;
  }
  /// The deadline that the holder assumes, and whether it checks the deadline when it gets the lock.
  [[nodiscard]] virtual core::Time deadline(const core::Acquisition& granted, core::Time now,
                                            const Schedule& schedule) const {
    static_cast<void>(now), static_cast<void>(schedule);
    return granted.valid_until();
  }
  [[nodiscard]] virtual bool looks_at_deadline() const { return true; }
  /// Whether a client that holds a lease notices that a connection has ended although no thread waits.
  [[nodiscard]] virtual bool holders_look() const { return true; }
  /// Whether a client reads a key again after its own write, so that the server reports the next change.
  [[nodiscard]] virtual bool rearms() const { return true; }
  /// Whether a key is armed on a connection that is not the client's first one to this node.
  [[nodiscard]] virtual bool rearms_after_reconnect() const { return true; }
  /// Whether the observer reads a key again so that the server reports the change after the next.
  [[nodiscard]] virtual bool observer_rearms() const { return true; }
  /// Whether the observer hears of changes of the counter.
  [[nodiscard]] virtual bool watches_counters() const { return true; }
  /// Whether the observer believes that all nodes show what the first one does.
  [[nodiscard]] virtual bool believes_first_node() const { return false; }
  /// Whether the read that arms the key of a waiting client tells it that the key is free, or until when it is held.
  [[nodiscard]] virtual bool reads_when_arming() const { return true; }
  /// Whether a change counts that is reported before the reply of the read that armed the key.
  [[nodiscard]] virtual bool heeds_overtaking_changes() const { return true; }
  /// Whether a reported change counts only for the node that reports it.
  [[nodiscard]] virtual bool counts_changes_by_node() const { return true; }
  /// Whether a client asks the nodes if the lock is free, although it has released it once.
  [[nodiscard]] virtual bool forgets_own_release() const { return true; }
  /// Whether a client that does not reach a majority leaves its line.
  [[nodiscard]] virtual bool leaves_if_crippled() const { return true; }
  /// Whether a client gives up nodes that do not answer.
  [[nodiscard]] virtual bool gives_up_deaf_nodes() const { return true; }
  /// Whether a node orders a client's lines again after the client has connected to it again.
  [[nodiscard]] virtual bool returns_to_gates() const { return true; }
  /// How many ms a line's flag lives; 0: for ever.
  [[nodiscard]] virtual std::int64_t flag_life(std::int64_t intended) const { return intended; }
  /// Whether the client sends the whole script to a node that does not know the digest, to leave a line.
  [[nodiscard]] virtual bool leaves_by_source() const { return true; }
  /// Whether those who hold the semaphore know their seats.
  [[nodiscard]] virtual bool names_seats() const { return true; }
  virtual void before_start(core::LineTimes& times) const { static_cast<void>(times); }
  /// Whether a client recognises a server that it knows under another name.
  [[nodiscard]] virtual bool recognises_servers() const { return true; }
  /// Whether the exclusive lease of a writer ends when it becomes a reader.
  [[nodiscard]] virtual bool downgrade_ends_lease() const { return true; }
  /// An attempt at several locks instead of the one that the library makes; null: that one.
  [[nodiscard]] virtual core::Ref<core::JointAcquisition> joint_attempt(std::vector<core::Claim>& claims,
                                                                        std::size_t nodes) const {
    static_cast<void>(claims), static_cast<void>(nodes);
    return {};
  }
  /// Whether a client that takes a lock from a holder leaves another one alone that has it meanwhile.
  [[nodiscard]] virtual bool compares_owners() const { return true; }
  /// Where a holder looks for requests to give the lock up.
  [[nodiscard]] virtual std::string request_key(const core::Claim& claim) const {
    return core::request_key(claim.key, claim.owner);
  }
  /// Whether all calls for several locks join the lines in the same order.
  [[nodiscard]] virtual bool sorts_locks() const { return true; }
  /// Whether calls for several locks stay behind those who stand in the lines.
  [[nodiscard]] virtual bool several_heed_flags() const { return true; }
  /// Whether locks that were got together are held until the first of their deadlines.
  [[nodiscard]] virtual bool looks_at_all_deadlines() const { return true; }
  /// Whether the copies of a lost lease stay on the nodes until its holder releases it.
  [[nodiscard]] virtual bool keeps_copies_of_lost() const { return true; }
  /// Whether a release ends renewals and a running extension.
  [[nodiscard]] virtual bool release_ends_lease() const { return true; }
  /// The time until which extensions are attempted.
  [[nodiscard]] virtual core::Time extension_limit(core::Time deadline, core::Time now) const {
    static_cast<void>(now);
    return deadline;
  }

 private:
  Worlds worlds_ = nullptr;  // null: all
};

/// All mutants that drawn schedules find.
[[nodiscard]] std::span<const std::unique_ptr<Mutant>> mutants();
/// One of these, or one that only a handwritten schedule finds. Returns null if there is none of this name.
[[nodiscard]] const Mutant* mutant_named(std::string_view name);

}  // namespace redlock::simulation
