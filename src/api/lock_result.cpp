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
  for (const NodeReport& report : nodes_) {
    if (!report.owner || report.owner->empty()) continue;
    const auto has_this_owner = [&](const NodeReport& other) { return other.owner == report.owner; };
    const auto reports = std::count_if(nodes_.begin(), nodes_.end(), has_this_owner);
    if (2 * static_cast<std::size_t>(reports) < nodes_.size()) continue;
    Holder holder{*report.owner, std::nullopt};
    for (const NodeReport& other : nodes_)
      if (has_this_owner(other) && other.ttl)
        holder.ttl = std::max<std::chrono::nanoseconds>(holder.ttl.value_or(*other.ttl), *other.ttl);
    return holder;
  }
  return std::nullopt;
}

}  // namespace v1
}  // namespace redlock
