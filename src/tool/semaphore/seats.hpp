// The seats of a semaphore, for the commands that show locks.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/node_report.hpp"
#include "redlock/redlock.hpp"
#include "tool/lock_state.hpp"

namespace redlock::tool {

/// `gpu#3`: a seat of the semaphore `gpu`, or another lock that has such a name.
struct SeatName {
  std::string semaphore;
  std::size_t seat = 0;
};
[[nodiscard]] std::optional<SeatName> seat_in(std::string_view resource);

/// `gpu#0`, `gpu#1` and so on.
[[nodiscard]] std::vector<std::string> names_of_seats(const std::string& semaphore, std::size_t seats);

/// The resource, and of a seat also its semaphore: `gpu#3 (a seat of the semaphore gpu)`.
[[nodiscard]] std::string name_with_semaphore(const std::string& resource, const LockState&);
/// `exclusive`, `leader`, `seat` or `shared`. `owner`: the owner value; empty if there is no owner, or more than one.
[[nodiscard]] std::string_view kind_of(const std::string& resource, LockState::Kind,
                                       const std::string& owner);
/// Adds `kind`, and of a seat also `semaphore` and `seat`.
void add_kind(nlohmann::json& to, const std::string& resource, LockState::Kind, const std::string& owner);

/// What is to say of a lock in one object: `resource`, `state`, the kind, and who holds it, with the token.
[[nodiscard]] nlohmann::json lock_json(const std::string& resource, const LockState&,
                                       std::span<const NodeReport>);

/// Who stands in line for any seat of the semaphore. Blocks as `LockClient::inspect` does.
[[nodiscard]] std::vector<InLine> line_of_semaphore(Redlock&, const std::string& semaphore);
/// Who stands in line for the lock; for a seat, also who stands in line for any seat of its semaphore. `reports`: about the lock.
[[nodiscard]] std::vector<InLine> line_for(Redlock&, const std::string& resource,
                                           std::span<const NodeReport> reports);

/// The reports about each of the locks. Asks about several at the same time, and blocks until all are answered, as
/// `LockClient::inspect` does.
[[nodiscard]] std::vector<std::vector<NodeReport>> inspect_all(Redlock&,
                                                               const std::vector<std::string>& resources);

/// How many of the first 16 seats are taken, as far as a majority says so. The semaphore may have more seats. Blocks as
/// `inspect_all` does.
[[nodiscard]] std::size_t taken_among_first(Redlock&, const std::string& semaphore);
/// A sentence about the semaphore with the name of a free lock, after a space; nothing if none of its seats is taken.
[[nodiscard]] std::string describe_seats(const std::string& semaphore, std::size_t seats_taken);

}  // namespace redlock::tool
