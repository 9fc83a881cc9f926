#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/lease/extension.hpp"
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

class AdoptWithoutSwap final : public NamedMutant {
 public:
  using NamedMutant::NamedMutant;
  void before_attempt(Claim& claim, const std::string&) const override {
    if (!claim.adopted_owner.empty()) claim.owner = claim.adopted_owner;
  }
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
        {&core::confirm_script, confirm_by_owner}};
  }
  static constexpr std::string_view confirm_by_owner =
      "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end redis.call('SET',KEYS[2],ARGV[3]) return 1";
};

/// The script of the restart guard. It is not loaded, so it has no digest.
constexpr core::Script marking{core::mark_script, {}};
/// Every look at a quarantine restarts it.
constexpr std::string_view marking_that_starts_over =
    "local call=redis.call "
    "local time=call('TIME') "
    "if ARGV[2]~='' and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],ARGV[3],'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "local whole=call('GET',KEYS[2]) "
    "if whole then call('PEXPIRE',KEYS[2],whole) end "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),time[1]*1000000+time[2],0}";
/// New nodes vote as soon as they have a name, as if no mark could be late: a node that was marked without a name does
/// not wait, and neither the time of the look nor the marker that it found matter.
constexpr std::string_view marking_late =
    "local call=redis.call "
    "local time=call('TIME') "
    "local text=call('GETRANGE',KEYS[1],0,511) "
    "if ARGV[2]~='' and (text==ARGV[1] or text=='' or string.find(text,'=none ',1,true)) then "
    "if ARGV[3]=='-1' or string.find(ARGV[2],'=none ',1,true) then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),time[1]*1000000+time[2],0}";

/// A node that has a name never gets another one.
constexpr std::string_view marking_that_keeps_names =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "local text=call('GETRANGE',KEYS[1],0,511) "
    "local function name(marker) return string.match(marker,'deployment=(%x+) ') end "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and text==ARGV[1] "
    "and not (name(text) and name(text)~=name(ARGV[2])) then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),now,0}";

/// Both limits are raised at once.
constexpr std::string_view marking_in_one_phase =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],(string.gsub(ARGV[2],'max_ttl=%d+ ceiling=(%d+)','max_ttl=%1'))) end "
    "local uptime=string.match(call('INFO','server'),'uptime_in_seconds:(%d+)') "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),now,tonumber(uptime or 0)}";

/// No quarantine is longer than the least `max_ttl` option of the clients in a raise, plus its drift.
constexpr std::string_view marking_by_own_option =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',math.min(ARGV[3],2152)) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "local uptime=string.match(call('INFO','server'),'uptime_in_seconds:(%d+)') "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),now,tonumber(uptime or 0)}";

/// What is no marker counts as missing.
constexpr std::string_view marking_over_anything =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "local function marker() local text=call('GETRANGE',KEYS[1],0,511) "
    "if string.find(text,'redlock 1 deployment=',1,true) then return text end return '' end "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and marker()==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "local uptime=string.match(call('INFO','server'),'uptime_in_seconds:(%d+)') "
    "return {marker(),call('PTTL',KEYS[2]),now,tonumber(uptime or 0)}";

/// Servers report that they have been running for an hour longer.
constexpr std::string_view marking_with_false_uptime =
    "local call=redis.call "
    "local time=call('TIME') "
    "local now=time[1]*1000000+time[2] "
    "local age=now-ARGV[4] "
    "if ARGV[2]~='' and age>=0 and age<=1000000 and call('GETRANGE',KEYS[1],0,511)==ARGV[1] then "
    "if ARGV[3]=='-1' then call('DEL',KEYS[2]) "
    "elseif ARGV[3]~='0' then call('SET',KEYS[2],1,'PX',ARGV[3]) end "
    "call('SET',KEYS[1],ARGV[2]) end "
    "return {call('GETRANGE',KEYS[1],0,511),call('PTTL',KEYS[2]),now,3600}";

std::vector<std::unique_ptr<Mutant>> make() {
  std::vector<std::unique_ptr<Mutant>> all;
  const auto add = [&all](auto mutant) {
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
  add(IgnoresRunId{"marker-without-run-id"});
  add(EndsQuarantineEarly{"quarantine-ends-early"});
  add(WrappingMutant<Acquisition, TakesAnyNodesMarker>{"any-nodes-marker-counts"});
  add(HoldersDoNotLook{"holders-do-not-look"});
  add(LooksOnce{"nobody-looks-again"});
  add(IgnoresPrefix{"one-marker-for-all-teams"});
  add(Patched{"quarantine-starts-over", {{&marking, marking_that_starts_over}}});
  add(Patched{"late-marks-count", {{&marking, marking_late}}});
  add(Patched{"names-stay", {{&marking, marking_that_keeps_names}}});
  add(Patched{"raise-in-one-phase", {{&marking, marking_in_one_phase}}});
  add(Patched{"quarantine-by-own-option", {{&marking, marking_by_own_option}}});
  add(Patched{"uptime-is-exaggerated", {{&marking, marking_with_false_uptime}}});
  add(Patched{"foreign-texts-are-replaced", {{&marking, marking_over_anything}}});
  add(WrappingMutant<Acquisition, LostGrantsCount>{"lost-grants-count"});
  add(WrappingMutant<Extension, LostGrantsCount>{"lost-extensions-count"});
  return all;
}

}  // namespace

std::span<const std::unique_ptr<Mutant>> mutants() {
  static const std::vector<std::unique_ptr<Mutant>> all = make();
  return all;
}

const Mutant* mutant_named(std::string_view name) {
  const auto all = mutants();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const auto& mutant) { return mutant->name() == name; });
  return found == all.end() ? nullptr : found->get();
}

}  // namespace redlock::simulation
