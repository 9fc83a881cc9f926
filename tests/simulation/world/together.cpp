// Calls for all locks at once.
#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include "simulation/world/application.hpp"

namespace redlock::simulation {

using core::JointAcquisition;
using core::Time;

/// Works like `Client::acquire_all`.
void Process::pursue_all(Thread& thread, Time now) {
  core::LockCall call = call_for(thread, now);
  call.is_fair = schedule_.stands_in_line;
  std::vector<core::Claim> claims;
  if (schedule_.observer >= 0) thread.is_reader = false;  // one of the locks is the one that clients watch
  core::Claim terms = terms_of(thread);
  terms.heeds_flag = call.is_fair && (!mutant_ || mutant_->several_heed_flags());
  for (int resource = schedule_.seats; resource < schedule_.resources; ++resource)
    claims.push_back(claim_on(key_of(resource, schedule_), terms, thread));
  if (mutant_ && !mutant_->sorts_locks() && index_ % 2 == 1) std::ranges::reverse(claims);
  auto pursuit = std::make_unique<ObservedJointPursuit>(std::move(call), std::move(claims), thread);
  thread.state = Thread::State::asking_for_all;
  thread.joint_pursuit = pursuit.get();
  judge_.lines().called_for_all({index_, thread.index}, world_.flag_stands(schedule_.seats), world_.now());
  submit(thread, std::move(pursuit), now);
}

Process::ObservedJointPursuit::ObservedJointPursuit(core::LockCall call, std::vector<core::Claim>&& claims,
                                                    Thread& thread)
    : JointPursuit{std::move(call), std::move(claims), thread.process.engine_.nodes()}, thread_{thread} {}

core::Ref<JointAcquisition> Process::ObservedJointPursuit::make_attempt(std::vector<core::Claim>&& claims) {
  Process& process = thread_.process;
  process.joint_attempt_begins(thread_, claims);
  if (process.mutant_)
    if (auto attempt = process.mutant_->joint_attempt(claims, nodes())) return attempt;
  return core::Ref<JointAcquisition>{
      new ObservedJointAttempt{std::move(claims), nodes(), purpose(), process}};
}

/// The grant of each lock is decided when its own majority is there. What happens before the others are decided is as if it
/// happened to a lock that is held.
void Process::ObservedJointAttempt::child_ended(core::Operation& child, Time now, core::Outbox& outbox) {
  const auto& part = static_cast<const core::Acquisition&>(child);
  if (part.granted()) process_.judge_grant(part);
  JointAcquisition::child_ended(child, now, outbox);
}

void Process::joint_attempt_begins(Thread& thread, const std::vector<core::Claim>& claims) {
  ++judge_.figures().attempts;
  for (const core::Claim& claim : claims) {
    world_.asked(claim.owner);
    thread.asked_together.emplace_back(resource_of(claim.key), claim.owner);
  }
  thread.invoked = world_.now();
  world_.note(index_, "asks for all locks");
}

int Process::resource_of(std::string_view key) const {
  const auto locks = std::views::iota(0, schedule_.resources);
  return *std::ranges::find_if(locks, [&](int lock) { return key_of(lock, schedule_) == key; });
}

/// Each lock gets a thread, which extends, uses and releases it.
void Process::joint_call_done(Thread& thread, Time now) {
  JointAcquisition* const all = thread.joint_pursuit->granted();
  if (!all) {
    world_.note(index_, "does not get all");
    world_.got_nothing(std::exchange(thread.asked_together, {}));
    return rest(thread);
  }
  ++judge_.figures().together;
  std::vector<Judge::LeaseIndex> leases;
  const core::Ref<core::Operation> kept = thread.operation;  // while its parts are taken from it
  for (std::size_t which = all->size(); which-- > 0;) {
    Thread& user = which == 0 ? thread : idle_companion();
    user.resource = resource_of((*all)[which].claim().key);
    user.adopted = {};
    user.invoked = thread.invoked;
    const Time deadline = (*all)[which].valid_until();
    user.claim = (*all)[which].take_claim();
    user.is_reader = user.claim.is_shared();
    granted(user, deadline, now);
    if (user.lease) leases.push_back(*user.lease);
    if (which > 0 && user.lease) thread.got_together.push_back(*user.lease);
  }
  auto asked = std::exchange(thread.asked_together, {});
  leases.empty() ? world_.got_nothing(std::move(asked)) : judge_.got_together(leases, world_.now());
}

Process::Thread& Process::idle_companion() {
  const auto is_idle = [](const std::unique_ptr<Thread>& thread) {
    return thread->is_companion && thread->state == Thread::State::thinking;
  };
  const auto found = std::ranges::find_if(threads_, is_idle);
  if (found != threads_.end()) return **found;
  threads_.push_back(std::make_unique<Thread>(*this));
  threads_.back()->index = static_cast<int>(threads_.size()) - 1;
  threads_.back()->is_companion = true;
  return *threads_.back();
}

}  // namespace redlock::simulation
