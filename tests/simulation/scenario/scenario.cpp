#include "simulation/scenario/scenario.hpp"

#include <algorithm>
#include <utility>

#include "simulation/server/lua/scripts.hpp"
#include "simulation/timeline/timeline.hpp"
#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

/// Converts times of the scenario to times of the world.
Schedule with_warm_up(Schedule schedule) {
  for (ScheduledCall& call : schedule.calls) call.at += warm_up;
  for (Fault& fault : schedule.faults) fault.at += warm_up;
  schedule.heals += warm_up;
  schedule.connects_at_once = true;
  return schedule;
}

/// Converts times of the world to times of the scenario. An event that began during the warm-up begins with the scenario.
std::vector<Event> without_warm_up(const std::vector<Event>& all) {
  std::vector<Event> events;
  for (Event event : all) {
    if (event.to < warm_up || event.text == "handshake" || event.text == "welcome") continue;
    event.from = std::max<Instant>(event.from - warm_up, 0);
    event.to -= warm_up;
    events.push_back(std::move(event));
  }
  return events;
}

std::string in_words(const Judge::Lease& lease) {
  return client_name(lease.client) + " at " + milliseconds(lease.begun, 3) + " ms";
}

std::string in_words(const Expected::Grant& grant) {
  const std::string who = grant.client == Expected::anybody ? "somebody" : client_name(grant.client);
  return who + " between " + milliseconds(grant.from, 3) + " and " + milliseconds(grant.to, 3) + " ms";
}

bool matches(const Expected::Grant& grant, const Judge::Lease& lease) {
  return (grant.client == Expected::anybody || grant.client == lease.client) && lease.begun >= grant.from &&
         lease.begun <= grant.to;
}

std::string wrong_grants(const std::vector<Expected::Grant>& expected,
                         const std::vector<Judge::Lease>& leases) {
  std::string text;
  for (std::size_t at = 0; at < std::max(expected.size(), leases.size()); ++at) {
    const bool both = at < expected.size() && at < leases.size();
    if (both && matches(expected[at], leases[at])) continue;
    text += "lock " + std::to_string(at + 1) + ": " + (at < leases.size() ? in_words(leases[at]) : "nobody") +
            ", expected: " + (at < expected.size() ? in_words(expected[at]) : "nobody") + "\n";
  }
  return text;
}

std::string wrong_tokens(const std::vector<Judge::Lease>& leases) {
  std::string text;
  for (std::size_t at = 1; at < leases.size(); ++at)
    if (leases[at].token <= leases[at - 1].token)
      text += "token " + std::to_string(leases[at].token) + " after " + std::to_string(leases[at - 1].token) +
              "\n";
  return text;
}

std::string wrong_count(std::string_view what, std::uint64_t count, std::uint64_t expected) {
  if (count == expected) return {};
  return std::string{what} + ": " + std::to_string(count) + ", expected: " + std::to_string(expected) + "\n";
}

}  // namespace

ScenarioRun run_scenario(const Scenario& scenario, const Mutant* mutant) {
  const Schedule schedule = with_warm_up(scenario.schedule);
  Interpreter interpreter;
  History history{true};
  Outcome outcome = World{schedule, interpreter, history, mutant}.run();
  for (Judge::Lease& lease : outcome.leases) lease.begun -= warm_up;
  return {std::move(outcome), without_warm_up(history.events())};
}

std::string differences(const Expected& expected, const Outcome& outcome) {
  const Figures& figures = outcome.figures;
  std::string text;
  if (outcome.violation)
    text += std::string{name_of(outcome.violation->rule)} + ": " + outcome.violation->text + "\n";
  return text + wrong_grants(expected.grants, outcome.leases) + wrong_tokens(outcome.leases) +
         wrong_count("two holders at once", figures.overlaps, expected.overlaps) +
         wrong_count("writes refused", figures.writes_refused, expected.writes_refused) +
         wrong_count("writes lost without tokens", figures.writes_lost_unfenced, expected.writes_lost);
}

std::string picture_of(const Scenario& scenario) {
  ScenarioRun result = run_scenario(scenario);
  std::erase_if(result.events,
                [](const Event& event) { return event.text.starts_with("acquired"); });  // holds
  const std::string wrong = differences(scenario.expected, result.outcome);
  return svg_timeline({.title = std::string{scenario.title},
                       .verdict = wrong.empty() ? std::string{scenario.verdict} : "Not as expected: " + wrong,
                       .clients = scenario.schedule.clients,
                       .nodes = scenario.schedule.nodes,
                       .events = result.events,
                       .window = std::pair{Instant{0}, scenario.shown_until}});
}

}  // namespace redlock::simulation
