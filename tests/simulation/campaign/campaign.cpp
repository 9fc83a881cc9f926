#include "simulation/campaign/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "simulation/timeline/timeline.hpp"

namespace redlock::simulation {

namespace {

Outcome run_one(const Schedule& schedule, Interpreter& interpreter, const Mutant* mutant) {
  History unrecorded;
  return World{schedule, interpreter, unrecorded, mutant}.run();
}

}  // namespace

CampaignResult run(const Campaign& campaign) {
  CampaignResult result;
  std::mutex mutex;  // guards result
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> end{campaign.schedules};
  const auto work = [&] {
    Interpreter interpreter;
    Figures figures;
    for (std::uint64_t index = next++; index < end; index = next++) {
      const std::uint64_t seed = campaign.first_seed + index;
      const Schedule schedule = draw_schedule(seed, campaign.profile_of(seed));
      if (campaign.mutant && !campaign.mutant->matters_in(schedule)) continue;
      Outcome outcome = run_one(schedule, interpreter, campaign.mutant);
      figures.add(outcome.figures);
      if (!outcome.violation) continue;
      const std::lock_guard lock{mutex};
      if (result.failed_seed && *result.failed_seed <= seed) continue;
      result.failed_seed = seed;
      result.violation = std::move(outcome.violation);
      end = index;  // earlier schedules still run, as one of them may fail too
    }
    const std::lock_guard lock{mutex};
    result.figures.add(figures);
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned job = 0; job < campaign.jobs; ++job) workers.emplace_back(work);
  }
  return result;
}

std::uint64_t digest_of_histories(const Campaign& campaign) {
  std::uint64_t digest = 14695981039346656037U;  // 64-bit FNV-1a
  Interpreter interpreter;
  for (std::uint64_t index = 0; index < campaign.schedules; ++index) {
    const std::uint64_t seed = campaign.first_seed + index;
    const Schedule schedule = draw_schedule(seed, campaign.profile_of(seed));
    History history{true};
    static_cast<void>(World{schedule, interpreter, history, campaign.mutant}.run());
    const std::string text = text_timeline({.title = {},
                                            .verdict = {},
                                            .clients = schedule.clients,
                                            .nodes = schedule.nodes,
                                            .events = history.events()});
    for (const char byte : text) digest = (digest ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  }
  return digest;
}

Schedule shrink(Schedule schedule, Rule broken, const Mutant* mutant) {
  Interpreter interpreter;
  const auto breaks = [&](const Schedule& candidate) {
    const Outcome outcome = run_one(candidate, interpreter, mutant);
    return outcome.violation && outcome.violation->rule == broken;
  };
  // Removes large groups first, then single faults.
  for (std::size_t size = schedule.faults.size(); size > 0; size /= 2)
    for (std::size_t at = 0; at < schedule.faults.size();) {
      Schedule smaller = schedule;
      const auto from = smaller.faults.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = std::min(size, smaller.faults.size() - at);
      smaller.faults.erase(from, from + static_cast<std::ptrdiff_t>(count));
      if (breaks(smaller))
        schedule = std::move(smaller);
      else
        at += size;
    }
  return schedule;
}

}  // namespace redlock::simulation
