#include "tool/semaphore/seats.hpp"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "redlock/core/wire/keys.hpp"
#include "tool/locks/holder_text.hpp"

namespace redlock::tool {

std::optional<SeatName> seat_in(std::string_view resource) {
  const auto found = core::seat_of(resource);
  if (!found) return std::nullopt;
  return SeatName{std::string{found->line_key.substr(0, found->line_key.size() - 1)}, found->seat};
}

std::vector<std::string> names_of_seats(const std::string& semaphore, std::size_t seats) {
  std::vector<std::string> names;
  for (std::size_t seat = 0; seat < seats; ++seat)
    names.push_back(core::seat_key(core::line_of_seats(semaphore), seat));
  return names;
}

std::string name_with_semaphore(const std::string& resource, const LockState& state) {
  if (kind_of(resource, state.kind, state.owner) != "seat") return resource;
  return resource + " (a seat of the semaphore " + seat_in(resource)->semaphore + ")";
}

std::string_view kind_of(const std::string& resource, LockState::Kind state, const std::string& owner) {
  if (state == LockState::Kind::shared) return "shared";
  if (Holder{owner}.is_leader) return "leader";
  return seat_in(resource) ? "seat" : "exclusive";
}

void add_kind(nlohmann::json& to, const std::string& resource, LockState::Kind state,
              const std::string& owner) {
  to["kind"] = kind_of(resource, state, owner);
  if (to["kind"] != "seat") return;
  const auto seat = seat_in(resource);
  to["semaphore"] = seat->semaphore;
  to["seat"] = seat->seat;
}

nlohmann::json lock_json(const std::string& resource, const LockState& state,
                         std::span<const NodeReport> reports) {
  nlohmann::json json{{"resource", resource}, {"state", to_string(state.kind)}};
  add_kind(json, resource, state.kind, state.owner);
  if (state.kind == LockState::Kind::shared) add_readers(json, reports);
  if (state.kind != LockState::Kind::held) return json;
  add_holder(json, state.owner);
  if (const auto token = token_of(reports, state.owner)) json["token"] = token->value();
  return json;
}

std::vector<InLine> line_of_semaphore(Redlock& locks, const std::string& semaphore) {
  return line_in(locks.inspect(core::line_of_seats(semaphore)));
}

std::vector<InLine> line_for(Redlock& locks, const std::string& resource,
                             std::span<const NodeReport> reports) {
  std::vector<InLine> line = line_in(reports);
  const auto seat = seat_in(resource);
  if (!seat) return line;
  const std::vector<InLine> for_any = line_of_semaphore(locks, seat->semaphore);
  line.insert(line.end(), for_any.begin(), for_any.end());
  std::ranges::stable_sort(line, std::ranges::greater{}, &InLine::waited);
  return line;
}

std::vector<std::vector<NodeReport>> inspect_all(Redlock& locks, const std::vector<std::string>& resources) {
  constexpr std::size_t at_once = 32;
  std::vector<std::vector<NodeReport>> all;
  while (all.size() < resources.size()) {
    std::vector<std::future<std::vector<NodeReport>>> some;
    for (std::size_t next = all.size(); next < resources.size() && some.size() < at_once; ++next)
      some.push_back(std::async(std::launch::async, [&, next] { return locks.inspect(resources[next]); }));
    for (auto& each : some) all.push_back(each.get());
  }
  return all;
}

std::size_t taken_among_first(Redlock& locks, const std::string& semaphore) {
  constexpr std::size_t first = 16;
  const auto is_taken = [](const std::vector<NodeReport>& reports) {
    return has_life(lock_state_of(reports));
  };
  try {
    const auto all = inspect_all(locks, names_of_seats(semaphore, first));
    return static_cast<std::size_t>(std::ranges::count_if(all, is_taken));
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    return 0;  // the name is too long for a semaphore
  }
}

std::string describe_seats(const std::string& semaphore, std::size_t seats_taken) {
  if (seats_taken == 0) return {};
  const bool is_one = seats_taken == 1;
  return " At least " + std::to_string(seats_taken) + (is_one ? " seat" : " seats") + " of the semaphore " +
         semaphore + (is_one ? " is" : " are") + " taken: see redlock status --seats N " + semaphore + ".";
}

}  // namespace redlock::tool
