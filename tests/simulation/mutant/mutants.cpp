#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/lease_check.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/line/seats.hpp"
#include "redlock/core/wire/marker.hpp"
#include "simulation/mutant/faulty_operations.hpp"
#include "simulation/mutant/mutant.hpp"

namespace redlock::simulation {
namespace {

using core::Acquisition;
using core::Claim;
using core::Extension;
using core::NodeIndex;
using core::Operation;
using core::Step;
using core::Time;

/// A mutant that puts a wrapper around operations of one kind.
template <class Kind, class Wrapper>
class WrappingMutant : public Mutant {
 public:
  explicit WrappingMutant(std::string_view name) : name_{name} {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::unique_ptr<Operation> wrap(std::unique_ptr<Operation> operation, std::size_t nodes,
                                                const SendSeparately& send_separately) const override {
    if (!dynamic_cast<Kind*>(operation.get())) return operation;
    return std::make_unique<Wrapper>(std::move(operation), nodes, send_separately);
  }

 private:
  std::string_view name_;
};

/// A mutant that puts a wrapper around the attempts of readers, and of nobody else.
template <class Wrapper>
class ReaderMutant : public WrappingMutant<Acquisition, Wrapper> {
 public:
  using Base = WrappingMutant<Acquisition, Wrapper>;
  using Base::Base;
  [[nodiscard]] std::unique_ptr<Operation> wrap(
      std::unique_ptr<Operation> operation, std::size_t nodes,
      const Mutant::SendSeparately& send_separately) const override {
    const auto* const attempt = dynamic_cast<const Acquisition*>(operation.get());
    if (!attempt || !attempt->claim().is_shared()) return operation;
    return Base::wrap(std::move(operation), nodes, send_separately);
  }
};

/// Base class of mutants that need no wrapper.
class NamedMutant : public Mutant {
 public:
  explicit NamedMutant(std::string_view name) : name_{name} {}
  [[nodiscard]] std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

class NoElapsedCheck final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override {
    claim.drift -= std::chrono::hours{1};
  }
  void before_hold(Claim& claim) const override {
    if (claim.drift < core::Span::zero()) claim.drift += std::chrono::hours{1};
  }
  [[nodiscard]] Time deadline(const Acquisition& granted, Time, const Schedule& schedule) const override {
    return core::valid_until(granted.begun(), granted.wanted_ttl(), schedule.drift);
  }
  [[nodiscard]] bool looks_at_deadline() const override { return false; }
};

class ValidityFromReplies final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] Time deadline(const Acquisition& granted, Time now, const Schedule& schedule) const override {
    return core::valid_until(now, granted.wanted_ttl(), schedule.drift);
  }
};

/// Uses only this percentage of the drift.
class LessDrift final : public NamedMutant {
 public:
  LessDrift(std::string_view name, int percent) : NamedMutant{name}, percent_{percent} {}
  void before_attempt(Claim& claim, const std::string&) const override {
    claim.drift = claim.drift * percent_ / 100;
  }

 private:
  int percent_;
};

/// Accepts a marker of any run of the server.
class IgnoresRunId final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_start(core::RestartGuard::Settings& guard) const override { guard.durable = true; }
};

class EndsQuarantineEarly final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_start(core::RestartGuard::Settings& guard) const override {
    guard.drift = std::chrono::milliseconds{1} - guard.max_ttl;
  }
};

/// Looks again at no node that does not vote, unless that reconnects.
class LooksOnce final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_start(core::RestartGuard::Settings& guard) const override {
    guard.between_visits = std::chrono::hours{24};
  }
};

/// Uses the same markers as the clients with another key prefix.
class IgnoresPrefix final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_start(core::RestartGuard::Settings& guard) const override { guard.keys = core::MarkerKeys{}; }
};

class HoldersDoNotLook final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool holders_look() const override { return false; }
};

/// The library deletes what is left of a lost lease before the holder does anything.
class ReleasesWhenLost final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool keeps_copies_of_lost() const override { return false; }
};

class RenewsAfterRelease final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool release_ends_lease() const override { return false; }
};

class CountsNames final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool recognises_servers() const override { return false; }
};

class ArmsOnce final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool rearms() const override { return false; }
};

class ArmsForOneChange final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool observer_rearms() const override { return false; }
};

class IgnoresCounters final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool watches_counters() const override { return false; }
};

class BelievesFirstNode final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool believes_first_node() const override { return true; }
};

class AdoptWithoutSwap final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override {
    if (!claim.adopted_owner.empty()) claim.owner = claim.adopted_owner;
  }
};

/// Newcomers do not heed the flag.
class IgnoresFlag final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override { claim.heeds_flag = false; }
};

/// The flag binds those for whom it stands.
class FlagBindsHeads final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override { claim.heeds_flag = true; }
};

/// Nothing tells the head of a line that a node is free but messages and its looks.
class ArmsWithoutReading final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool reads_when_arming() const override { return false; }
};

class ArmsFirstConnection final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool rearms_after_reconnect() const override { return false; }
};

/// The reply of a read counts although a change of the key was reported since.
class RepliesCountLast final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool heeds_overtaking_changes() const override { return false; }
};

/// The head of a line asks as soon as one node reports a change, not when a majority may be free.
class AsksAtFirstPush final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool counts_changes_by_node() const override { return false; }
};

class RemembersOwnRelease final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool forgets_own_release() const override { return false; }
};

class StaysCrippled final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool leaves_if_crippled() const override { return false; }
};

class KeepsDeafGates final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool gives_up_deaf_nodes() const override { return false; }
};

class NeverMovesBack final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool returns_to_gates() const override { return false; }
};

/// The flag lives for this percentage of the time that it should.
class FlagOfOtherLife final : public NamedMutant {
 public:
  FlagOfOtherLife(std::string_view name, int percent) : NamedMutant{name}, percent_{percent} {}
  [[nodiscard]] std::int64_t flag_life(std::int64_t intended) const override {
    return intended * percent_ / 100;
  }

 private:
  int percent_;
};

class LeavesByDigest final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool leaves_by_source() const override { return false; }
};

/// Only messages, and the end of the first one's life, make a member look at the gate.
class LooksRarely final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_start(core::LineTimes& times) const override { times.look_pause = 2 * core::Span{times.life}; }
};

/// A lost lease is released.
class ReleasesLost final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_hold(Claim& claim) const override { claim.lock_delay = {}; }
};

/// The holder relies on the lock until the nodes drop it.
class HoldsDuringDelay final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override {
    claim.ttl += std::exchange(claim.lock_delay, {});
  }
};

/// A release keeps the lock for only a part of its minimum time.
class KeepsTooShort final : public NamedMutant {
 public:
  KeepsTooShort(std::string_view name, int percent) : NamedMutant{name}, percent_{percent} {}
  void before_hold(Claim& claim) const override {
    claim.kept_until -= claim.at_least * (100 - percent_) / 100;
  }

 private:
  int percent_;
};

/// The second seat has the key of the first one.
class SeatsShareKey final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override {
    if (!claim.is_seat() || core::seat_of(claim.key)->seat != 1) return;
    claim.key = core::seat_key(claim.line_key, 0);
    if (claim.fence) claim.fence->counter_key = core::counter_key(claim.key);
  }
};

/// Whoever has the lock loses it when that of a former holder is broken.
class BreaksBlindly final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool compares_owners() const override { return false; }
};

/// Whoever has the lock, its lease is taken for the one that is checked.
class IgnoresId final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_check(core::LeaseCheck::Subject& subject) const override { subject.id.clear(); }
};

class SameOwner : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string& previous_owner) const override {
    if (!previous_owner.empty()) claim.owner = previous_owner;
  }
};

class ExtendsAfterDeadline final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] Time extension_limit(Time deadline, Time now) const override {
    return std::max(deadline, now + std::chrono::milliseconds{10});
  }
};

class RepairCountsAtOnce final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_extension(core::LeaseState& held) const override { held.copies = core::Copies{}; }
};

class ReadersRepairCountsAtOnce final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_extension(core::LeaseState& held) const override {
    if (held.claim.is_shared()) held.copies = core::Copies{};
  }
};

class Patched : public NamedMutant {
 public:
  Patched(std::string_view name, std::vector<Patch> patches)
      : NamedMutant{name}, patches_{std::move(patches)} {}
  [[nodiscard]] std::vector<Patch> patches() const override { return patches_; }

 private:
  std::vector<Patch> patches_;
};

/// Grants a second time to the same owner value, and confirms by the owner value alone.
class GrantsAgain final : public SameOwner {
 public:
  using SameOwner::SameOwner;
  [[nodiscard]] std::vector<Patch> patches() const override {
    return {
        {&core::grant_script,
         "local holder=redis.call('GET',KEYS[1]) "
         "if holder and holder~=ARGV[1] then return {holder,redis.call('PTTL',KEYS[1])} end "
         "local counter=math.max(tonumber(redis.call('GET',KEYS[2]) or 0)+1,tonumber(ARGV[3])) "
         "redis.call('SET',KEYS[2],counter) redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2]) return counter"},
        {&core::confirm_script, std::string{confirm_by_owner}}};
  }
  static constexpr std::string_view confirm_by_owner =
      "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end redis.call('SET',KEYS[2],ARGV[3]) return 1";
};

/// A passage of a script, and what stands there instead.
struct Change {
  std::string_view passage;
  std::string_view instead;
};

/// Throws `std::logic_error` if a passage does not occur.
Mutant::Patch patched(const core::Script& original, std::initializer_list<Change> changes) {
  std::string source{original.source};
  for (const auto& [passage, instead] : changes) {
    std::size_t at = source.find(passage);
    if (at == source.npos) throw std::logic_error{"not in the script: " + std::string{passage}};
    for (; at != source.npos; at = source.find(passage, at + instead.size()))
      source.replace(at, passage.size(), instead);
  }
  return {&original, std::move(source)};
}
/// Patches the script of the restart guard, which is not loaded, so it has no digest.
Mutant::Patch marking_with(std::initializer_list<Change> changes) {
  static constexpr core::Script original{core::mark_script, {}};
  return patched(original, changes);
}
Mutant::Patch line_with(std::initializer_list<Change> changes) { return patched(core::line_script, changes); }
constexpr std::string_view before_marking = "local age=";
constexpr std::string_view after_marking = "local about=";
constexpr std::string_view stored_marker = "call('GETRANGE',KEYS[1],0,511)";
constexpr std::string_view is_in_time = "age>=0 and age<=1000000 and ";
constexpr std::string_view begin_quarantine = "call('SET',KEYS[2],1,'PX',ARGV[3])";
constexpr std::string_view write_marker = "call('SET',KEYS[1],ARGV[2])";

/// Every look at a quarantine restarts it.
Mutant::Patch marking_that_starts_over() {
  return marking_with({{begin_quarantine, "call('SET',KEYS[2],ARGV[3],'PX',ARGV[3])"},
                       {after_marking,
                        "local whole=call('GET',KEYS[2]) if whole then call('PEXPIRE',KEYS[2],whole) end "
                        "local about="}});
}
/// New nodes vote as soon as they have a name, as if no mark could be late: a node that was marked without a name does
/// not wait, and neither the time of the look nor the marker that it found matter.
Mutant::Patch marking_late() {
  return marking_with(
      {{before_marking, "local text=call('GETRANGE',KEYS[1],0,511) local age="},
       {is_in_time, ""},
       {"call('GETRANGE',KEYS[1],0,511)==ARGV[1]",
        "(text==ARGV[1] or text=='' or string.find(text,'=none ',1,true))"},
       {"if ARGV[3]=='-1' then", "if ARGV[3]=='-1' or string.find(ARGV[2],'=none ',1,true) then"}});
}
/// A node that has a name never gets another one.
Mutant::Patch marking_that_keeps_names() {
  return marking_with(
      {{before_marking,
        "local function name(marker) return string.match(marker,'deployment=(%x+) ') end local age="},
       {is_in_time,
        "age>=0 and age<=1000000 and not (name(ARGV[1]) and name(ARGV[1])~=name(ARGV[2])) and "}});
}
/// Both limits are raised at once.
Mutant::Patch marking_in_one_phase() {
  return marking_with(
      {{write_marker,
        "call('SET',KEYS[1],(string.gsub(ARGV[2],'max_ttl=%d+ ceiling=(%d+)','max_ttl=%1')))"}});
}
/// No quarantine is longer than the least `max_ttl` option of the clients in a raise, plus its drift.
Mutant::Patch marking_by_own_option() {
  return marking_with({{begin_quarantine, "call('SET',KEYS[2],1,'PX',math.min(ARGV[3],2152))"}});
}
/// What is no marker counts as missing.
Mutant::Patch marking_over_anything() {
  return marking_with({{stored_marker, "marker()"},
                       {before_marking,
                        "local function marker() local text=call('GETRANGE',KEYS[1],0,511) "
                        "if string.find(text,'redlock 1 deployment=',1,true) then return text end return '' "
                        "end local age="}});
}
/// Servers report that they have been running for an hour longer.
Mutant::Patch marking_with_false_uptime() { return marking_with({{"tonumber(uptime or 0)", "3600"}}); }

constexpr std::string_view delete_strangers =
    "for _,id in ipairs(call('SMEMBERS',KEYS[3])) do call('DEL',KEYS[3]..':'..id) end call('DEL',KEYS[3]) ";

/// A confirm of a reader checks neither its copy nor whether the counter has changed since the grant.
Mutant::Patch confirming_readers_unchecked() {
  constexpr std::string_view checks =
      "if call('GETRANGE',KEYS[1],0,#ARGV[1])~=ARGV[1] or call('GET',KEYS[2])~=ARGV[2] then";
  constexpr std::string_view checks_of_writers =
      "if string.sub(KEYS[1],1,9)~='redlock:s' and (call('GETRANGE',KEYS[1],0,#ARGV[1])~=ARGV[1] or "
      "call('GET',KEYS[2])~=ARGV[2]) then";
  return patched(core::confirm_script, {{checks, checks_of_writers}});
}

/// Nodes that lost their data grant to readers as soon as they are marked again.
class ReadersDoNotWait final : public ReaderMutant<AsksInQuarantine> {
 public:
  using ReaderMutant::ReaderMutant;
  [[nodiscard]] std::vector<Patch> patches() const override {
    return {patched(core::shared_grant_script, {{"left~=-2 or ", ""}})};
  }
};

/// The writer goes on as such beside the readers.
class KeepsWriter final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool downgrade_ends_lease() const override { return false; }
};

/// An attempt at several locks keeps those that it has got when another one is refused.
class KeepsSome final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] core::Ref<core::JointAcquisition> joint_attempt(std::vector<core::Claim>& claims,
                                                                std::size_t nodes) const override {
    struct Attempt final : core::JointAcquisition {
      using JointAcquisition::JointAcquisition;
      void give_back(core::Acquisition&, core::Time, core::Outbox&) override {}
    };
    return core::Ref<core::JointAcquisition>{
        new Attempt{std::move(claims), nodes, core::Acquisition::Purpose::wait}};
  }
};

/// Who has several locks looks only at the deadline of the first one.
class LooksAtFirstDeadline final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool looks_at_all_deadlines() const override { return false; }
};

constexpr core::Script ask_script{core::ask_source, ""};
constexpr core::Script readable_script{core::readable_source, ""};

/// A request is left for whoever holds the lock, and is read by the next holder too.
class RequestsByResource final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] std::vector<Patch> patches() const override {
    return {patched(ask_script, {{"call('SET',KEYS[2]..id,", "call('SET',KEYS[2],"}})};
  }
  [[nodiscard]] std::string request_key(const core::Claim& claim) const override {
    return core::request_prefix(claim.key);
  }
};

/// A holder looks for requests where nobody leaves any.
class HearsNoRequests final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] std::string request_key(const core::Claim& claim) const override {
    return core::request_prefix(claim.key);
  }
};

/// Some clients join the lines of several locks in another order than the others.
class JoinsInAnyOrder final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool sorts_locks() const override { return false; }
};

/// Calls for several locks do not heed the flags of the lines.
class OvertakesWithSeveral final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool several_heed_flags() const override { return false; }
};

/// A semaphore with two seats as other libraries have it: each node admits two holders, and a majority of the nodes suffices.
/// Either key is one of the two places on a node, whichever the client has named.
class CountsHolders final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  [[nodiscard]] bool names_seats() const override { return false; }
  [[nodiscard]] std::vector<Patch> patches() const override {
    constexpr std::string_view is_taken =
        "redis.call('EXISTS',KEYS[1])==1 and redis.call('GET',KEYS[1])~=ARGV[5]";
    constexpr std::string_view is_others = "redis.call('GET',KEYS[1])~=ARGV[1]";
    return {in_other_place(core::grant_script, is_taken), in_other_place(core::put_back_script, is_taken),
            in_other_place(core::confirm_script, is_others), in_other_place(core::extend_script, is_others),
            in_other_place(core::release_script, is_others)};
  }

 private:
  static Patch in_other_place(const core::Script& original, std::string_view condition) {
    return {&original,
            std::string{"if "}
                .append(condition)
                .append(" then KEYS[1]=string.gsub(KEYS[1],'#[01]$',{['#0']='#1',['#1']='#0'}) end ")
                .append(original.source)};
  }
};

bool with_guard(const Schedule& schedule) { return schedule.guarded; }
bool with_new_nodes(const Schedule& schedule) { return schedule.guarded && !schedule.deployed; }
bool of_raises(const Schedule& schedule) { return schedule.one_node_is_steady; }
bool with_foreign_markers(const Schedule& schedule) {
  return std::ranges::any_of(schedule.faults,
                             [](const Fault& fault) { return fault.kind == Fault::Kind::foreign_marker; });
}
bool with_lock_delay(const Schedule& schedule) {
  return schedule.lock_delay.count() > 0 && !loses_copies(schedule);
}
bool with_at_least(const Schedule& schedule) {
  return schedule.at_least.count() > 0 && !loses_copies(schedule);
}
bool with_checks(const Schedule& schedule) {
  return schedule.workload.checks > 0 && schedule.profile == Profile::within;
}
bool with_readers(const Schedule& schedule) { return schedule.workload.reads > 0; }
bool with_readers_and_guard(const Schedule& schedule) {
  return with_readers(schedule) && with_guard(schedule);
}
bool about_lines_with_readers(const Schedule& schedule) {
  return schedule.is_about_lines && with_readers(schedule);
}
bool with_requests(const Schedule& schedule) { return schedule.workload.requests > 0; }
bool with_breaks(const Schedule& schedule) { return schedule.workload.breaks > 0; }
bool with_requests_alone(const Schedule& schedule) {
  return with_requests(schedule) && schedule.faults.empty();
}
bool with_watches(const Schedule& schedule) { return schedule.observer >= 0; }
bool with_watches_alone(const Schedule& schedule) {
  return with_watches(schedule) && schedule.faults.empty();
}
bool with_joint_calls(const Schedule& schedule) { return schedule.workload.together > 0; }
bool about_joint_lines(const Schedule& schedule) {
  return schedule.is_about_lines && schedule.workload.together > 0;
}
bool with_semaphore(const Schedule& schedule) { return schedule.seats > 0; }
bool with_two_seats(const Schedule& schedule) { return schedule.seats == 2 && schedule.fencing; }
bool about_seats(const Schedule& schedule) { return schedule.is_about_lines && schedule.seats > 1; }
bool with_lines(const Schedule& schedule) { return schedule.stands_in_line; }
bool about_lines(const Schedule& schedule) { return schedule.is_about_lines; }

std::vector<std::unique_ptr<Mutant>> make() {
  std::vector<std::unique_ptr<Mutant>> all;
  const auto add = [&all](auto mutant, Mutant::Worlds worlds = nullptr) {
    mutant.only_matters_in(worlds);
    all.push_back(std::make_unique<decltype(mutant)>(std::move(mutant)));
  };
  add(WrappingMutant<Acquisition, HalfSuffices>{"half-suffices"});
  add(WrappingMutant<Acquisition, OnlyReachableCount>{"only-reachable-count"});
  add(NoElapsedCheck{"no-elapsed-check"});
  add(ValidityFromReplies{"validity-from-replies"});
  add(LessDrift{"no-drift", 0});
  add(LessDrift{"half-the-drift", 50});
  add(Patched{"blind-delete", {{&core::release_script, "return redis.call('DEL',KEYS[1])"}}});
  add(Patched{"extend-without-owner",
              {{&core::extend_script,
                "if redis.call('PTTL',KEYS[1])<tonumber(ARGV[2]) then redis.call('PEXPIRE',KEYS[1],ARGV[2]) "
                "end return 1"}}});
  add(AdoptWithoutSwap{"adopt-without-swap"});
  add(WrappingMutant<Extension, MinorityExtends>{"minority-extends"});
  add(ExtendsAfterDeadline{"extend-after-deadline"});
  add(Patched{"confirm-without-owner",
              {{&core::confirm_script, "redis.call('SET',KEYS[2],ARGV[3]) return 1"}}});
  add(Patched{
      "confirm-without-bound",
      {{&core::confirm_script,
        "if redis.call('GET',KEYS[1])~=ARGV[1] or redis.call('GET',KEYS[2])~=ARGV[2] then return 0 end "
        "redis.call('SET',KEYS[2],ARGV[3]) return 1"}}});
  add(GrantsAgain{"grant-again"});
  add(WrappingMutant<Acquisition, UnfoldedGrantsCount>{"unfolded-grants-count"});
  add(SameOwner{"same-owner"});
  add(WrappingMutant<Acquisition, NothingIsGivenBack>{"nothing-is-given-back"});
  add(WrappingMutant<Acquisition, ReleasesOvertake>{"releases-overtake"});
  add(WrappingMutant<Acquisition, GrantsBehindReleases>{"grants-behind-releases"});
  add(CountsNames{"names-vote-instead-of-servers"});
  add(ArmsOnce{"no-rearm-after-write"});
  add(RepairCountsAtOnce{"repair-counts-at-once"});
  add(WrappingMutant<Extension, RepairsAfterFailure>{"repair-after-failure"});
  add(RenewsAfterRelease{"renewal-after-release"});
  add(ReleasesWhenLost{"release-when-lost"}, with_guard);
  add(IgnoresRunId{"marker-without-run-id"}, with_guard);
  add(EndsQuarantineEarly{"quarantine-ends-early"}, with_guard);
  add(WrappingMutant<Acquisition, TakesAnyNodesMarker>{"any-nodes-marker-counts"}, with_guard);
  add(HoldersDoNotLook{"holders-do-not-look"}, with_guard);
  add(LooksOnce{"nobody-looks-again"}, with_guard);
  add(IgnoresPrefix{"one-marker-for-all-teams"}, with_guard);
  add(Patched{"quarantine-starts-over", {marking_that_starts_over()}}, with_guard);
  add(Patched{"late-marks-count", {marking_late()}}, with_new_nodes);
  add(Patched{"names-stay", {marking_that_keeps_names()}}, with_guard);
  add(Patched{"raise-in-one-phase", {marking_in_one_phase()}}, of_raises);
  add(Patched{"quarantine-by-own-option", {marking_by_own_option()}}, of_raises);
  add(Patched{"uptime-is-exaggerated", {marking_with_false_uptime()}}, with_guard);
  add(Patched{"foreign-texts-are-replaced", {marking_over_anything()}}, with_foreign_markers);
  add(WrappingMutant<Acquisition, LostGrantsCount>{"lost-grants-count"});
  add(WrappingMutant<Extension, LostGrantsCount>{"lost-extensions-count"});
  add(IgnoresFlag{"no-flag"}, about_lines);
  add(FlagBindsHeads{"flag-binds-heads"}, about_lines);
  add(Patched{"nobody-is-told",
              {line_with({{"local function tell(member,text) ",
                           "local function tell() end local function ask(member,text) "}})}},
      about_lines);
  add(Patched{"dead-members-stay", {line_with({{"remove('-inf',now)", ""}})}}, about_lines);
  add(Patched{"place-by-clients-clock",
              {line_with({{"now-ARGV[2]", "now-ARGV[2]+string.byte(me,16)*1000000"}})}},
      about_lines);
  add(Patched{"place-by-arrival", {line_with({{"now-ARGV[2]", "now"}})}}, about_lines);
  add(Patched{"nobody-leaves", {line_with({{"call('ZREM',order,me) call('ZREM',alive,me) if", "if"}})}},
      about_lines);
  add(Patched{"flag-is-not-taken-down",
              {line_with({{"return {rank,call('ZCARD',order)", "return {rank,call('ZCARD',order)+1"}})}},
      about_lines);
  add(Patched{"everybody-is-first", {line_with({{"return {rank,", "return {math.min(rank,0),"}})}},
      about_lines);
  add(Patched{"right-is-inherited", {line_with({{"ARGV[4]=='1' or not", "not"}})}}, about_lines);
  add(Patched{"displaced-is-untold",
              {line_with({{"if before and before~=me then tell(before,order) end", ""}})}},
      about_lines);
  add(
      Patched{
          "dead-head-stays",
          {line_with({{"call('ZREM',order,member) call('ZREM',alive,member)",
                       "if member~=before then call('ZREM',order,member) call('ZREM',alive,member) end"}})}},
      about_lines);
  add(Patched{"everybody-is-told",
              {line_with({{"if head~=before then ",
                           "if head~=before then for _,member in ipairs(call('ZRANGE',order,0,-1)) do "
                           "if member~=me then tell(member,order) end end "}})}},
      about_lines);
  add(Patched{"members-of-the-future-stay", {line_with({{"remove(now+life*1.25,'+inf')", ""}})}},
      about_lines);
  add(AsksAtFirstPush{"first-change-counts"}, about_lines);
  add(RemembersOwnRelease{"own-release-is-remembered"}, about_lines);
  add(StaysCrippled{"crippled-head-stays"}, about_lines);
  add(KeepsDeafGates{"deaf-gate-is-kept"}, about_lines);
  add(NeverMovesBack{"nobody-moves-back"}, about_lines);
  add(ArmsWithoutReading{"no-read-when-arming"}, about_lines);
  add(ArmsFirstConnection{"no-rearm-after-reconnect"}, about_lines);
  add(RepliesCountLast{"replies-count-behind-changes"}, about_lines);
  add(FlagOfOtherLife{"flag-stays", 0}, with_lines);
  add(FlagOfOtherLife{"flag-ends-early", 20}, about_lines);
  add(LeavesByDigest{"leave-by-digest-only"}, about_lines);
  add(LooksRarely{"members-only-listen"}, with_lines);
  add(ReleasesLost{"lost-lease-is-released"}, with_lock_delay);
  add(HoldsDuringDelay{"holder-uses-the-delay"}, with_lock_delay);
  add(KeepsTooShort{"at-least-is-ignored", 0}, with_at_least);
  add(KeepsTooShort{"at-least-is-halved", 50}, with_at_least);
  add(WrappingMutant<Acquisition, NothingIsGivenBack>{"denied-attempt-keeps-its-seat"}, with_semaphore);
  add(SeatsShareKey{"two-seats-on-one-key"}, about_seats);
  add(CountsHolders{"majority-counts-holders"}, with_two_seats);
  add(WrappingMutant<core::LeaseCheck, OneNodeSuffices>{"one-node-makes-a-lease-valid"}, with_checks);
  add(IgnoresId{"check-ignores-the-id"}, with_checks);
  add(Patched{"reader-beside-an-assembling-writer",
              {patched(core::shared_grant_script, {{"not opens and not joins then",
                                                    "not opens and not joins and ttl<ARGV[2]*0.9 then"}})}},
      with_readers);
  add(Patched{"opening-keeps-strangers",
              {patched(core::shared_grant_script, {{delete_strangers, ""}}),
               patched(core::shared_put_back_script, {{delete_strangers, ""}})}},
      with_readers);
  add(Patched{"opening-without-raise",
              {patched(core::shared_grant_script, {{"if opens or counter==0 then", "if counter==0 then"}})}},
      with_readers);
  add(Patched{"readers-lock-is-not-prolonged",
              {patched(core::shared_grant_script, {{"math.max(ARGV[2],ttl)", "(ttl>0 and ttl or ARGV[2])"}}),
               patched(core::shared_extend_script, {{"{own,KEYS[3],KEYS[1]}", "{own,KEYS[3]}"}})}},
      with_readers);
  add(Patched{"extension-of-a-reader-without-the-lock",
              {patched(core::shared_extend_script,
                       {{"if value~='redlock:shared' then return value=='' and 0 or -1 end ", ""}})}},
      with_readers);
  add(Patched{"last-reader-frees-for-all",
              {patched(core::shared_release_script,
                       {{"if left==-1 or left>=mine then return released end ", ""},
                        {"if longest==-2 then", "if true then"}})}},
      with_readers);
  add(Patched{"lock-outlives-its-readers",
              {patched(core::shared_release_script,
                       {{"for _,key in ipairs(KEYS) do call('PEXPIRE',key,math.max(longest,1)) end ", ""}})}},
      with_readers);
  add(Patched{"readers-keep-the-writers-ttl",
              {patched(core::shared_grant_script,
                       {{"joins and math.max(ARGV[2],ttl) or ARGV[2]", "math.max(ARGV[2],ttl)"}})}},
      with_readers);
  add(Patched{"late-reader-frees-the-writer",
              {patched(core::shared_release_script,
                       {{"if call('GETRANGE',KEYS[1],0,14)~='redlock:shared' then return 0 end ", ""}})}},
      with_readers);
  add(Patched{"first-reader-waits-for-the-others",
              {patched(readable_script,
                       {{"redis.call('GETRANGE',KEYS[1],0,14)=='redlock:shared'", "false"}})}},
      about_lines_with_readers);
  add(KeepsWriter{"downgrade-keeps-the-writer"}, with_readers);
  add(ReaderMutant<HalfSuffices>{"half-suffices-for-readers"}, with_readers);
  add(ReaderMutant<UnfoldedGrantsCount>{"unfolded-grants-count-for-readers"}, with_readers);
  add(Patched{"unchecked-confirm-for-readers", {confirming_readers_unchecked()}}, with_readers);
  add(ReadersDoNotWait{"no-quarantine-for-readers"}, with_readers_and_guard);
  add(ReadersRepairCountsAtOnce{"repair-counts-at-once-for-readers"}, with_readers);
  add(KeepsSome{"some-of-several-are-kept"}, with_joint_calls);
  add(LooksAtFirstDeadline{"first-deadline-counts-for-all"}, with_joint_calls);
  add(RequestsByResource{"requests-by-resource"}, with_requests);
  add(HearsNoRequests{"requests-are-not-heard"}, with_requests_alone);
  add(BreaksBlindly{"break-without-compare"}, with_breaks);
  add(BelievesFirstNode{"one-nodes-word-counts"}, with_watches);
  add(ArmsForOneChange{"no-rearm-after-change"}, with_watches_alone);
  add(IgnoresCounters{"counters-are-not-watched"}, with_watches_alone);
  add(JoinsInAnyOrder{"lines-in-any-order"}, about_joint_lines);
  add(OvertakesWithSeveral{"several-overtake-the-line"}, about_joint_lines);
  add(Patched{"keys-of-lines-stay", {line_with({{"call('PEXPIRE',order,ARGV[3]*2)", ""}})}}, with_lines);
  return all;
}

}  // namespace

std::span<const std::unique_ptr<Mutant>> mutants() {
  static const std::vector<std::unique_ptr<Mutant>> all = make();
  return all;
}

const Mutant* mutant_named(std::string_view name) {
  static const Patched rare{"put-back-opens-without-raise",
                            {patched(core::shared_put_back_script, {{"opens and counter+1 or ", ""}})}};
  if (name == rare.name()) return &rare;
  const auto all = mutants();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const auto& mutant) { return mutant->name() == name; });
  return found == all.end() ? nullptr : found->get();
}

}  // namespace redlock::simulation
