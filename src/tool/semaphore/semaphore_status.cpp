#include "tool/semaphore/semaphore_status.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/line_text.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/semaphore/seats.hpp"
#include "tool/table.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using core::printable;
using SeatTable = Table<5>;

struct Seat {
  std::string resource;
  std::vector<NodeReport> reports;
  LockState state;
};

std::vector<Seat> seats_in(Redlock& locks, const StatusArguments& arguments) {
  const std::vector<std::string> names = names_of_seats(arguments.resource, arguments.seats);
  std::vector<std::vector<NodeReport>> reports = inspect_all(locks, names);
  std::vector<Seat> seats;
  for (std::size_t seat = 0; seat < names.size(); ++seat) {
    const LockState state = lock_state_of(reports[seat]);
    seats.push_back({names[seat], std::move(reports[seat]), state});
  }
  return seats;
}

bool is_taken(const Seat& seat) { return has_life(seat.state); }
bool is_unknown(const Seat& seat) { return seat.state.kind == LockState::Kind::unknown; }

std::string holder_of_seat(const Seat& seat) {
  if (seat.state.kind == LockState::Kind::held) return holder_text(seat.state.owner);
  if (seat.state.kind == LockState::Kind::shared) return number_of_readers(reader_count_in(seat.reports));
  return seat.state.kind == LockState::Kind::kept ? "nobody, kept by at_least" : "unknown";
}

SeatTable::Row row_of(const Seat& seat) {
  const LockState& state = seat.state;
  const bool is_held = state.kind == LockState::Kind::held;
  const auto since = is_held ? Holder{state.owner}.since : std::nullopt;
  const auto token = is_held ? token_of(seat.reports, state.owner) : std::nullopt;
  const bool ends = is_taken(seat) && state.ttl != std::chrono::nanoseconds::max();
  return {printable(seat.resource), holder_of_seat(seat), since ? utc_text(*since) : "-",
          ends ? readable(state.ttl) : "-", token ? std::to_string(token->value()) : "-"};
}

nlohmann::json json_of(const Seat& seat) {
  nlohmann::json json = lock_json(seat.resource, seat.state, seat.reports);
  if (is_taken(seat) && seat.state.ttl != std::chrono::nanoseconds::max())
    json["ttl_ms"] = milliseconds_of(seat.state.ttl);
  return json;
}

void print(const StatusArguments& arguments, const std::vector<Seat>& seats,
           const std::vector<InLine>& line) {
  std::vector<SeatTable::Row> rows{{"SEAT", "HOLDER", "SINCE (UTC)", "TTL", "TOKEN"}};
  for (const Seat& seat : seats)
    if (seat.state.kind != LockState::Kind::free) rows.push_back(row_of(seat));
  if (rows.size() > 1) SeatTable{}.print(rows);
  const auto number = std::ranges::count_if(seats, is_taken);
  const auto unknown = std::ranges::count_if(seats, is_unknown);
  std::cout << number << " of " << arguments.seats << " seats of "
            << printable(arguments.resource, std::string::npos) << (number == 1 ? " is" : " are") << " taken";
  if (unknown > 0) std::cout << ", and of " << unknown << " too few nodes answered to tell";
  std::cout << ".\n" << line_table(line);
}

void print_json(const StatusArguments& arguments, const std::vector<Seat>& seats,
                const std::vector<InLine>& line) {
  nlohmann::json all{{"resource", arguments.resource},
                     {"kind", "semaphore"},
                     {"seats", arguments.seats},
                     {"taken", std::ranges::count_if(seats, is_taken)},
                     {"line", line_json(line)}};
  all["holders"] = nlohmann::json::array();
  for (const Seat& seat : seats)
    if (seat.state.kind != LockState::Kind::free) all["holders"].push_back(json_of(seat));
  std::cout << json_text(all, 2) << '\n';
}

}  // namespace

int semaphore_status(const StatusArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<Seat> seats = seats_in(locks, arguments);
  const std::vector<InLine> line = line_of_semaphore(locks, arguments.resource);
  if (arguments.json)
    print_json(arguments, seats, line);
  else
    print(arguments, seats, line);
  const auto unknown = std::ranges::find_if(seats, is_unknown);
  if (unknown == seats.end()) return success;
  return without_majority(misconfigured(unknown->reports), unknown->reports.size());
}

}  // namespace redlock::tool
