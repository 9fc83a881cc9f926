#include "simulation/scenario/scenario.hpp"

#include <algorithm>
#include <utility>

#include "simulation/server/lua/scripts.hpp"
#include "simulation/timeline/timeline.hpp"
#include "simulation/timeline/words.hpp"

namespace redlock::simulation {
namespace {

/// Story time becomes the world's.
Schedule with_prologue(Schedule schedule) {
  for (Visit& visit : schedule.visits) visit.at += prologue;
  for (Fault& fault : schedule.faults) fault.at += prologue;
  schedule.heals += prologue;
  schedule.connects_at_once = true;
  return schedule;
}

/// And back. What began in the prologue begins with the story.
std::vector<Event> without_prologue(const std::vector<Event>& all) {
  std::vector<Event> events;
  for (Event event : all) {
    if (event.to < prologue || event.text == "handshake" || event.text == "welcome") continue;
    event.from = std::max<Instant>(event.from - prologue, 0);
    event.to -= prologue;
    events.push_back(std::move(event));
  }
  return events;
}

std::string in_words(const Judge::Lease& lease) {
  return client_name(lease.client) + " at " + milliseconds(lease.begun, 3) + " ms";
}

std::string in_words(const Expected::Grant& grant) {
  const std::string who = grant.client == Expected::whoever ? "somebody" : client_name(grant.client);
  return who + " between " + milliseconds(grant.from, 3) + " and " + milliseconds(grant.to, 3) + " ms";
}

bool matches(const Expected::Grant& grant, const Judge::Lease& lease) {
  return (grant.client == Expected::whoever || grant.client == lease.client) && lease.begun >= grant.from &&
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

Retelling retell(const Scenario& scenario, const Mutant* mutant) {
  const Schedule schedule = with_prologue(scenario.schedule);
  Interpreter interpreter;
  History history{true};
  Outcome outcome = World{schedule, interpreter, history, mutant}.run();
  for (Judge::Lease& lease : outcome.leases) lease.begun -= prologue;
  return {std::move(outcome), without_prologue(history.events())};
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
  Retelling told = retell(scenario);
  std::erase_if(told.events, [](const Event& event) { return event.text.starts_with("acquired"); });  // holds
  const std::string wrong = differences(scenario.expected, told.outcome);
  return svg_timeline({.title = std::string{scenario.title},
                       .verdict = wrong.empty() ? std::string{scenario.verdict} : "Not as expected: " + wrong,
                       .clients = scenario.schedule.clients,
                       .nodes = scenario.schedule.nodes,
                       .events = told.events,
                       .window = std::pair{Instant{0}, scenario.shown_until}});
}

}  // namespace redlock::simulation
