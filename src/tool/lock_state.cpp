#include "tool/lock_state.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {

std::string_view to_string(LockState::Kind kind) noexcept {
  switch (kind) {
    case LockState::Kind::held:
      return "held";
    case LockState::Kind::shared:
      return "shared";
    case LockState::Kind::kept:
      return "kept";
    case LockState::Kind::free:
      return "free";
    case LockState::Kind::unknown:
      break;
  }
  return "unknown";
}

bool has_life(const LockState& state) noexcept {
  return state.kind != LockState::Kind::free && state.kind != LockState::Kind::unknown;
}

bool has_voted(const NodeReport& report) {
  return report.status == NodeStatus::held || report.status == NodeStatus::free;
}

std::optional<FencingToken> token_of(std::span<const NodeReport> nodes, const std::string& owner) {
  std::vector<std::optional<FencingToken>> counters;
  for (const NodeReport& report : nodes)
    if (report.owner == owner) counters.push_back(report.counter);
  if (counters.empty()) return std::nullopt;
  std::ranges::sort(counters);
  const auto middle = counters[counters.size() / 2];  // only this one can be more than half of them
  const bool is_common = 2 * static_cast<std::size_t>(std::ranges::count(counters, middle)) > counters.size();
  return middle && is_common ? middle : counters.back();
}

std::size_t misconfigured(std::span<const NodeReport> nodes) {
  const auto is_wrong = [](const NodeReport& report) { return is_misconfiguration(report.status); };
  return static_cast<std::size_t>(std::ranges::count_if(nodes, is_wrong));
}

namespace {

/// Of a lock of which a majority of the nodes has this value.
LockState state_with(const std::string& value, std::chrono::nanoseconds ttl) {
  const Holder holder{value};
  if (holder.is_kept()) return {LockState::Kind::kept, {}, ttl};
  if (holder.is_shared()) return {LockState::Kind::shared, {}, ttl};
  return {LockState::Kind::held, value, ttl};
}

}  // namespace

LockState lock_state_of(std::span<const NodeReport> nodes) {
  const std::size_t majority = core::quorum(nodes.size());
  std::map<std::string, std::vector<std::chrono::nanoseconds>> owners;
  for (const NodeReport& report : nodes)
    if (report.owner) owners[*report.owner].push_back(report.ttl.value_or(std::chrono::nanoseconds::max()));
  const auto silent = static_cast<std::size_t>(std::ranges::count_if(nodes, std::not_fn(has_voted)));
  bool can_be_held = silent >= majority;
  for (auto& [owner, ttls] : owners) {
    std::ranges::sort(ttls, std::greater{});
    if (ttls.size() >= majority) return state_with(owner, ttls[majority - 1]);
    can_be_held |= ttls.size() + silent >= majority;
  }
  return {can_be_held ? LockState::Kind::unknown : LockState::Kind::free, {}, {}};
}

std::optional<std::chrono::nanoseconds> majority_votes_in(std::span<const NodeReport> nodes) {
  std::vector<core::Span> times;
  for (const NodeReport& report : nodes)
    if (report.votes_in || report.status == NodeStatus::granted || has_voted(report))
      times.push_back(report.votes_in.value_or(std::chrono::nanoseconds::zero()));
  return core::smallest(times, core::quorum(nodes.size()));
}

namespace {

std::string text_of(const Holder& holder) {
  std::ostringstream text;
  text << holder;
  return text.str();
}

/// If too few nodes vote, and enough of them have said when they vote again: a sentence about that, after a space.
std::string describe_wait(std::span<const NodeReport> nodes) {
  const std::optional<std::chrono::nanoseconds> wait = majority_votes_in(nodes);
  if (!wait || *wait == wait->zero()) return {};
  return " No lock can be had for " + readable(std::chrono::ceil<std::chrono::milliseconds>(*wait)) + ".";
}

std::string describe_life(const LockState& state) {
  return state.ttl == std::chrono::nanoseconds::max() ? " and never expires"
                                                      : ", for " + readable(state.ttl) + " unless extended";
}

std::string describe_holder(const LockState& state, const std::string& resource,
                            std::span<const NodeReport> nodes) {
  switch (state.kind) {
    case LockState::Kind::held:
      return resource + " is held by " + text_of(Holder{state.owner}) + describe_life(state) + ".";
    case LockState::Kind::shared:
      return resource + " is held by " + readers_text(nodes) + describe_life(state) + ".";
    case LockState::Kind::kept:
      return "Nobody holds " + resource + ": it is " + describe_kept(state) + ".";
    case LockState::Kind::free:
      return "Nobody holds " + resource + ".";
    case LockState::Kind::unknown:
      break;
  }
  const auto voted = std::ranges::count_if(nodes, has_voted);
  return "Cannot tell who holds " + resource + ": only " + std::to_string(voted) + " of " +
         std::to_string(nodes.size()) + " nodes voted.";
}

}  // namespace

std::string describe_kept(const LockState& state) {
  const bool ends = state.ttl != std::chrono::nanoseconds::max();
  return "kept by at_least, " + (ends ? "free in " + readable(state.ttl) : std::string{"and never free"});
}

std::string describe(const LockState& state, const std::string& resource, std::span<const NodeReport> nodes) {
  return describe_holder(state, resource, nodes) + describe_wait(nodes);
}

}  // namespace redlock::tool
