#include "redlock/lock_result.hpp"

#include <algorithm>

namespace redlock {
inline namespace v1 {

Error LockResult::error() const { return Error{code_, details_, nodes_}; }

void LockResult::check() const {
  if (code_) throw error();
}

std::string LockResult::message() const { return code_ ? error().what() : std::string{}; }

std::optional<Holder> LockResult::holder() const {
  std::size_t reported = 0;
  std::optional<Holder> most;
  std::ptrdiff_t most_reports = 0;
  for (const NodeReport& report : nodes_) {
    if (!report.owner) continue;
    ++reported;
    const auto has_this_owner = [&](const NodeReport& other) { return other.owner == report.owner; };
    const auto reports = std::count_if(nodes_.begin(), nodes_.end(), has_this_owner);
    if (reports > most_reports) most = Holder{*report.owner, std::nullopt};
    most_reports = std::max(most_reports, reports);
  }
  if (!most || 2 * static_cast<std::size_t>(most_reports) <= reported) return std::nullopt;
  for (const NodeReport& report : nodes_)
    if (report.owner == most->owner_value && report.ttl)
      most->ttl = std::max<std::chrono::nanoseconds>(most->ttl.value_or(*report.ttl), *report.ttl);
  return most;
}

}  // namespace v1
}  // namespace redlock
