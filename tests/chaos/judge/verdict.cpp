#include "chaos/judge/verdict.hpp"

#include "chaos/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace redlock::chaos {
namespace {

using simulation::Judge;
using simulation::Rule;
using simulation::Schedule;

using LeaseId = std::tuple<int, std::uint64_t, std::uint64_t>;  // client, its life, number
LeaseId id_of(const Entry& entry) { return {entry.client, entry.life, entry.number}; }

Instant number_in(const Entry& entry, std::size_t word) { return std::stoll(entry.words.at(word)); }
/// What is special about an entry `hold`.
bool is_special(const Entry& entry, std::string_view how) {
  return entry.words.size() > 3 && entry.words[3] == how;
}

Schedule schedule_of(const Case& given, int resources) {
  Schedule schedule;
  schedule.profile = given.profile;
  schedule.resources = resources;
  schedule.clients = static_cast<int>(given.logs.size());
  schedule.guarded = true;  // who has which copy is unknown
  schedule.is_about_lines = true;
  schedule.stands_in_line = true;
  return schedule;
}

/// All entries in the order in which they happened.
class Replay {
 public:
  explicit Replay(const Case& given)
      : given_{given},
        entries_{in_order(given)},
        schedule_{schedule_of(given, static_cast<int>(resources_.size()))},
        judge_{schedule_,
               {.is_valid = [this](int, Instant deadline) { return now_ < deadline; },
                .copies = [](int, std::string_view) { return 0; }}} {}

  Verdict run() {
    judge_.lines().client_began(given_.calm);
    for (const Entry& entry : entries_) {
      now_ = entry.at;
      enqueue_until(now_);
      apply(entry);
    }
    judge_end();
    verdict_.violation = judge_.violation();
    verdict_.figures = judge_.figures();
    return verdict_;
  }

 private:
  /// Also finds out what the names of resources are, and how late each holder saw its lease.
  std::vector<Entry> in_order(const Case& given) {
    std::map<LeaseId, Instant> last_sign;
    std::map<LeaseId, std::vector<Instant>> lost;
    std::vector<Entry> all;
    for (const auto& log : given.logs) all.insert(all.end(), log.begin(), log.end());
    for (const Entry& entry : all) {
      if (entry.what == Entry::What::alive || entry.what == Entry::What::end)
        last_sign[id_of(entry)] = entry.at;
      if (entry.what == Entry::What::lost) lost[id_of(entry)].push_back(entry.at);
      if (entry.what == Entry::What::hold) resources_.try_emplace(entry.words.at(0), resources_.size());
    }
    if (resources_.empty()) resources_.try_emplace("", 0);
    for (Entry& entry : all) {
      if (entry.what != Entry::What::hold) continue;
      Instant deadline = number_in(entry, 2);
      if (is_special(entry, "signs")) deadline = std::max(entry.at, last_sign[id_of(entry)]) + 1;
      if (entry.at >= deadline) ++verdict_.late;
      // The grant was earlier than both.
      entry.at = std::min(entry.at, deadline - 1);
      // A call goes on if it got a lease that ended before it could return it. So a loss of more than a ttl ago is another one's.
      for (const Instant loss : lost[id_of(entry)])
        if (loss >= deadline - longest_ttl) entry.at = std::min(entry.at, loss - 1);
      entry.words[2] = std::to_string(deadline);
    }
    std::ranges::stable_sort(all, {}, &Entry::at);
    return all;
  }

  void apply(const Entry& entry) {
    switch (entry.what) {
      case Entry::What::begin:
        begin_life(entry);
        break;
      case Entry::What::call:
        call(entry);
        break;
      case Entry::What::hold:
        hold(entry);
        break;
      case Entry::What::extend:
        if (const auto lease = leases_.find(id_of(entry)); lease != leases_.end())
          judge_.prolong(lease->second, number_in(entry, 0), all_votes_, now_);
        break;
      case Entry::What::end:
        if (const auto lease = leases_.find(id_of(entry)); lease != leases_.end())
          judge_.end(lease->second, simulation::LeaseEnd::given_back);
        break;
      case Entry::What::lost:
        ++verdict_.losses;
        if (const auto lease = leases_.find(id_of(entry)); lease != leases_.end())
          judge_.loss_reported(lease->second, now_);
        break;
      case Entry::What::fail:
        if (stands_.erase(entry.client) > 0) judge_.lines().ended({entry.client, 0});
        break;
      case Entry::What::open:
        if (given_.most_open > 0 && entry.number > given_.most_open)
          judge_.report(Rule::quiescence, now_,
                        client_name(entry.client) + " has " + std::to_string(entry.number) +
                            " open descriptors, and needs " + std::to_string(given_.most_open) + " at most");
        break;
      default:
        break;
    }
  }

  void begin_life(const Entry& entry) {
    if (stands_.erase(entry.client) > 0) judge_.lines().ended({entry.client, 0});
  }

  void call(const Entry& entry) {
    called_[id_of(entry)] = entry.at;
    if (std::ranges::find(given_.waiting, entry.client) == given_.waiting.end()) return;
    const auto resource = resources_.find(entry.words.at(0));
    if (resource == resources_.end()) return;
    judge_.lines().called({entry.client, 0}, resource->second, true, now_);
    judge_.lines().stands({entry.client, 0}, true, now_);
    stands_[entry.client] = {resource->second, now_ + time_to_stand, false};
  }

  void hold(const Entry& entry) {
    const int resource = resources_.at(entry.words.at(0));
    const auto called = called_.find(id_of(entry));
    if (stands_.erase(entry.client) > 0) {
      judge_.lines().granted({entry.client, 0}, now_);
      judge_.lines().ended({entry.client, 0});
    }
    const bool is_downgraded = is_special(entry, "downgraded");
    judge_.figures().downgrades += is_downgraded ? 1 : 0;
    leases_[id_of(entry)] =
        judge_.begin({.resource = resource,
                      .client = entry.client,
                      .owner = std::to_string(leases_.size()),
                      .token = static_cast<std::uint64_t>(number_in(entry, 1)),
                      .invoked = called == called_.end() ? entry.at : std::min(called->second, entry.at),
                      .begun = entry.at,
                      .deadline = number_in(entry, 2),
                      .shared = is_downgraded || is_special(entry, "shared"),
                      .downgraded = is_downgraded},
                     now_);
    if (entry.at >= given_.healed) served_[entry.client] = true;
  }

  /// A call has its place when it has looked at the gate twice. Nobody else knows when that was.
  void enqueue_until(Instant time) {
    for (auto& [client, place] : stands_) {
      if (place.enqueued || place.at > time) continue;
      place.enqueued = true;
      judge_.lines().enqueued(client, place.resource, 0, place.at);
    }
  }

  void judge_end() {
    now_ = given_.end;
    judge_.stores(0).lost_fenced = given_.lost_fenced;
    judge_.stores(0).lost_unfenced = given_.lost_unfenced;
    judge_.judge_stores(now_);
    if (given_.keeps_deadlines && given_.lost_unfenced > 0)
      judge_.report(Rule::exclusion, now_,
                    "a store without tokens has lost " + std::to_string(given_.lost_unfenced) +
                        " writes, although all who write keep their deadlines");
    judge_footprints();
    if (given_.healed == 0) return;
    for (int client = 0; client < static_cast<int>(given_.logs.size()); ++client)
      if (!served_.contains(client))
        judge_.report(Rule::liveness, now_,
                      client_name(client) + " has got no lock since all faults were over");
    for (const std::string& key : given_.left) judge_.report(Rule::quiescence, now_, "a key is left: " + key);
  }

  void judge_footprints() {
    for (int client = 0; client < static_cast<int>(given_.footprints.size()); ++client) {
      const Growth growth = growth_of(given_.footprints[static_cast<std::size_t>(client)]);
      if (has_leaked(growth))
        judge_.report(Rule::quiescence, now_,
                      client_name(client) + " needs more and more: " + text_of(growth));
    }
  }

  struct InLine {
    int resource;
    Instant at;  // when it certainly stands at the gate
    bool enqueued;
  };
  static constexpr Instant time_to_stand = 3 * simulation::second;
  static constexpr Instant longest_ttl = 2 * simulation::second;  // of all clients

  const Case& given_;
  std::map<std::string, int, std::less<>> resources_;
  Verdict verdict_;
  std::vector<Entry> entries_;
  Schedule schedule_;
  Instant now_ = 0;
  Judge judge_;
  const std::vector<bool> all_votes_{true};
  std::map<LeaseId, Judge::LeaseIndex> leases_;
  std::map<LeaseId, Instant> called_;
  std::map<int, InLine> stands_;
  std::map<int, bool> served_;
};

}  // namespace

Verdict judge(const Case& given) { return Replay{given}.run(); }

}  // namespace redlock::chaos
