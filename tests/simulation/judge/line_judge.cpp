#include "simulation/judge/line_judge.hpp"

#include <algorithm>
#include <utility>

#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

/// Whether the fault concerns clients that may be the first ones in line. The others wait until these count as dead.
bool silences_members(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::stall:
    case Fault::Kind::crash:
    case Fault::Kind::crash_empty:
    case Fault::Kind::cut:
    case Fault::Kind::cut_listener:
    case Fault::Kind::flush_scripts:
    case Fault::Kind::no_publish:
    case Fault::Kind::foreign_take:
    case Fault::Kind::foreign_delete:
    case Fault::Kind::flush_all:
      return false;
    default:
      return true;
  }
}
/// Whether the gate, or the way to it, may differ between clients all the time.
bool lasts(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::partition:
    case Fault::Kind::deaf_node:
    case Fault::Kind::deaf_client:
    case Fault::Kind::slow:
      return true;
    default:
      return false;
  }
}
/// Whether the fault does not keep other clients from what the gate tells them.
bool pauses(const Fault& fault) {
  return fault.kind == Fault::Kind::pause || fault.kind == Fault::Kind::pause_mid_step ||
         fault.kind == Fault::Kind::client_crash;
}
/// Whether the node answers nothing meanwhile, and knows its lines afterwards.
bool freezes_lines(const Fault& fault) {
  return fault.kind == Fault::Kind::stall || fault.kind == Fault::Kind::crash;
}
/// Clients that reach the node again may have another gate than those that have not yet redialled it.
bool ends_connections(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::crash:
    case Fault::Kind::crash_empty:
    case Fault::Kind::stall:
    case Fault::Kind::slow:
    case Fault::Kind::cut:
    case Fault::Kind::partition:
    case Fault::Kind::deaf_node:
    case Fault::Kind::deaf_client:
      return true;
    default:
      return false;
  }
}
Instant longest_look(const Schedule& schedule) { return schedule.line_times.look_pause.count() * 4 / 3; }

}  // namespace

LineJudge::LineJudge(const Schedule& schedule, Report report)
    : schedule_{schedule},
      report_{std::move(report)},
      there_{longest_way(schedule)},
      only_cripples_{!schedule.faults.empty() &&
                     std::ranges::all_of(schedule.faults, [&](const Fault& fault) {
                       return fault.kind == Fault::Kind::partition && fault.node != Fault::all &&
                              fault.node != gate_of(schedule);
                     })} {}

void LineJudge::disturbed(const Fault& fault, Instant now) {
  const Instant life = schedule_.line_times.life.count() * millisecond;
  const Instant timeout = schedule_.node_timeout.count() * millisecond;
  // Everybody looks at the gate, finds out that it does not answer, and stands in line at another one.
  Instant recovered = now + longest_look(schedule_) + 2 * timeout;
  if (lasts(fault)) recovered += fault.length;
  if (fault.kind == Fault::Kind::slow) recovered += 4 * fault.amount;
  // The pauses before a client redials a node are up to twice as long as it was away, twice as long again after each further
  // fault, and a second at most.
  Instant redialled = recovered;
  if (ends_connections(fault)) {
    if (now == fault.at) {
      away_ += fault.length;
      longest_pause_ = std::min(2 * std::max(longest_pause_, away_ + 25 * millisecond), second);
    }
    redialled += longest_pause_;
    recovered += 50 * millisecond;
    // A member that has gone to another gate leaves its place at this one only then, or when it counts as dead.
    if (fault.kind == Fault::Kind::cut || lasts(fault)) recovered += std::min(life, longest_pause_);
  }
  // After a long pause, a client finds its commands overdue, and redials.
  if (pauses(fault) && fault.length > 4 * timeout)
    redialled += std::min(2 * std::max(longest_pause_, away_ + fault.length + 25 * millisecond), second);
  redialled_at_ = std::max(redialled_at_, redialled);
  order_excused_until_ =
      std::max(order_excused_until_, redialled + (now < fault.at + fault.length ? fault.length : 0));
  if (only_cripples_) crippled_until_[fault.client] = fault.at + fault.length;
  if (pauses(fault))
    paused_[fault.client] = fault.length > 4 * timeout ? redialled : now;
  else
    told_excused_until_ = std::max(told_excused_until_, order_excused_until_);
  flag_excused_until_ = std::max(flag_excused_until_, recovered + 2 * life);
  if (silences_members(fault)) {
    // The flag outlives one dead head, but not the dead one behind it, who never raised it.
    silences_end_ = std::max(silences_end_, fault.at + fault.length);
    if (now == fault.at && now < silent_until_)
      order_excused_until_ = std::max(order_excused_until_, silences_end_ + 2 * life);
    silent_until_ = std::max(silent_until_, now + 2 * life);
    silenced_at_ = now;
    recovered += life;
  }
  // The last commands of the dead are executed only then, and the clock of a node may have been set back since the members
  // looked for the last time.
  if (freezes_lines(fault) && now > fault.at && silenced_at_ &&
      *silenced_at_ + life + longest_look(schedule_) >= fault.at)
    recovered += life * 5 / 4;
  if (fault.kind == Fault::Kind::node_jump)
    recovered += life / 4;  // so much longer may the dead count as alive
  // Such a client finds out when it raises the flag again, and leaves the line.
  if (only_cripples_) recovered = now + life / 5 + 4 * timeout + longest_look(schedule_);
  if (fault.kind == Fault::Kind::no_publish)
    unheard_until_ = std::max(unheard_until_, fault.at + fault.length);
  wake_up_excused_until_ = std::max(wake_up_excused_until_, recovered);
}

/// It stands in line at the best node of those it reaches, which may be another one than that of the others.
void LineJudge::client_began(Instant now) {
  order_excused_until_ = std::max(order_excused_until_, now + longest_look(schedule_));
  wake_up_excused_until_ = std::max(wake_up_excused_until_, now + longest_look(schedule_));
}

void LineJudge::called(Caller caller, int resource, bool flag_stands, Instant now, bool is_readers) {
  calls_[caller] = {.resource = resource, .called = now, .flag_stood = flag_stands, .is_readers = is_readers};
}

void LineJudge::called_for_all(Caller caller, bool flag_stands, Instant now) {
  joint_calls_[caller] = {
      .resource = schedule_.seats, .called = now, .flag_stood = flag_stands, .is_readers = false};
}

void LineJudge::stand(Caller caller, Call& call, bool stands, Instant now) {
  const auto first = first_.find({call.resource, call.gate});
  const bool is_first = first != first_.end() && first->second.client == caller.first;
  gave_up_ += !stands && is_first && !call.is_granted ? 1 : 0;
  call.stands = stands;
  call.stands_since = now;
  call.enqueued = 0;
  call.gate = -1;
}

void LineJudge::stands(Caller caller, bool stands, Instant now) {
  Call& call = calls_.at(caller);
  if (call.stands == stands) return;
  stand(caller, call, stands, now);
  FirstReaders& first = first_readers_[static_cast<std::size_t>(call.resource)];
  if (first.client == caller.first) first.since = now;
}

void LineJudge::stands_for_all(Caller caller, bool stands, Instant now) {
  Call& call = joint_calls_.at(caller);
  if (call.stands != stands) stand(caller, call, stands, now);
}

void LineJudge::granted_together(Caller caller, Instant now) {
  busy_at_.fill(now);
  all_busy_at_ = now;
  Call& call = joint_calls_.at(caller);
  call.is_granted = true;
  judge_order(call, now);
}

void LineJudge::ended(Caller caller) {
  calls_.erase(caller);
  joint_calls_.erase(caller);
}

void LineJudge::enqueued(int client, int resource, int node, Instant now) {
  for (Calls* const calls : {&calls_, &joint_calls_})
    for (auto& [caller, call] : *calls) {
      if (caller.first != client || call.resource != resource || !call.stands) continue;
      if (call.stands_since + there_ >= now) continue;  // the gate may not know of it yet
      if (call.enqueued == 0) call.enqueued = now;
      call.gate = node;
    }
}

/// The order is certain if one call was enqueued before the other one began. The places of calls are as exact as messages are
/// fast.
bool LineJudge::is_bypassed(const Call& earlier, const Call& granted) const {
  return earlier.stands && earlier.resource == granted.resource && earlier.enqueued > 0 &&
         earlier.enqueued < granted.called && earlier.called + there_ < granted.called;
}

void LineJudge::granted(Caller caller, Instant now) {
  Call& call = calls_.at(caller);
  call.is_granted = true;
  grants_ += call.stands ? 1 : 0;
  // A short hold may end before the next look. Of several free seats, the first one in line takes any.
  busy_at_.fill(now);
  all_busy_at_ = now;
  first_readers_[static_cast<std::size_t>(call.resource)].since = now;
  judge_order(call, now);
}

void LineJudge::judge_order(const Call& granted, Instant now) {
  for (const Calls* const calls : {&calls_, &joint_calls_})
    for (const auto& [other, earlier] : *calls) {
      if (!is_bypassed(earlier, granted)) continue;
      ++bypasses_;
      // The flag that stood may have been that of an earlier line. That of a new one is up after two round trips.
      const bool is_guarded = granted.flag_stood && earlier.enqueued + 4 * there_ < granted.called;
      const bool is_same_line = granted.gate >= 0 ? earlier.gate == granted.gate : is_guarded;
      if (schedule_.is_about_lines && is_same_line && order_excused_until_ < granted.called)
        report_(Rule::order, now,
                "a call of " + milliseconds(granted.called, 3) + " was served before one of client " +
                    static_cast<char>('A' + other.first) + " of " + milliseconds(earlier.called, 3));
    }
}

void LineJudge::is_first(int client, int resource, int node, Instant now) {
  First& first = first_[{resource, node}];
  if (first.client == client) return;
  first = {client, now, first.client, now};
  // Each new first one finds it out only when it looks.
  if (now < unheard_until_) wake_up_excused_until_ = std::max(wake_up_excused_until_, now);
  // It leaves when it has noticed that too few nodes answer.
  if (now < crippled_until_[client])
    wake_up_excused_until_ =
        std::max(wake_up_excused_until_, now + 5 * schedule_.node_timeout.count() * millisecond);
}

void LineJudge::emptied(int resource, int node, Instant now) {
  First& first = first_[{resource, node}];
  first.before = first.client;
  first.changed_at = now;
}

/// Only the new first one has something to do, and the one whom it displaced.
void LineJudge::told(int client, int resource, int node, Instant now) {
  const First& first = first_[{resource, node}];
  const bool is_concerned = client == first.client || client == first.before;
  const bool has_changed = first.changed_at == now || died_.contains(client);
  if (schedule_.is_about_lines && !(has_changed && is_concerned))
    report_(Rule::traffic, now,
            "client " + std::string(1, static_cast<char>('A' + client)) +
                " is told of a change that does not concern it");
}

/// An attempt is made in vain if it is cancelled, if the holder has extended its lease, or if it meets the commands of a
/// holder that keeps the lock for less than their way takes. Not judged where calls ask for several locks: their attempts may
/// take one lock for a moment.
void LineJudge::judge_attempts(std::uint64_t changes, Instant now) {
  if (!schedule_.is_about_lines || !schedule_.faults.empty() || schedule_.workload.together > 0) return;
  constexpr std::uint64_t at_the_start = 5;
  if (attempts_ > grants_ + grants_ / 2 + gave_up_ + changes + at_the_start)
    report_(Rule::traffic, now,
            std::to_string(attempts_) + " attempts in line for " + std::to_string(grants_) + " grants");
}

/// Whoever was displaced hears of it from the gate, and looks. Who hears nothing looks soon.
void LineJudge::asks(Caller caller, Instant now) {
  const Call& call = calls_.at(caller);
  ++attempts_;
  if (!schedule_.is_about_lines || call.gate < 0) return;
  const First& first = first_.at({call.resource, call.gate});
  const Instant told = 4 * there_ + schedule_.line_times.blind_pause.count() * 4 / 3 + millisecond;
  if (first.client != caller.first &&
      now > std::max({first.since, told_excused_until_, paused_[caller.first]}) + told)
    report_(Rule::order, now,
            "client " + std::string(1, static_cast<char>('A' + caller.first)) + " asks, but client " +
                static_cast<char>('A' + first.client) + " is the first one in line");
}

void LineJudge::died(int client) {
  std::erase_if(calls_, [client](const auto& each) { return each.first.first == client; });
  std::erase_if(joint_calls_, [client](const auto& each) { return each.first.first == client; });
  died_.insert(client);
}

/// A message tells the next one, who looks, reads the lock and asks for it. One that hears no messages looks soon.
Instant LineJudge::soon() const {
  return 14 * there_ + 2 * schedule_.line_times.blind_pause.count() * 4 / 3 + 3 * millisecond;
}

bool LineJudge::any_settled(Instant now) const {
  return std::ranges::any_of(calls_, [&](const auto& each) {
    const Call& call = each.second;
    return call.resource == 0 && call.stands && call.enqueued > 0 && call.enqueued + soon() < now;
  });
}

void LineJudge::look_at(int resource, bool is_idle, Instant now) {
  Instant& busy_at = busy_at_[static_cast<std::size_t>(resource)];
  if (!is_idle) busy_at = now;
  if (now > std::max(busy_at, wake_up_excused_until_) + soon())
    report_(Rule::wake_up, now, "the lock is free, and nobody of those in line takes it");
}

/// A process asks for one of its calls after the other, in the order in which they were made.
std::optional<int> LineJudge::first_readers(int resource, const std::function<bool(int)>& can) const {
  const auto stands = [&](const auto& each) {
    return each.second.resource == resource && each.second.stands;
  };
  for (const auto& [caller, call] : calls_) {
    if (call.resource != resource || !call.stands || call.gate < 0) continue;
    const int client = caller.first;
    const auto is_writers = [&](const auto& each) {
      return stands(each) && each.first.first == client && !each.second.is_readers;
    };
    if (first_.at({resource, call.gate}).client == client && std::ranges::none_of(calls_, is_writers) &&
        can(client))
      return client;
  }
  return std::nullopt;
}

void LineJudge::look_at_readers(int resource, std::optional<int> client, Instant now) {
  FirstReaders& first = first_readers_[static_cast<std::size_t>(resource)];
  if (client != first.client) first = {client, now};
  if (client && now > std::max(first.since, wake_up_excused_until_) + soon())
    report_(Rule::wake_up, now,
            "no writer has the lock, and the readers of client " +
                std::string(1, static_cast<char>('A' + *client)) +
                ", which are the first in line, do not join");
}

void LineJudge::look_at_all(bool are_idle, Instant now) {
  if (!are_idle) all_busy_at_ = now;
  const Instant in_further_lines = (schedule_.resources - 1) * 4 * there_;
  if (now > std::max(all_busy_at_, wake_up_excused_until_) + soon() + in_further_lines)
    report_(Rule::wake_up, now,
            "all locks are free, and nobody of those who stand in line for all takes them");
}

void LineJudge::look(bool is_left, bool is_up, Instant now) {
  if (!is_left) in_order_at_ = now;
  if (is_up || !any_settled(now)) guarded_at_ = now;
  if (now > std::max(in_order_at_, flag_excused_until_) + soon())
    report_(Rule::quiescence, now, "the flag is up although nobody stands in line");
  // After a fault, and at the start, who leaves another line as the last one takes the flag down.
  if (schedule_.faults.empty() && now > std::max(guarded_at_, order_excused_until_) + soon())
    report_(Rule::order, now, "calls stand in line, and no flag keeps newcomers behind them");
}

}  // namespace redlock::simulation
