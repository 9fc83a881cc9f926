// Requests to holders to give a lock up, and locks that are taken from them.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/wire/resp.hpp"
#include "simulation/world/application.hpp"
#include "simulation/world/world.hpp"

namespace redlock::simulation {

using core::Span;
using core::Time;

/// Works like `Client::revoke`.
void Process::request(Thread& thread, Time now) {
  thread.resource = static_cast<int>(random_.between(0, schedule_.resources - 1));
  if (schedule_.two_teams) thread.resource = team_of(index_, schedule_);
  thread.state = Thread::State::requesting;
  world_.note(index_, "asks the holder for the lock");
  auto asking = std::make_unique<core::Asking>(key_of(thread.resource, schedule_), "please", engine_.nodes(),
                                               Span{schedule_.node_timeout});
  thread.asking = asking.get();
  submit(thread, std::move(asking), now);
}

/// Works like `Client::break_lock`. Returns false if the client does not know of any lease.
bool Process::break_lock(Thread& thread, Time now) {
  const std::optional<Judge::LeaseIndex> index = known_lease();
  if (!index) return false;
  const Judge::Lease& lease = judge_.lease(*index);
  const std::string key = key_of(lease.resource, schedule_);
  judge_.deleted_by_people();
  thread.state = Thread::State::breaking;
  world_.note(index_, "takes the lock from a holder");
  if (mutant_ && !mutant_->compares_owners())
    for (core::NodeIndex node = 0; node < engine_.nodes(); ++node)
      world_.send_separately(
          index_, static_cast<int>(node),
          core::command({"EVAL", "return redis.call('DEL',KEYS[1])", "1", key, lease.owner}));
  const std::string_view owners[] = {lease.owner};
  auto breaking =
      std::make_unique<core::Breaking>(key, owners, engine_.nodes(), Span{schedule_.node_timeout});
  thread.breaking = breaking.get();
  submit(thread, std::move(breaking), now);
  return true;
}

/// The holder hears requests from now on, if its lease is watched.
void Process::listen_to_requests(Thread& thread) {
  if (schedule_.workload.requests == 0) return;
  thread.held->listen_to_requests();
  if (mutant_) thread.held->request_key = mutant_->request_key(thread.claim);
  judge_.hears_requests(*thread.lease);
}

/// Those who have heard a request. Many of them give the lock up.
void Process::heed_requests(Time now) {
  for (const auto& thread : threads_) {
    if (!thread->held || !std::exchange(thread->held->is_requested, false) || !thread->lease) continue;
    world_.note(index_, "is asked for the lock");
    judge_.told_of_request(*thread->lease, world_.now());
    if (thread->state == Thread::State::holding && random_.chance(70)) release(*thread, now);
  }
}

/// `holders`: who had a copy on this node before the command. A request touches the key that each holder watches, without
/// changing it. The server does not report that by itself, so it is done here.
void World::judge_request(int index, std::string_view lock_key, const std::vector<Copy>& holders) {
  const int which = connections_[static_cast<std::size_t>(index)].node;
  const Node& node = nodes_[static_cast<std::size_t>(which)];
  for (const Copy& holder : holders) {
    const std::optional<Judge::LeaseIndex> lease = judge_.requested(holder.owner);
    if (lock_key == key_of(watched_lock(schedule_), schedule_)) watched_touched_at_ = now_;
    if (lease && schedule_.faults.empty())
      post(now_ + time_to_hear(), Due::Kind::must_have_heard, static_cast<int>(*lease));
  }
  for (const auto& [key, entry] : watched_keys_on(node.server, lock_key, clock_us(node)))
    if (!entry.value.starts_with("redlock:")) notify_change(which, key, index);
}

}  // namespace redlock::simulation
